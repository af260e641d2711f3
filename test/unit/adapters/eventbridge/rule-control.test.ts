// Rules of EventBridge: what is asked, and what each kind of answer leads to.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createRuleControl } from '../../../../src/adapters/eventbridge/rule-control.ts';
import type { RuleControl } from '../../../../src/adapters/eventbridge/rule-control.ts';
import { explainAwsError } from '../../../../src/cli/command-line/explain-error.ts';

describe('createRuleControl', () => {
  const asked: string[] = [];
  let answer: readonly [status: number, body: object] = [200, {}];
  let rules: RuleControl;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { 'x-amz-target': target = '', authorization = '' } = request.headers;
      assert.match(authorization, /\/eu-west-1\/events\/aws4_request/);
      asked.push(`${String(target)} ${text}`);
      response.writeHead(answer[0], { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(answer[1]));
    });
  });

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    rules = createRuleControl({
      region: 'eu-west-1',
      endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
      credentials: () => Promise.resolve({ accessKeyId: 'AKID', secretAccessKey: 'secret' }),
      nowMs: () => Date.UTC(2026, 10, 25),
    });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    asked.length = 0;
  });

  it('reads whether a rule is on, of whatever kind', async () => {
    const states = ['ENABLED', 'DISABLED', 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS'];
    const read: string[] = [];
    for (const State of states) {
      answer = [200, { Name: 'r', State }];
      read.push(await rules.read('r'));
    }
    assert.deepEqual(read, ['ENABLED', 'DISABLED', 'ENABLED']);
    assert.equal(asked[0], 'AWSEvents.DescribeRule {"Name":"r"}');
  });

  it('switches it off and on', async () => {
    answer = [200, {}];
    await rules.turn('r', 'off');
    await rules.turn('r', 'on');
    assert.deepEqual(asked, [
      'AWSEvents.DisableRule {"Name":"r"}',
      'AWSEvents.EnableRule {"Name":"r"}',
    ]);
  });

  it('says that a rule is gone', async () => {
    answer = [400, { __type: 'ResourceNotFoundException' }];
    assert.equal(await rules.read('r'), 'missing');
  });

  it('throws what AWS refuses so that a person is told what it is', async () => {
    answer = [400, { __type: 'com.amazonaws#AccessDeniedException', Message: 'no' }];
    await assert.rejects(rules.turn('r', 'off'), (error) => {
      assert.match(explainAwsError(error)?.message ?? '', /AWS denies this: .*DisableRule/);
      return true;
    });
    answer = [500, {}];
    await assert.rejects(rules.read('r'), (error) => {
      assert.match(explainAwsError(error)?.message ?? '', /AWS answered with HTTP 500/);
      return true;
    });
  });
});
