/** Two installations of Rollcall and one cluster: the one that is at work is not disarmed (protocol 14, ADR 0024). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterId, incarnation } from '../../../src/core/model/identifiers.ts';
import { leaseHeldBy } from '../../../src/watcher/lease/lease-object.ts';
import type { LeaseOptions } from '../../../src/watcher/lease/lease.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../../src/watcher/session/options.ts';
import { judgeHealth } from '../../../src/watcher/process/health.ts';
import { Vitals } from '../../../src/watcher/process/vitals.ts';
import { createWatcher, type Watcher } from '../../../src/watcher/session/watcher.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { FrozenMessage } from '../../../src/ports/queues/queue.ts';
import { RecordingEventQueue } from '../../support/recording-event-queue.ts';
import { createWatcherHarness, type WatcherHarness } from '../../support/watcher-harness.ts';

const { lease: LEASE } = DEFAULT_WATCHER_OPTIONS;
/** A look while standing by is 2.5 s and a fifth. */
const LOOK_MS = 3_000;
const SETTLED_MS = 2_000;

interface Stack {
  readonly queue: RecordingEventQueue;
  readonly start: (seed: number, lease?: Partial<LeaseOptions>) => Promise<Watcher>;
}

/** A stack by name, with its own queue. */
function stackOf(harness: WatcherHarness, installation: string): Stack {
  const queue = new RecordingEventQueue(harness.clock);
  return {
    queue,
    start: async (seed, lease) => {
      const watcher = createWatcher({
        ...harness,
        cluster: clusterId('c1'),
        queue,
        random: seededRandom(seed),
        options: { lease: { ...LEASE, installation, ...lease } },
      });
      await watcher.start();
      await harness.clock.advance(SETTLED_MS);
      return watcher;
    },
  };
}

function leaseText(harness: WatcherHarness): string {
  return JSON.stringify(harness.source.lease);
}

function toldStandBys({ queue }: Stack): readonly string[] {
  return queue.tries.flatMap((frozen) => standsByOf(frozen) ?? []);
}

function standsByOf(frozen: FrozenMessage | undefined): string | undefined {
  const body = frozen?.message.body;
  return body?.kind === 'announcement' ? body.standsBy : undefined;
}

