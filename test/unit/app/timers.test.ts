/**
 * L5: a table of each timer in the system: what sends it, what bounds it, what merges it, and where it is played.
 *
 * A place in the sources that sets a timer and is not in the table fails; so does a row without a place. The timers
 * of the delay queue, which outlive a process, are played here, one after the other, with twenty hints beside them.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import type { Outcome } from '../../../src/core/model/effects.ts';
import { nodeOf } from '../../support/simulated-cluster.ts';
import { TimedWorld } from '../../support/timed-world.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** What sets a timer: on the delay queue, or with a clock. */
const SETS_TIMER =
  /(?:queue\.sendTimers|clock\.sleep|clock\.after|#alarm\.sleepUntil|setInterval|setTimeout|AbortSignal\.timeout)\(/g;

interface TimerRow {
  /** Places in the file. */
  readonly places: number;
  readonly bound: string;
  readonly merged: string;
  readonly playedBy: string;
}

/** Every file that sets one. */
const TIMERS: Readonly<Record<string, TimerRow>> = {
  'functions/middleware.ts': {
    places: 1,
    bound: '700 ms before the function is stopped',
    merged: 'one for each invocation, cancelled with its end',
    playedBy: 'test/unit/functions/middleware.test.ts',
  },
  'functions/reconcile/take-batch.ts': {
    places: 1,
    bound: 'a second after the batch began',
    merged: 'one for each batch, cancelled with its end',
    playedBy: 'test/unit/functions/take-batch.test.ts',
  },
  'src/app/reconcile/finish/timers.ts': {
    places: 1,
    bound: 'back-off to five minutes; none for the expiry of a memo, which resync finds',
    merged: 'with one that is on its way and near enough (core/looks.ts)',
    playedBy: 'test/unit/app/timers.test.ts',
  },
  'src/app/requeue/requeue.ts': {
    places: 1,
    bound: 'one hop each 15 minutes, until the timer is due',
    merged: 'takes the place of the timer that came',
    playedBy: 'test/unit/app/requeue/requeue.test.ts',
  },
  'src/app/dead-letter/dead-letter.ts': {
    places: 1,
    bound: 'one for each letter, ten to fifteen minutes away',
    merged: 'letters of a key within five minutes share its id, so reconcile.fifo merges them',
    playedBy: 'test/unit/app/ingest/dead-letter.test.ts',
  },
  'src/app/ingest/process/background-work.ts': {
    places: 1,
    bound: 'three seconds',
    merged: 'cancelled with the answer',
    playedBy: 'test/unit/app/ingest/batch.test.ts',
  },
  'src/app/checks/needs.ts': {
    places: 1,
    bound: 'one for each thing that a command of checks reads, 20 s',
    merged: 'cancelled with the answer',
    playedBy: 'test/integration/doctor/doctor.test.ts',
  },
  'src/app/clusters/await-silence.ts': {
    places: 1,
    bound: 'the wait that the command announces',
    merged: 'one loop in one command',
    playedBy: 'test/unit/app/clusters/await-silence.test.ts',
  },
  'src/app/takeover/takeover-probe.ts': {
    places: 1,
    bound: 'the wait of the probe',
    merged: 'one loop in one command',
    playedBy: 'test/unit/app/takeover/takeover-probe.test.ts',
  },
  'src/watcher/session/session.ts': {
    places: 3,
    bound: 'the next flush, heartbeat or snapshot',
    merged: 'one loop in one session, and one alarm: the earliest due time',
    playedBy: 'test/unit/watcher/snapshots.test.ts',
  },
  'src/watcher/outbox/sender.ts': {
    places: 1,
    bound: 'back-off to its cap, until the session ends',
    merged: 'one message in flight',
    playedBy: 'test/unit/watcher/sending.test.ts',
  },
  'src/watcher/lease/lease.ts': {
    places: 5,
    bound: 'the renewal, or back-off to its cap',
    merged: 'one operation at a time',
    playedBy: 'test/unit/watcher/stand-by.test.ts',
  },
  'src/watcher/observe/list-watch.ts': {
    places: 3,
    bound: 'back-off to its cap, until the session ends; the silence that a watchdog allows',
    merged: 'one loop for each kind, and one watchdog for each request, cancelled with it',
    playedBy: 'test/unit/watcher/observe/list-watch.test.ts',
  },
  'src/watcher/session/watcher.ts': {
    places: 3,
    bound: 'back-off to its cap; the release of the Lease: five seconds',
    merged: 'one loop in one process',
    playedBy: 'test/unit/watcher/session/watcher.test.ts',
  },
  'functions/reconcile/timers-together.ts': {
    places: 2,
    bound: '50 ms after the first timer of a batch',
    merged: 'one for each batch, cancelled when all its runs have sent theirs',
    playedBy: 'test/unit/functions/timers-together.test.ts',
  },
  'src/adapters/sqs/hint-queue.ts': {
    places: 1,
    bound: 'four tries of one entry',
    merged: 'one for all that a request did not bring in',
    playedBy: 'test/unit/adapters/sqs/hint-queue.test.ts',
  },
  'src/adapters/sqs/event-queue.ts': {
    places: 1,
    bound: 'the time-out of one send',
    merged: 'ends with the request',
    playedBy: 'test/integration/adapters/sqs/queues.test.ts',
  },
  'src/adapters/system/slim-heap.ts': {
    places: 2,
    bound: 'one timer a process, which does not keep it alive',
    merged: 'one loop in one process',
    playedBy: 'test/unit/adapters/system/slim-heap.test.ts',
  },
  'src/app/rollout/watch-rollout.ts': {
    places: 1,
    bound: 'the time-out of a watched rollout',
    merged: 'one loop in one command',
    playedBy: 'test/integration/cli/rollout.test.ts',
  },
  'src/adapters/eventbridge/signed-request.ts': {
    places: 1,
    bound: 'the time-out of one call',
    merged: 'ends with the request',
    playedBy: 'test/integration/local-aws/fleet-events.test.ts',
  },
  'src/app/fleet/notify/fleet-notifier.ts': {
    places: 1,
    bound: 'three puts of one telling, each pause twice the one before',
    merged: 'ends with the step that tells',
    playedBy: 'test/unit/app/fleet/notify/fleet-notifier.test.ts',
  },
  'src/adapters/kms/seal.ts': {
    places: 1,
    bound: 'the time-out of one call',
    merged: 'ends with the request',
    playedBy: 'test/unit/adapters/kms/seal.test.ts',
  },
  'src/adapters/kubernetes/transport/transport.ts': {
    places: 2,
    bound: 'the time-outs of one request',
    merged: 'cancelled with the request',
    playedBy: 'test/integration/adapters/kubernetes/transport/transport.test.ts',
  },
  'src/adapters/kubernetes/watch/watch-connection.ts': {
    places: 1,
    bound: 'the time-out of one connection',
    merged: 'cancelled with the connection',
    playedBy: 'test/integration/adapters/kubernetes/watch/watch-source.test.ts',
  },
  'src/adapters/kubernetes/transport/endpoint-probe.ts': {
    places: 1,
    bound: 'the time-out of one probe',
    merged: 'cancelled with the probe',
    playedBy: 'test/integration/doctor/rebuilt-cluster.test.ts',
  },
  'packages/base/src/system/system-clock.ts': {
    places: 1,
    bound: 'what the caller asks for: every other row',
    merged: 'the caller cancels it',
    playedBy: 'test/unit/adapters/system/clock-and-random.test.ts',
  },
};

const FOLDERS = [
  'src/app',
  'src/core',
  'src/watcher',
  'src/adapters',
  'packages/base/src',
  'functions',
];

/** Places that set a timer, by file; comments do not count. */
function placesInSources(): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const file of FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))) {
    const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
    const code = lines.filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line)).join('\n');
    const count = code.match(SETS_TIMER)?.length ?? 0;
    if (count > 0) found[file] = count;
  }
  return found;
}

