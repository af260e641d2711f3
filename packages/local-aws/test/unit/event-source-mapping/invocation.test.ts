/** One invocation on virtual time: its context, its deadline, and what happens behind the deadline. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Context } from 'aws-lambda';
import {
  invoke,
  newInvocationCounts,
  type InvocationEnvironment,
  type LambdaHandler,
  type LocalFunction,
} from '../../../src/event-source-mapping/invocation.ts';
import { ScalingRamp } from '../../../src/event-source-mapping/scaling.ts';
import { settle, VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

function environmentWith(clock: VirtualClock): InvocationEnvironment {
  return {
    clock,
    newId: () => 'request-1',
    region: 'eu-west-1',
    account: '000000000000',
    functionNamePrefix: 'rollcall-test-',
    counts: newInvocationCounts(),
  };
}

function functionWith(handler: LambdaHandler): LocalFunction {
  return { name: 'ingest', timeoutMs: 10_000, memoryMegabytes: 512, handler };
}

describe('an invocation', () => {
  it('gives the function its context and takes its answer', async () => {
    const clock = new VirtualClock();
    const environment = environmentWith(clock);
    const seen: Context[] = [];
    const target = functionWith(async (_event, context) => {
      seen.push(context);
      await clock.sleep(4000);
      return context.getRemainingTimeInMillis();
    });
    const outcome = invoke(target, {}, environment);
    await clock.advance(4000);
    assert.deepEqual(await outcome, { kind: 'returned', answer: 6000 });
    assert.equal(seen[0]?.functionName, 'rollcall-test-ingest');
    assert.equal(
      seen[0]?.invokedFunctionArn,
      'arn:aws:lambda:eu-west-1:000000000000:function:rollcall-test-ingest',
    );
    assert.equal(seen[0]?.awsRequestId, 'request-1');
    assert.equal(clock.pendingTimers, 0);
  });

  it('fails when the function throws, at once or later', async () => {
    const environment = environmentWith(new VirtualClock());
    const error = new Error('broken');
    const throwNow = (): never => {
      throw error;
    };
    const throwLater = (): Promise<never> => Promise.reject(error);
    for (const handler of [throwNow, throwLater]) {
      const outcome = await invoke(functionWith(handler), {}, environment);
      assert.deepEqual(outcome, { kind: 'threw', error });
    }
    assert.equal(environment.counts.failed, 2);
  });

  it('fails at the deadline, and leaves a zombie until the function ends', async () => {
    const clock = new VirtualClock();
    const environment = environmentWith(clock);
    const outcome = invoke(
      functionWith(() => clock.sleep(12_000)),
      {},
      environment,
    );
    await clock.advance(10_000);
    assert.deepEqual(await outcome, { kind: 'timed-out' });
    assert.deepEqual(environment.counts, {
      throttled: 0,
      started: 1,
      running: 0,
      failed: 1,
      timedOut: 1,
      zombies: 1,
    });
    await clock.advance(2000);
    await settle();
    assert.equal(environment.counts.zombies, 0);
  });
});

describe('scaling', () => {
  it('lets a FIFO mapping work on as many groups as maximumConcurrency allows', () => {
    assert.equal(new ScalingRamp(true, 50).limit(0, 0), 50);
    assert.equal(new ScalingRamp(true, undefined).limit(0, 0), 1250);
  });

  it('starts a standard mapping at 5, and adds 300 a minute under load', () => {
    const ramp = new ScalingRamp(false, undefined);
    assert.equal(ramp.limit(0, 0), 5);
    assert.equal(ramp.limit(5, 0), 5);
    assert.equal(ramp.limit(5, 1000), 10);
    assert.equal(ramp.limit(3, 60_000), 10, 'no growth without load');
    assert.equal(ramp.limit(0, 60_001), 10);
    assert.equal(ramp.limit(0, 120_002), 5, 'starts again after a minute of rest');
  });

  it('never passes maximumConcurrency', () => {
    const ramp = new ScalingRamp(false, 8);
    ramp.limit(5, 0);
    assert.equal(ramp.limit(5, 60_000), 8);
    assert.equal(ramp.isRamping(8), false);
  });
});
