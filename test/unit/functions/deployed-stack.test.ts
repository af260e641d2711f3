/**
 * The stack as it is deployed: the real middleware, logger and metrics around the real handlers, judged by what they write.
 *
 * Nothing replaces the sinks here, which is why this is a file of its own. What Powertools writes goes to this process's
 * standard output, as in Lambda; the real handlers find an AWS that refuses everything.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Context } from 'aws-lambda';
import { createHandler } from '../../../functions/middleware.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { functionEnvironment, startRecordingAws } from '../../support/recording-aws.ts';
import type { RecordingAws } from '../../support/recording-aws.ts';

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
    stream.write = (chunk: string | Uint8Array, ...rest: never[]) => {
      if (typeof chunk !== 'string') return original(chunk, ...rest);
      output += chunk;
      return true;
    };
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

function metricsIn(output: string): readonly Readonly<Record<string, unknown>>[] {
  return output
    .split('\n')
    .filter((line) => line.includes('"CloudWatchMetrics"'))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

function namespaceOf(line: Readonly<Record<string, unknown>>): unknown {
  const { CloudWatchMetrics } = line['_aws'] as {
    readonly CloudWatchMetrics: readonly { readonly Namespace: string }[];
  };
  return CloudWatchMetrics[0]?.Namespace;
}

/** A deployed function, as Lambda imports it. */
type Deployed = (event: unknown, context: Context) => Promise<unknown>;

describe('the deployed stack', () => {
  let aws: RecordingAws;
  before(async () => {
    aws = await startRecordingAws();
    aws.refuseWhen(() => true);
    Object.assign(process.env, functionEnvironment(aws.endpoint), {
      POWERTOOLS_METRICS_NAMESPACE: NAMESPACE,
      // Whoever debugs a function turns these on for all of them: bodies must stay out even so.
      POWERTOOLS_LOGGER_LOG_EVENT: 'true',
      POWERTOOLS_LOG_LEVEL: 'DEBUG',
    });
  });
  after(() => {
    aws.close();
  });

  const run = (handle: Parameters<typeof createHandler<typeof EVENT, void>>[0]['handle']) => {
    const handler = createHandler<typeof EVENT, void>({ name: 'requeue', handle });
    return () => handler(EVENT, CONTEXT);
  };

  it('logs no event, whatever the environment asks for (S11)', async () => {
    const output = await outputOf(
      run((_event, { log }) => {
        log.info('handled');
        return Promise.resolve();
      }),
    );
    assert.match(output, /"message":"handled"/);
    assert.match(output, /"function_request_id":"request-1"/);
    assert.ok(!output.includes(SECRET), output);
  });

  it('publishes its metrics when a handler throws, and logs what was thrown', async () => {
    const failing = run((_event, { metrics }) => {
      metrics.count('ReconcileRuns');
      return Promise.reject(new RangeError('bug'));
    });
    const output = await outputOf(() => assert.rejects(failing(), RangeError));
    const metrics = metricsIn(output);
    assert.ok(metrics.some((line) => line['ReconcileRuns'] === 1));
    assert.ok(
      metrics.some((line) => line['HandlerFailures'] === 1 && line['outcome'] === 'RangeError'),
      output,
    );
    assert.match(output, /"message":"handler failed"/);
  });

  it('publishes the metrics of one invocation once, to the namespace that it is told', async () => {
    const counting = run((_event, { metrics }) => {
      metrics.count('ReconcileRuns');
      return Promise.resolve();
    });
    for (const _invocation of [1, 2]) {
      const metrics = metricsIn(await outputOf(counting));
      assert.deepEqual(
        metrics.map((line) => [line['ReconcileRuns'], line['service'], namespaceOf(line)]),
        [[1, 'requeue', NAMESPACE]],
      );
    }
  });

  for (const file of globSync('functions/*/handler.ts', { cwd: repositoryRoot })) {
    const name = path.basename(path.dirname(file));
    it(`counts under the name of the function ${name}, and writes no body, when AWS refuses it everything (S11)`, async () => {
      const { handler } = (await import(path.join(repositoryRoot, file))) as { handler: Deployed };
      const output = await outputOf(() => handler(EVENT, CONTEXT).catch(() => undefined));
      const metrics = metricsIn(output);
      assert.ok(metrics.length > 0, `no metrics: ${output}`);
      for (const line of metrics) {
        assert.deepEqual([line['service'], namespaceOf(line)], [name, NAMESPACE]);
      }
      assert.ok(!output.includes(SECRET), output);
    });
  }
});