describe('a watcher of another installation', () => {
  test('stands by while the one at work renews, however long, and writes nothing to the Lease', async () => {
    const harness = createWatcherHarness();
    const [managing, observing] = [stackOf(harness, 'a'), stackOf(harness, 'b')];
    const first = await managing.start(1);
    const { epoch } = first.status();
    const second = await observing.start(2);
    let writes = 0;
    harness.source.faultOf = ({ op }) => {
      writes += op === 'write-lease' ? 1 : 0;
      return undefined;
    };
    await harness.clock.advance(3_600_000);
    assert.equal(second.status().state, 'standby');
    assert.deepEqual([first.status().state, first.status().epoch], ['running', epoch]);
    const renewals = 3_600_000 / LEASE.renewMs;
    assert.ok(Math.abs(writes - renewals) < renewals / 5, `${String(writes)} writes`);
    assert.match(leaseText(harness), /"rollcall.dev\/installation":"a"/);
    await Promise.all([first.stop(), second.stop()]);
  });

  test('says so to its own stack, in its log and to who asks whether it is ready; it stays live', async () => {
    const harness = createWatcherHarness();
    const [managing, observing] = [stackOf(harness, 'a'), stackOf(harness, 'b')];
    const first = await managing.start(1);
    const second = await observing.start(2);
    await harness.clock.advance(600_000);
    assert.deepEqual(toldStandBys(observing), ['a']);
    const [told] = observing.queue.accepted;
    assert.equal(told?.body.kind, 'announcement');
    assert.equal(toldStandBys(managing).length, 0);
    const lines = harness.log.lines.filter(({ message }) => /another installation/.test(message));
    assert.equal(lines.length, 1);
    const vitals = new Vitals(harness.clock);
    vitals.noteLease(undefined);
    const nowMs = harness.clock.monotonicMs();
    const health = judgeHealth({ signs: vitals.signs(), status: second.status() }, nowMs);
    assert.match(health.notReady.join(), /^stands by: the installation a holds the Lease since 20/);
    assert.deepEqual(health.notLive, []);
    await Promise.all([first.stop(), second.stop()]);
  });

  test('leaves the one that restarts the time to do so, and takes over when it does not come back', async () => {
    const harness = createWatcherHarness();
    const [managing, observing] = [stackOf(harness, 'a'), stackOf(harness, 'b')];
    const first = await managing.start(1);
    const second = await observing.start(2);
    await harness.clock.advance(60_000);
    await first.retire();
    await harness.clock.advance(LEASE.durationMs - LOOK_MS);
    assert.equal(second.status().state, 'standby');
    const successor = await managing.start(3);
    assert.equal(successor.status().state, 'running');
    await successor.stop();
    await harness.clock.advance(LEASE.durationMs + LEASE.renewMs + LOOK_MS);
    assert.equal(second.status().state, 'running');
    assert.equal(standsByOf(observing.queue.tries.at(-1)), undefined);
    await second.stop();
  });

  test('takes at its start what another one gave back: a cluster that moves is not in the dark', async () => {
    const harness = createWatcherHarness();
    const first = await stackOf(harness, 'a').start(1);
    await first.retire();
    const second = await stackOf(harness, 'b').start(2);
    assert.equal(second.status().state, 'running');
    await second.stop();
  });

  test('takes the Lease when it is told to take it from anybody, once', async () => {
    const harness = createWatcherHarness();
    const [managing, observing] = [stackOf(harness, 'a'), stackOf(harness, 'b')];
    const first = await managing.start(1);
    const second = await observing.start(2, { start: 'take-from-any' });
    assert.equal(second.status().state, 'running');
    await harness.clock.advance(LEASE.renewMs * 1.3);
    assert.equal(first.status().state, 'standby');
    assert.deepEqual(toldStandBys(managing), ['b']);
    // Its epoch is above its last, so its own stack hears it.
    const [own, told] = managing.queue.accepted.filter(({ body }) => body.kind === 'announcement');
    assert.ok(Number(told?.epoch) > Number(own?.epoch));
    await second.retire();
    await harness.clock.advance(LEASE.durationMs + 2 * LOOK_MS);
    assert.equal(first.status().state, 'running');
    const back = managing.queue.accepted.findLast(({ body }) => body.kind === 'announcement');
    assert.ok(Number(back?.epoch) > Number(told?.epoch));
    await first.stop();
  });

  test('takes it from anybody once: whoever made the Lease anew that somebody deleted keeps it', async () => {
    const harness = createWatcherHarness();
    const { source, clock } = harness;
    const first = await stackOf(harness, 'a').start(1, { start: 'take-from-any' });
    source.editLease(() => null);
    let reads = 0;
    source.faultOf = ({ op }) => {
      reads += op === 'read-lease' ? 1 : 0;
      // It has seen that there is none, and is about to look again: another one is faster.
      if (op === 'read-lease' && reads === 2) {
        const by = { former: undefined, nowMs: clock.nowMs(), durationSeconds: 40 };
        source.editLease(() => leaseHeldBy(incarnation('other'), { ...by, installation: 'b' }));
      }
      return undefined;
    };
    await clock.advance(LEASE.renewMs * 1.3 + SETTLED_MS);
    assert.ok(reads >= 2);
    assert.equal(first.status().state, 'standby');
    assert.match(leaseText(harness), /"holderIdentity":"other"/);
    await first.stop();
  });

  test('may take a Lease at once that was judged free before, and only as it stood then', async () => {
    for (const [change, state] of [
      [0, 'running'],
      [1, 'standby'],
    ] as const) {
      const harness = createWatcherHarness();
      const [gone, next] = [stackOf(harness, 'a'), stackOf(harness, 'b')];
      const first = await gone.start(1);
      await first.stop();
      const spec = harness.source.lease?.['spec'] as Record<string, string>;
      const free = `${spec['holderIdentity'] ?? ''}@${spec['renewTime'] ?? ''}`;
      const second = await next.start(2, { free: free + 'x'.repeat(change) });
      assert.equal(second.status().state, state);
      await second.stop();
    }
  });
});

describe('a watcher of the same installation', () => {
  test('takes a Lease at once from a holder of its own that was killed (row 72)', async () => {
    const harness = createWatcherHarness();
    const first = await stackOf(harness, 'a').start(1);
    await first.stop();
    const second = await stackOf(harness, 'a').start(2);
    assert.equal(second.status().state, 'running');
    assert.match(leaseText(harness), /"rollcall.dev\/installation":"a"/);
    await second.stop();
  });

  test('tells its stack nothing of a replica of its own', async () => {
    const harness = createWatcherHarness();
    const stack = stackOf(harness, 'a');
    const first = await stack.start(1, { start: 'stand-by' });
    const second = await stack.start(2, { start: 'stand-by' });
    await harness.clock.advance(600_000);
    assert.equal(second.status().heldElsewhere, undefined);
    assert.deepEqual(toldStandBys(stack), []);
    await Promise.all([first.stop(), second.stop()]);
  });
});
