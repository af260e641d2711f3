/** IAM policies: what is understood is judged as AWS does, and what is not is an error (row 69). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accessKeyOf, Authorizer } from '../../../src/iam/authorizer.ts';
import { readRole, resolveStatements } from '../../../src/iam/policy.ts';

const QUEUE = 'arn:aws:sqs:r:1:q';

function roleWith(...statements: readonly object[]) {
  const PolicyDocument = { Version: '2012-10-17', Statement: statements };
  return readRole('R', {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: {},
      Policies: [{ PolicyName: 'p', PolicyDocument }],
    },
  });
}

const send = { Effect: 'Allow', Action: 'sqs:SendMessage', Resource: { Ref: 'Queue' } };

function authorizerWith(...statements: readonly object[]): Authorizer {
  const authorizer = new Authorizer();
  const rights = resolveStatements(roleWith(...statements), () => QUEUE);
  authorizer.grant('KEY', { arn: 'me', rights });
  return authorizer;
}

describe('a policy', () => {
  const condition = (operator: string, key: string) => ({
    ...send,
    Condition: { [operator]: { [key]: ['A#*'] } },
  });

  for (const [what, statement] of [
    ['a wildcard action', { ...send, Action: 'sqs:*' }],
    ['every action', { ...send, Action: '*' }],
    ['a resource as text', { ...send, Resource: '*' }],
    ['NotAction', { Effect: 'Allow', NotAction: 'sqs:SendMessage', Resource: { Ref: 'Queue' } }],
    ['a principal', { ...send, Principal: '*' }],
    ['another operator', condition('StringLike', 'dynamodb:LeadingKeys')],
    ['another key', condition('ForAllValues:StringLike', 'aws:SourceIp')],
    ['no action', { ...send, Action: [] }],
  ] as const) {
    it(`is refused where it says what is not understood: ${what}`, () => {
      assert.throws(() => roleWith(statement));
    });
  }

  it('is refused where it refers to nothing, and where its role has more than policies of its own', () => {
    assert.throws(() => resolveStatements(roleWith(send), () => undefined), /does not exist/);
    const Properties = { AssumeRolePolicyDocument: {}, Policies: [], ManagedPolicyArns: ['x'] };
    assert.throws(() => readRole('R', { Type: 'AWS::IAM::Role', Properties }));
  });
});

describe('a decision', () => {
  const request = { action: 'sqs:SendMessage', resourceArn: QUEUE };

  it('allows what a statement allows, without regard to the case of the action', () => {
    const authorizer = authorizerWith(send);
    assert.deepEqual(authorizer.decide('KEY', request), { kind: 'allowed' });
    const shouted = { ...request, action: 'SQS:SENDMESSAGE' };
    assert.deepEqual(authorizer.decide('KEY', shouted), { kind: 'allowed' });
  });

  it('denies everything else, and names who, what and where', () => {
    const authorizer = authorizerWith(send);
    const other = { ...request, resourceArn: 'arn:aws:sqs:r:1:other' };
    const decision = authorizer.decide('KEY', other);
    assert.ok(decision.kind === 'denied');
    assert.match(decision.message, /me is not authorized to perform: sqs:SendMessage on .*:other/);
    const receive = { ...request, action: 'sqs:ReceiveMessage' };
    assert.equal(authorizer.decide('KEY', receive).kind, 'denied');
    assert.equal(authorizer.decide('NOBODY', request).kind, 'unknown-key');
  });

  it('lets a Deny win', () => {
    const authorizer = authorizerWith({ ...send, Effect: 'Deny' }, send);
    const decision = authorizer.decide('KEY', request);
    assert.ok(decision.kind === 'denied' && decision.message.includes('explicit deny'));
  });

  it('demands that every key has one of the prefixes, and of a request without keys nothing', () => {
    const Condition = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['A#*', 'B'] } };
    const authorizer = authorizerWith({ ...send, Condition });
    const decide = (keys: readonly string[]) =>
      authorizer.decide('KEY', { ...request, leadingKeys: () => keys }).kind;
    assert.equal(decide(['A#1', 'B']), 'allowed');
    assert.equal(decide([]), 'allowed');
    assert.equal(decide(['A#1', 'C#1']), 'denied');
    assert.equal(decide(['B#1']), 'denied');
  });

  it('reads the access key from the credential scope', () => {
    const header = 'AWS4-HMAC-SHA256 Credential=KEY/20260101/r/sqs/aws4_request, Signature=x';
    assert.equal(accessKeyOf(header), 'KEY');
    assert.equal(accessKeyOf(undefined), '');
  });
});