test('L5: every place that sets a timer is in the table, and every row has its place', () => {
  const rows = Object.entries(TIMERS).map(([file, { places }]) => [file, places] as const);
  assert.deepEqual(placesInSources(), Object.fromEntries(rows.sort()));
});

test('L5: every timer is played by a test that there is', () => {
  const absent = Object.values(TIMERS).filter(({ playedBy }) => !existsSync(join(ROOT, playedBy)));
  assert.deepEqual(absent, []);
});

/** Why a key has a timer on the delay queue; each lasts until the world is mended. */
const REASONS: Readonly<Record<string, (world: TimedWorld) => void>> = {
  'finish: a write that meets a conflict': (world) => {
    answer(world, { kind: 'conflict', message: 'modified' });
    world.addNode('node-0009');
  },
  'finish: a write that is refused': (world) => {
    answer(world, { kind: 'refused', code: 'admission', status: 403, message: 'no' });
    world.addNode('node-0009');
  },
  'back-off: an API server that does not answer': (world) => {
    world.cluster.hooks.onRead = () => ({
      kind: 'unavailable',
      message: 'no answer',
      isRefused: false,
    });
    world.addNode('node-0009');
  },
  'back-off: no credential for the cluster': (world) => {
    world.connector.refusal = { kind: 'no-credential' };
    world.addNode('node-0009');
  },
  'deferral: own writes that the watcher never reports': (world) => {
    world.isSilent = true;
  },
  'look: a view that hides own pods while its marks advance': (world) => {
    world.mirror.hide = (pod) => nodeOf(pod) === 'node-0009';
    world.addNode('node-0009');
  },
  'unrecorded: a registry that cannot be read': (world) => {
    world.registry.hooks = {
      before: () => {
        throw new Error('injected: throttled');
      },
    };
  },
};

describe('L5: timers of the delay queue, with twenty hints a second beside them', () => {
  for (const [reason, harm] of Object.entries(REASONS)) {
    it(`${reason}: one chain, ever slower, that ends with its reason`, async () => {
      const world = new TimedWorld({ nodes: 2 });
      await world.settle();
      await world.play(60_000);
      harm(world);
      for (let hints = 0; hints < 20; hints += 1) {
        world.addNode('node-0001', { labels: { turn: String(hints) } });
        await world.mirror.sync();
        await world.look();
        await world.clock.advance(50);
      }
      const first = await world.play(10 * 60_000);
      assert.ok(first.runs <= 60, `${first.runs} runs in ten minutes`);
      world.cluster.hooks = {};
      world.connector.refusal = undefined;
      world.registry.hooks = {};
      world.isSilent = false;
      world.mirror.hide = () => false;
      await world.play(10 * 60_000);
      const last = await world.play(3_600_000);
      assert.equal(last.runs, 0, 'nobody looks at what is settled');
      assert.equal(last.pending, 0, 'the expiry of the memo has none');
    });
  }
});

function answer(world: TimedWorld, outcome: Outcome): void {
  world.cluster.hooks.beforeEffect = ({ kind }) =>
    kind === 'update-status' ? { kind: 'answer', outcome } : undefined;
}
