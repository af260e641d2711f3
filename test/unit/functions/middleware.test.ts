/** The stack around handlers, and batches of records. */
import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { describe, it, mock } from 'node:test';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { createHandler, HandlerTimeoutError, useSinks } from '../../../functions/middleware.ts';
import type { HandlerContext } from '../../../functions/middleware.ts';
import { handleRecords, NoTimeLeftError } from '../../../functions/records.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';

function lambdaContext(remainingMs = 30_000): Context {
  const endsAt = performance.now() + remainingMs;
  // What the stack reads of Lambda's context.
  return {
    functionName: 'test',
    parts: {},
    awsRequestId: 'request-1',
    getRemainingTimeInMillis: () => endsAt - performance.now(),
  } as unknown as Context;
}

function withSinks() {
  const log = new MemoryLog();
  const metrics = new MemoryMetrics();
  useSinks({ log, metrics });
  return { log, metrics };
}

describe('createHandler', () => {
  it('gives the handler its context and returns its result', async () => {
    const { log } = withSinks();
    const handler = createHandler<{ readonly n: number }, number>({
      name: 'double',
      handle: ({ n }, context) => {
        context.log.info('seen', { n });
        assert.ok(context.remainingMs() > 1000);
        assert.equal(context.signal.aborted, false);
        return Promise.resolve(n * 2);
      },
    });
    assert.equal(await handler({ n: 21 }, lambdaContext()), 42);
    assert.equal(log.lines.length, 1);
  });

  it('logs and counts what was thrown, once, and throws it on', async () => {
    const { log, metrics } = withSinks();
    const handler = createHandler<object, void>({
      name: 'broken',
      handle: () => Promise.reject(new RangeError('bug')),
    });
    await assert.rejects(handler({}, lambdaContext()), RangeError);
    assert.equal(log.at('error').length, 1);
    assert.equal(metrics.sum('HandlerFailures', 'RangeError'), 1);
  });

  it('aborts the signal about 700 ms before the function is stopped (faults 29)', async () => {
    withSinks();
    let seen: HandlerContext | undefined;
    const handler = createHandler<object, void>({
      name: 'slow',
      handle: (_event, context) => {
        seen = context;
        return new Promise(() => undefined);
      },
    });
    mock.timers.enable({ apis: ['setTimeout'] });
    syncBuiltinESMExports();
    try {
      // What Lambda said when the function began; the mocked timers are the only clock.
      const context = { ...lambdaContext(), getRemainingTimeInMillis: () => 30_000 };
      const ended = assert.rejects(handler({}, context), HandlerTimeoutError);
      while (seen === undefined) await new Promise((resolve) => setImmediate(resolve));
      mock.timers.tick(29_200);
      assert.equal(seen.signal.aborted, false);
      mock.timers.tick(100);
      assert.equal(seen.signal.aborted, true);
      await ended;
    } finally {
      mock.timers.reset();
      syncBuiltinESMExports();
    }
  });

  it('sends later invocations to the sinks that were set last', async () => {
    const first = withSinks();
    const handler = createHandler<object, void>({
      name: 'quiet',
      handle: (_event, { log }) => {
        log.info('here');
        return Promise.resolve();
      },
    });
    await handler({}, lambdaContext());
    const second = withSinks();
    await handler({}, lambdaContext());
    assert.equal(first.log.lines.length, 1);
    assert.equal(second.log.lines.length, 1);
  });
});

describe('handleRecords', () => {
  const record = (messageId: string, group?: string): SQSRecord =>
    ({
      messageId,
      body: `secret body of ${messageId}`,
      attributes: group === undefined ? {} : { MessageGroupId: group },
    }) as unknown as SQSRecord; // what the batch processor reads of a record

  function contextWith(remainingMs: () => number = () => 30_000) {
    const log = new MemoryLog();
    const metrics = new MemoryMetrics();
    const signal = new AbortController().signal;
    return {
      context: { functionName: 'test', parts: {}, log, metrics, remainingMs, signal },
      log,
      metrics,
    };
  }

  async function run(
    order: 'fifo' | 'unordered',
    records: readonly SQSRecord[],
    failing: readonly string[],
  ) {
    const { context, log, metrics } = contextWith();
    const handled: string[] = [];
    const event: SQSEvent = { Records: [...records] };
    const response = await handleRecords(event, {
      order,
      context,
      handle: ({ messageId }) => {
        handled.push(messageId);
        return failing.includes(messageId) ? Promise.reject(new Error('no')) : Promise.resolve();
      },
    });
    const failed = response.batchItemFailures.map((failure) => failure.itemIdentifier);
    return { handled, failed, log, metrics };
  }

  const mixed = [record('1', 'a'), record('2', 'a'), record('3', 'a'), record('4', 'b')];

  it('stops a group at its first failure, reports the rest of it, and goes on with others', async () => {
    const { handled, failed, log, metrics } = await run('fifo', mixed, ['2']);
    assert.deepEqual(handled, ['1', '2', '4']);
    assert.deepEqual(failed, ['2', '3']);
    assert.equal(log.at('error').length, 1);
    assert.equal(metrics.sum('RecordFailures'), 1);
  });

  it('reports a batch that failed as a whole instead of throwing', async () => {
    const { failed } = await run('fifo', [record('1', 'a')], ['1']);
    assert.deepEqual(failed, ['1']);
    const all = await run('unordered', [record('1'), record('2')], ['1', '2']);
    assert.deepEqual(all.failed, ['1', '2']);
  });

  it('lets records of a standard queue fail one by one (faults 24)', async () => {
    const { handled, failed } = await run(
      'unordered',
      [record('1'), record('2'), record('3')],
      ['2'],
    );
    assert.deepEqual(handled, ['1', '2', '3']);
    assert.deepEqual(failed, ['2']);
  });

  it('reports nothing when nothing failed', async () => {
    assert.deepEqual((await run('fifo', mixed, [])).failed, []);
  });

  it('logs no body', async () => {
    const { log } = await run('fifo', mixed, ['1', '4']);
    assert.ok(!JSON.stringify(log.lines).includes('secret body'));
  });

  it('begins no record without time for it, and reports it', async () => {
    let remaining = 2000;
    const { context, log } = contextWith(() => remaining);
    const handled: string[] = [];
    const response = await handleRecords(
      { Records: mixed },
      {
        order: 'fifo',
        context,
        handle: ({ messageId }) => {
          handled.push(messageId);
          remaining -= 400;
          return Promise.resolve();
        },
      },
    );
    assert.deepEqual(handled, ['1', '2']);
    assert.deepEqual(response.batchItemFailures, [
      { itemIdentifier: '3' },
      { itemIdentifier: '4' },
    ]);
    assert.ok(log.at('error').every((line) => line.cause instanceof NoTimeLeftError));
  });
});
