/**
 * What a throttle does to a queue (aws-rules F3, F4), and the two ways to stop a function: by taking its places away,
 * which empties its queue into the dead letters, and by disabling its mapping, which keeps every message.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConcurrencyLimits } from '@rollcall/local-aws/event-source-mapping/concurrency.ts';
import { eventually, startWork, turn, visibilityMs, type Work } from './local-aws-fixture.ts';

const RECEIVES = 3;
const BODIES = ['a', 'b', 'c'];

async function sendAll(work: Work): Promise<void> {
  for (const body of BODIES) await work.send(body, body);
}

/** Lets a lease pass in steps, so that what is received in between is counted in time. */
async function passLease(work: Work): Promise<void> {
  for (let passedMs = 0; passedMs < visibilityMs + 2000; passedMs += 1000) {
    await work.clock.advance(1000);
    await turn();
  }
}

describe('a function without places (F3, F4)', () => {
  it('is not stopped by a reservation of zero: its messages are received, throttled, and given up', async (context) => {
    const seen: string[] = [];
    const work = await startWork(
      context,
      (event) => void seen.push(...event.Records.map(({ body }) => body)),
      {
        maxReceiveCount: RECEIVES,
      },
    );
    work.aws.limits.setReserved('work', 0);
    await sendAll(work);
    await eventually(() => work.aws.counts.throttled > 0, 'the first throttle');
    for (let lease = 0; lease <= RECEIVES; lease += 1) await passLease(work);
    await eventually(
      async () => (await work.countMessages('Dead')).visible === BODIES.length,
      'the dead letters',
    );
    assert.deepEqual(seen, [], 'the function never ran');
    assert.deepEqual(await work.countMessages(), { visible: 0, inFlight: 0 });
  });

  it('is stopped by a disabled mapping: every message waits, and is handled when it is enabled', async (context) => {
    const seen: string[] = [];
    const receives: string[] = [];
    const work = await startWork(
      context,
      (event) => {
        for (const { body, attributes } of event.Records) {
          seen.push(body);
          receives.push(attributes.ApproximateReceiveCount);
        }
      },
      { maxReceiveCount: RECEIVES },
    );
    await work.aws.disableMappings('work');
    await sendAll(work);
    for (let lease = 0; lease <= RECEIVES; lease += 1) await passLease(work);
    assert.deepEqual(await work.countMessages(), { visible: BODIES.length, inFlight: 0 });
    assert.deepEqual(await work.countMessages('Dead'), { visible: 0, inFlight: 0 });
    work.aws.enableMappings('work');
    await eventually(() => seen.length === BODIES.length, 'the messages that waited');
    assert.deepEqual(seen.toSorted(), BODIES);
    assert.deepEqual(new Set(receives), new Set(['1']), 'received for the first time');
  });

  it('takes a message up within its lease when a neighbour gives its places back (F4)', async (context) => {
    const receives: string[] = [];
    const work = await startWork(
      context,
      (event) =>
        void receives.push(...event.Records.map((one) => one.attributes.ApproximateReceiveCount)),
    );
    work.aws.limits.setQuota(1);
    const neighbour = work.aws.limits.tryAcquire('neighbour');
    assert.ok(neighbour);
    await work.send('a');
    await eventually(() => work.aws.counts.throttled > 0, 'a throttle');
    neighbour();
    await work.clock.advance(1000);
    await eventually(() => receives.length === 1, 'the invocation');
    assert.deepEqual(receives, ['1'], 'the same lease');
  });
});

describe('the places of an account', () => {
  it('are shared by all functions without a reservation, and kept from them by one', () => {
    const limits = new ConcurrencyLimits();
    limits.setQuota(10);
    limits.setReserved('ingest', 4);
    const shared = Array.from({ length: 8 }, (_, index) =>
      limits.tryAcquire(index % 2 === 0 ? 'reconcile' : 'requeue'),
    );
    assert.equal(shared.filter((one) => one !== undefined).length, 6);
    const own = Array.from({ length: 5 }, () => limits.tryAcquire('ingest'));
    assert.equal(own.filter((one) => one !== undefined).length, 4);
    shared[0]?.();
    assert.ok(limits.tryAcquire('reconcile'));
    limits.setReserved('reconcile', 0);
    assert.equal(limits.tryAcquire('reconcile'), undefined);
    limits.setReserved('reconcile', undefined);
  });
});
