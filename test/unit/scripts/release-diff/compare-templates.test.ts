/** What two packaged templates say about a release: planted changes, each told (aws-rules 9.5). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareTemplates } from '../../../../scripts/release-diff/compare-templates.ts';
import type {
  ComparedTemplate,
  ReleaseChange,
} from '../../../../scripts/release-diff/compare-templates.ts';

const TABLE = {
  Type: 'AWS::DynamoDB::Table',
  Properties: { TableName: 't', KeySchema: [{ AttributeName: 'pk' }], BillingMode: 'x' },
};
const QUEUE = {
  Type: 'AWS::SQS::Queue',
  Properties: { QueueName: 'q.fifo', FifoQueue: true, VisibilityTimeout: 60 },
};
const MAPPING = {
  Type: 'AWS::Lambda::EventSourceMapping',
  Properties: { EventSourceArn: { 'Fn::GetAtt': ['Queue', 'Arn'] }, BatchSize: 10 },
};
const ROLE = { Type: 'AWS::IAM::Role', Properties: { RoleName: 'r', Policies: [] } };
const BEFORE: ComparedTemplate = {
  Resources: { Table: TABLE, Queue: QUEUE, Mapping: MAPPING, Role: ROLE },
};

function changesOf(resources: ComparedTemplate['Resources']): readonly ReleaseChange[] {
  return compareTemplates(BEFORE, { Resources: resources });
}
function changed(id: 'Table' | 'Queue' | 'Mapping' | 'Role', properties: object) {
  const one = BEFORE.Resources[id];
  assert.ok(one !== undefined);
  return changesOf({
    ...BEFORE.Resources,
    [id]: { ...one, Properties: { ...one.Properties, ...properties } },
  });
}

describe('the diff of two releases', () => {
  it('says nothing of what is changed in place, or is new', () => {
    assert.deepEqual(compareTemplates(BEFORE, structuredClone(BEFORE)), []);
    assert.deepEqual(changed('Table', { BillingMode: 'y' }), []);
    assert.deepEqual(changed('Queue', { VisibilityTimeout: 120 }), []);
    assert.deepEqual(changed('Role', { Policies: ['more'] }), []);
    const another = { ...QUEUE, Properties: { ...QUEUE.Properties, QueueName: 'other' } };
    assert.deepEqual(changesOf({ ...BEFORE.Resources, Another: another }), []);
  });

  it('tells a named resource that would have to be made anew: CloudFormation refuses it', () => {
    const schema = [{ AttributeName: 'id' }];
    assert.deepEqual(changed('Table', { KeySchema: schema }), [
      { kind: 'refused', id: 'Table', because: 'KeySchema' },
    ]);
    assert.deepEqual(changed('Queue', { FifoQueue: false }), [
      { kind: 'refused', id: 'Queue', because: 'FifoQueue' },
    ]);
    assert.deepEqual(changed('Role', { Path: '/rollcall/' }), [
      { kind: 'refused', id: 'Role', because: 'Path' },
    ]);
    const type = { ...QUEUE, Type: 'AWS::SNS::Topic' };
    const [other] = changesOf({ ...BEFORE.Resources, Queue: type });
    assert.equal(other?.kind, 'refused');
  });

  it('tells one under another logical id whose name is still borne', () => {
    const { Role: role, ...rest } = BEFORE.Resources;
    assert.ok(role !== undefined);
    assert.deepEqual(changesOf({ ...rest, RenamedRole: role }), [
      { kind: 'removed', id: 'Role', type: 'AWS::IAM::Role' },
      { kind: 'refused', id: 'RenamedRole', because: 'Role bears its name' },
    ]);
  });

  it('tells what is made anew: another name, another source, or a type that nobody has looked at', () => {
    assert.deepEqual(changed('Queue', { QueueName: 'p.fifo' }), [
      { kind: 'replaced', id: 'Queue', because: 'QueueName' },
    ]);
    assert.deepEqual(changed('Mapping', { EventSourceArn: 'arn' }), [
      { kind: 'replaced', id: 'Mapping', because: 'EventSourceArn' },
    ]);
    const topic = (name: string): ComparedTemplate => ({
      Resources: { Topic: { Type: 'AWS::SNS::Topic', Properties: { TopicName: name } } },
    });
    const [unknown] = compareTemplates(topic('a'), topic('b'));
    assert.equal(unknown?.kind, 'replaced');
    assert.deepEqual(compareTemplates(topic('a'), topic('a')), []);
  });

  it('tells what goes', () => {
    const { Queue: _queue, ...rest } = BEFORE.Resources;
    assert.deepEqual(changesOf(rest), [{ kind: 'removed', id: 'Queue', type: 'AWS::SQS::Queue' }]);
  });
});
