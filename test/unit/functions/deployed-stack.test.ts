/**
 * The stack as it is deployed: the real middleware, logger and metrics around the real handlers, judged by what they write.
 *
 * Nothing replaces the sinks here, which is why this is a file of its own. What Powertools writes goes to this process's
 * standard output, as in Lambda; the handlers find no AWS behind their endpoint.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Context } from 'aws-lambda';
import { createHandler } from '../../../functions/middleware.ts';

const SECRET = 'c2VjcmV0LW9mLWEtdGVuYW50';
const NAMESPACE = 'Rollcall/of-this-test';

const CONTEXT = {
  functionName: 'rollcall-prod-requeue',
  functionVersion: '$LATEST',
  memoryLimitInMB: '256',
  invokedFunctionArn: 'arn:aws:lambda:eu-west-1:111111111111:function:rollcall-prod-requeue',
  awsRequestId: 'request-1',
  getRemainingTimeInMillis: () => 30_000,
} as unknown as Context; // what the stack reads of Lambda's context

const EVENT = {
  Records: [
    {
      messageId: 'message-1',
      body: `{"token":"${SECRET}"}`,
      attributes: { MessageGroupId: 'group', SenderId: 'AROAEXAMPLE:someone' },
      messageAttributes: {},
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-west-1:111111111111:rollcall-prod-delay',
    },
  ],
};

/** What is written to standard output and error while something runs; the test runner's own frames, which are bytes, pass. */
async function outputOf(run: () => Promise<unknown>): Promise<string> {
  let output = '';
  const restore = [process.stdout, process.stderr].map((stream) => {
    const original = stream.write.bind(stream);
    stream.write = ((chunk: string | Uint8Array, ...rest: never[]) => {
      if (typeof chunk !== 'string') return original(chunk, ...rest);
      output += chunk;
      return true;
    });
    return () => {
      stream.write = original;
    };
  });
  try {
    await run();
  } finally {
    for (const one of restore) one();
  }
  return output;
}

/** The embedded metrics among the lines of an output. */
function metricsIn(output: string): readonly Readonly<Record<string, unknown>>[] {
  return output
    .split('\n')
    .filter((line) => line.includes('"CloudWatchMetrics"'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

describe('the deployed stack', () => {
  before(() => {
    process.env['POWERTOOLS_METRICS_NAMESPACE'] = NAMESPACE;
    // Whoever debugs a function turns this on for all of them: bodies must stay out even so.
    process.env['POWERTOOLS_LOGGER_LOG_EVENT'] = 'true';
    process.env['POWERTOOLS_LOG_LEVEL'] = 'DEBUG';
  });

  it('logs no event, whatever the environment asks for (S11)', async () => {
    const handler = createHandler<typeof EVENT, void>({
      name: 'requeue',
      handle: (_event, { log }) => {
        log.info('handled');
        return Promise.resolve();
      },
    });
    const output = await outputOf(() => handler(EVENT, CONTEXT));
    assert.match(output, /"message":"handled"/);
    assert.ok(!output.includes(SECRET), output);
  });

  it('publishes its metrics when a handler throws, and logs what was thrown', async () => {
    const handler = createHandler<typeof EVENT, void>({
      name: 'requeue',
      handle: (_event, { metrics }) => {
        metrics.count('Seen');
        return Promise.reject(new RangeError('bug'));
      },
    });
    const output = await outputOf(() => assert.rejects(handler(EVENT, CONTEXT), RangeError));
    const metrics = metricsIn(output);
    assert.ok(metrics.some((line) => line['Seen'] === 1));
    assert.ok(
      metrics.some((line) => line['HandlerFailures'] === 1 && line['outcome'] === 'RangeError'),
      output,
    );
    assert.match(output, /"message":"handler failed"/);
  });

  it('publishes metrics of one invocation once', async () => {
    const handler = createHandler<typeof EVENT, void>({
      name: 'requeue',
      handle: (_event, { metrics }) => {
        metrics.count('Seen');
        return Promise.resolve();
      },
    });
    for (const _invocation of [1, 2]) {
      const metrics = metricsIn(await outputOf(() => handler(EVENT, CONTEXT)));
      assert.deepEqual(
        metrics.map((line) => [line['Seen'], line['service']]),
        [[1, 'requeue']],
      );
    }
  });
});
