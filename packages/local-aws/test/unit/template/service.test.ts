/** A service file as it is read here: variables, conditions, and what is refused. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readService } from '../../../src/template/service.ts';

describe('a service file', () => {
  const read = (context: TestContext, text: string): unknown => {
    const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-service-'));
    context.after(() => {
      rmSync(directory, { recursive: true });
    });
    const file = path.join(directory, 'serverless.yml');
    writeFileSync(file, text);
    return readService(file, 'test');
  };
  const minimal = (event: string): string => `
service: s
provider: { name: aws, region: us-east-1 }
functions: { f: { handler: h, role: R, events: [${event}] } }
resources: []
`;

  it('is refused where it declares what the engine would not run', (context) => {
    assert.ok(read(context, minimal('{ schedule: { rate: rate(2 hours) } }')));
    const refused = [
      '{ http: GET / }',
      '{ schedule: { rate: cron(0 12 * * ? *) } }',
      '{ sqs: { arn: !GetAtt Q.Arn, batchSize: 11 } }',
      '{ sqs: { arn: !GetAtt Q.Arn, filterPatterns: [] } }',
    ];
    for (const event of refused) {
      assert.throws(() => read(context, minimal(event)), Error, event);
    }
  });

  it('resolves parameters, those of the stage first, and leaves what is CloudFormation’s', (context) => {
    const text = minimal('').replace(
      'provider: { name: aws, region: us-east-1 }',
      `params: { default: { a: one, b: two }, test: { b: three } }
provider:
  name: aws
  region: us-east-1
  environment: { A: '\${param:a}/\${param:b}', C: '\${AWS::Region}-\${param:a}', D: !GetAtt Key.Arn }`,
    );
    const { environment } = read(context, text) as ReturnType<typeof readService>;
    assert.deepEqual(environment, {
      A: 'one/three',
      C: '${AWS::Region}-one',
      D: { arnOf: 'Key' },
    });
  });

  it('loses what its conditions leave out: a queue, and a statement of a role', (context) => {
    const text = minimal('').replace(
      'resources: []',
      `resources:
  - Conditions: { Never: { 'Fn::Equals': [a, b] } }
  - Resources:
      Away: { Type: 'AWS::SQS::Queue', Condition: Never, Properties: { QueueName: away } }
      There: { Type: 'AWS::SQS::Queue', Properties: { QueueName: { 'Fn::If': [Never, a, there] } } }
  - extensions: { FLambdaFunction: { Properties: {} } }`,
    );
    const { queues } = read(context, text) as ReturnType<typeof readService>;
    assert.deepEqual(
      queues.map(({ name }) => name),
      ['there'],
    );
  });

  it('is refused where a variable leads nowhere or in a circle', (context) => {
    const withName = (name: string): string =>
      minimal('').replace('service: s', `service: ${name}`);
    for (const name of [
      '${self:nothing}',
      '${param:nothing}',
      '${env:HOME}',
      '${opt:region}',
      '${self:service}',
    ]) {
      assert.throws(() => read(context, withName(`"${name}"`)), /resolve|circle/, name);
    }
  });
});
