/** What pods in trouble cost in messages: a word that takes turns with another is no news each time (issue 17, ADR 0079). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WATCHED_KINDS, type PodTrouble } from '../../../../src/core/model/projections.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../../../src/watcher/session/options.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  podDraft,
} from '../../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../../support/watcher-harness.ts';

const HOUR_MS = 3_600_000;
/** Of a quiet cluster. */
const HEARTBEATS_PER_HOUR = Math.floor(HOUR_MS / DEFAULT_WATCHER_OPTIONS.heartbeat.idleMs);

interface World {
  readonly harness: WatcherHarness;
  /** Its kubelet writes this of the only container. */
  readonly say: (container: object) => void;
  /** Messages with a change, and all, since the last call. */
  readonly count: () => { readonly changes: number; readonly all: number };
  readonly seen: () => PodTrouble | undefined;
  readonly stop: () => Promise<void>;
}

async function settled(): Promise<World> {
  const harness = createWatcherHarness();
  const { source, clock } = harness;
  source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
  const draft = podDraft('p', { owner: 'ds1', node: 'n1' });
  const say = (container: object): void => {
    const time = new Date(clock.nowMs()).toISOString();
    const managedFields = [
      { manager: 'rollcall', time: '1960-01-01T00:00:00Z' },
      { manager: 'kubelet', subresource: 'status', time },
    ];
    const metadata = { ...draft.metadata, managedFields };
    const containerStatuses = [{ name: 'agent', restartCount: 0, ...container }];
    source.put('Pod', { ...draft, metadata, status: { phase: 'Pending', containerStatuses } });
  };
  say({ state: { waiting: { reason: 'ContainerCreating' } } });
  const watcher = await harness.startSettled();
  harness.news();
  return {
    harness,
    say,
    count: () => {
      const news = harness.news();
      const changes = news.filter(({ body }) => body.kind === 'changes' && body.deltas.length > 0);
      return { changes: changes.length, all: news.length };
    },
    seen: () => {
      const [pod] = harness.ingest().set('pods/ds1').values();
      return pod?.kind === 'Pod' ? pod.trouble : assert.fail('no pod');
    },
    stop: () => watcher.stop(),
  };
}

/** Streams are not silent: an API server sends bookmarks. */
async function idle({ clock, source }: WatcherHarness, durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 60_000) {
    await clock.advance(Math.min(60_000, durationMs - passedMs));
    for (const kind of WATCHED_KINDS) source.bookmark(kind);
  }
}

const waiting = (reason: string): object => ({ waiting: { reason } });

describe('an image that cannot be pulled', () => {
  it('is one message, at once, and then none however often the pull is tried', async () => {
    const { harness, say, count, seen, stop } = await settled();
    say({ state: waiting('ErrImagePull') });
    await harness.clock.advance(100);
    assert.deepEqual(count(), { changes: 1, all: 1 });
    assert.deepEqual(seen(), { waiting: 'ImagePullBackOff', container: 'agent' });
    for (let tries = 0; tries < 12; tries += 1) {
      say({ state: waiting('ImagePullBackOff') });
      await idle(harness, HOUR_MS / 12 - 1000);
      say({ state: waiting('ErrImagePull') });
      await harness.clock.advance(1000);
    }
    assert.deepEqual(count(), { changes: 0, all: HEARTBEATS_PER_HOUR });
    await stop();
  });
});

describe('a crash loop', () => {
  const crash = async (
    { harness, say }: World,
    { number, livesMs }: { readonly number: number; readonly livesMs: number },
  ): Promise<void> => {
    const restartCount = number;
    const lastState = number === 0 ? {} : endedAt(number);
    say({ state: { running: {} }, restartCount, lastState });
    await harness.clock.advance(livesMs);
    say({ state: endedAt(number + 1), restartCount, lastState });
    await harness.clock.advance(1000);
    say({ state: waiting('CrashLoopBackOff'), restartCount, lastState: endedAt(number + 1) });
    await idle(harness, HOUR_MS / 12 - livesMs - 1000);
  };
  const endedAt = (number: number): object => {
    const finishedAt = new Date(1_767_225_600_000 + number * 1000).toISOString();
    return { terminated: { reason: 'Error', exitCode: 1, finishedAt } };
  };

  it('is one message a crash where it crashes within seconds, two where it takes longer', async () => {
    for (const [livesMs, messages] of [
      [1000, 12],
      [20_000, 23],
    ] as const) {
      const world = await settled();
      for (let number = 0; number < 12; number += 1) await crash(world, { number, livesMs });
      const { changes, all } = world.count();
      assert.equal(changes, messages);
      assert.ok(all <= messages + HEARTBEATS_PER_HOUR, `${String(all)} messages`);
      assert.equal(world.seen()?.restarts, 11);
      await world.stop();
    }
  });
});
