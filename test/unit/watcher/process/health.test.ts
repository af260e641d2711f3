/** Probes: ready says whether the watcher does its work, live whether a restart could mend it (row 40). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import type { EventQueue } from '../../../../src/ports/queues/queue.ts';
import { WATCHED_KINDS, type WatchedKind } from '../../../../src/core/model/projections.ts';
import type {
  SourceFailure,
  WatchFrame,
  WatchSource,
} from '../../../../src/ports/cluster/watch-source.ts';
import { judgeHealth, type Health } from '../../../../src/watcher/process/health.ts';
import { observeQueue, observeSource, Vitals } from '../../../../src/watcher/process/vitals.ts';
import { watcherReadings } from '../../../../src/watcher/process/readings.ts';
import { createWatcher, type Watcher } from '../../../../src/watcher/session/watcher.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { createWatcherHarness, nodeDraft } from '../../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../../support/watcher-harness.ts';

const MINUTE_MS = 60_000;
const FINE: Health = { notLive: [], notReady: [] };

interface Probed {
  readonly harness: WatcherHarness;
  readonly watcher: Watcher;
  readonly vitals: Vitals;
  readonly look: () => Health;
  /** Lets time pass with a look each minute, as a kubelet does; fails when it is not live once. */
  readonly outlive: (minutes: number) => Promise<Health>;
}

/** A watcher with observed ports, running; ports may be replaced by worse ones. */
async function startProbed(
  worse: {
    readonly source?: (source: WatchSource) => WatchSource;
    readonly queue?: (queue: EventQueue) => EventQueue;
    readonly harness?: WatcherHarness;
  } = {},
): Promise<Probed> {
  const harness = worse.harness ?? createWatcherHarness();
  const { clock, log, metrics } = harness;
  const vitals = new Vitals(clock);
  const watcher = createWatcher({
    cluster: clusterId('c1'),
    source: observeSource(worse.source?.(harness.source) ?? harness.source, vitals),
    queue: observeQueue(worse.queue?.(harness.queue) ?? harness.queue, vitals),
    clock,
    random: seededRandom(7),
    log,
    metrics,
  });
  const look = (): Health =>
    judgeHealth({ signs: vitals.signs(), status: watcher.status() }, clock.monotonicMs());
  const outlive = async (minutes: number): Promise<Health> => {
    for (let minute = 0; minute < minutes; minute += 1) {
      await clock.advance(MINUTE_MS);
      beat(harness);
      assert.deepEqual(look().notLive, [], `after ${String(minute)} minutes`);
    }
    return look();
  };
  await watcher.start();
  await clock.advance(1000);
  return { harness, watcher, vitals, look, outlive };
}

function beat({ source }: WatcherHarness): void {
  for (const kind of WATCHED_KINDS) source.bookmark(kind);
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

describe('a watcher that works', () => {
  test('is live and ready, for hours, with nothing to send', async () => {
    const { outlive, watcher } = await startProbed();
    assert.deepEqual(await outlive(180), FINE);
    await watcher.stop();
  });

  test('is live and not ready before it has listed everything', async () => {
    const harness = createWatcherHarness();
    harness.source.faultOf = (request) =>
      'kind' in request && request.kind === 'Pod'
        ? { kind: 'unavailable', message: 'slow' }
        : undefined;
    const { look, watcher } = await startProbed({ harness });
    assert.deepEqual(look().notLive, []);
    assert.deepEqual(look().notReady, ['not yet watching: listing']);
    await watcher.stop();
  });

  test('that stands by is ready, as long as it can read the Lease', async () => {
    const harness = createWatcherHarness();
    const first = await startProbed({ harness });
    const second = await harness.startSettled(2);
    assert.deepEqual(await first.outlive(120), FINE);
    assert.equal(first.watcher.status().state, 'standby');
    harness.source.faultOf = () => ({ kind: 'unauthorized', message: 'HTTP 403' });
    const { notReady } = await first.outlive(120);
    assert.deepEqual(notReady, ['the Lease cannot be read or written: HTTP 403']);
    await first.watcher.stop();
    await second.stop();
  });
});

describe('what a restart cannot mend is told by readiness, and never costs a restart', () => {
  test('a queue that is away, or refuses the credential, for a day', async () => {
    const { harness, outlive, watcher } = await startProbed();
    harness.queue.faultOf = () => 'unsent';
    harness.source.put('Node', nodeDraft('n1'));
    const { notReady } = await outlive(24 * 60);
    assert.match(notReady.join(), /^no send has succeeded for 86\d\d\d s: connection refused$/);
    harness.queue.faultOf = () => undefined;
    assert.deepEqual(await outlive(2), FINE);
    await watcher.stop();
  });

  test('a queue that is away from the start on', async () => {
    const harness = createWatcherHarness();
    harness.queue.faultOf = () => 'ambiguous';
    const { outlive, watcher } = await startProbed({ harness });
    const { notReady } = await outlive(120);
    assert.match(notReady.join(), /not yet watching: announcing/);
    await watcher.stop();
  });

  test('an API server that is away for a day', async () => {
    const api: { failure?: SourceFailure } = {};
    const { harness, outlive, watcher } = await startProbed({
      source: (source) => refusing(source, () => api.failure),
    });
    api.failure = { kind: 'unavailable', message: 'ECONNREFUSED' };
    for (const kind of WATCHED_KINDS) harness.source.endStreams(kind);
    const { notReady } = await outlive(24 * 60);
    assert.match(notReady.join(), /the Lease cannot be read or written: ECONNREFUSED/);
    assert.match(notReady.join(), /Pod: silent for \d+ s: ECONNREFUSED/);
    delete api.failure;
    assert.deepEqual(await outlive(3), FINE);
    await watcher.stop();
  });

  test('a right that is missing for one kind, while everything else is answered', async () => {
    const api: { failure?: SourceFailure } = {};
    const { harness, outlive, watcher } = await startProbed({
      source: (source) => refusing(source, (kind) => (kind === 'Pod' ? api.failure : undefined)),
    });
    api.failure = { kind: 'unauthorized', message: 'HTTP 403' };
    harness.source.endStreams('Pod');
    const { notReady } = await outlive(6 * 60);
    assert.equal(notReady.length, 1);
    assert.match(notReady.join(), /^Pod: silent for \d+ s: HTTP 403$/);
    await watcher.stop();
  });
});

test('who takes over after hours of standing by has as long as anybody to open its streams', async () => {
  const harness = createWatcherHarness();
  const api: { failure?: SourceFailure } = {};
  const first = await startProbed({
    harness,
    source: (source) => refusing(source, (kind) => (kind === undefined ? undefined : api.failure)),
  });
  const second = await harness.startSettled(2);
  await first.outlive(120);
  api.failure = { kind: 'unavailable', message: 'HTTP 503' };
  await second.stop();
  const { notReady } = await first.outlive(10);
  assert.equal(first.watcher.status().state, 'running');
  assert.match(notReady.join(), /not yet watching: listing/);
  await first.watcher.stop();
});

describe('what is stuck in this process is not live', () => {
  test('a send that never comes back', async () => {
    let isStuck = false;
    const { harness, look, outlive, watcher } = await startProbed({
      queue: (queue) => ({
        freeze: (message) => queue.freeze(message),
        send: (frozen) => (isStuck ? never() : queue.send(frozen)),
      }),
    });
    isStuck = true;
    harness.source.put('Node', nodeDraft('n1'));
    await outlive(1);
    await harness.clock.advance(2 * MINUTE_MS);
    assert.match(look().notLive.join(), /^a send has been in flight for \d+ s$/);
    await watcher.stop();
  });

  test('a stream that neither brings anything nor can be aborted', async () => {
    const stuck = { next: () => never<IteratorResult<never>>() };
    const { harness, look, outlive } = await startProbed({
      source: (source) => ({
        ...bound(source),
        watch: (kind, options) =>
          kind === 'Pod' ? { [Symbol.asyncIterator]: () => stuck } : source.watch(kind, options),
      }),
    });
    await outlive(14);
    await harness.clock.advance(3 * MINUTE_MS);
    assert.match(look().notLive.join(), /^Pod: nothing was tried for \d+ s$/);
  });

  test('streams and lists of one kind without a byte, while the API server answers others', async () => {
    let isSilent = false;
    const api: { failure?: SourceFailure } = {};
    const { harness, look, outlive, watcher } = await startProbed({
      source: (source) => {
        const fallible = refusing(source, () => api.failure);
        const isMute = (kind?: WatchedKind): boolean =>
          isSilent && kind === 'Pod' && api.failure === undefined;
        return {
          ...fallible,
          listPage: (kind, options) =>
            isMute(kind) ? untilAbort(options.signal) : fallible.listPage(kind, options),
          watch: (kind, options) =>
            isMute(kind) ? silentStream(options.signal) : fallible.watch(kind, options),
        };
      },
    });
    isSilent = true;
    harness.source.endStreams('Pod');
    await outlive(15);
    await harness.clock.advance(2 * MINUTE_MS);
    assert.match(look().notLive.join(), /^Pod: silent for \d+ s though the API server answers$/);
    // With an API server that answers nobody the same silence is not this process's.
    api.failure = { kind: 'unavailable', message: 'away' };
    await harness.clock.advance(2 * MINUTE_MS);
    await outlive(30);
    await watcher.stop();
  });

  test('a Lease that nobody asks for any more', async () => {
    let isStuck = false;
    const { harness, look, outlive } = await startProbed({
      source: (source) => ({
        ...bound(source),
        readLease: () => (isStuck ? never() : source.readLease()),
      }),
    });
    isStuck = true;
    await outlive(14);
    await harness.clock.advance(3 * MINUTE_MS);
    assert.match(look().notLive.join(), /^no request for the Lease for \d+ s$/);
  });
});

test('readings name the state, the ages and the figures of the session', async () => {
  const { harness, look, vitals, watcher } = await startProbed();
  harness.source.put('Node', nodeDraft('n1'));
  await harness.clock.advance(30_000);
  const readings = watcherReadings(
    { signs: vitals.signs(), status: watcher.status(), health: look() },
    harness.clock.monotonicMs(),
  );
  const valueOf = (name: string, label?: string): number | undefined =>
    readings.find(
      (reading) =>
        reading.name === `rollcall_watcher_${name}` &&
        (label === undefined || Object.values(reading.labels ?? {}).includes(label)),
    )?.value;
  assert.equal(valueOf('live'), 1);
  assert.equal(valueOf('ready'), 1);
  assert.equal(valueOf('state', 'running'), 1);
  assert.equal(valueOf('state', 'standby'), 0);
  assert.equal(valueOf('epoch'), Number(watcher.status().epoch));
  assert.equal(valueOf('sequence'), watcher.status().session?.seq);
  assert.equal(valueOf('objects', 'Node'), 1);
  assert.equal(valueOf('outbox_objects'), 0);
  assert.equal(valueOf('lists_total', 'Pod'), 1);
  assert.equal(valueOf('sends_failing_seconds'), 0);
  assert.ok((valueOf('stream_age_seconds', 'Node') ?? Number.NaN) <= 30);
  assert.ok((valueOf('accepted_age_seconds') ?? Number.NaN) <= 30);
  assert.ok((valueOf('lease_age_seconds') ?? Number.NaN) <= 12);
  await watcher.stop();
});

/** The methods of a port as a plain object, to replace single ones. */
function bound(source: WatchSource): WatchSource {
  return {
    getClusterUid: () => source.getClusterUid(),
    listPage: (kind, options) => source.listPage(kind, options),
    watch: (kind, options) => source.watch(kind, options),
    readLease: () => source.readLease(),
    writeLease: (lease) => source.writeLease(lease),
  };
}

/** A page that never comes, until the watchdog gives it up. */
function untilAbort(signal: AbortSignal): ReturnType<WatchSource['listPage']> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve({ kind: 'failed', failure: { kind: 'unavailable', message: 'aborted' } });
    });
  });
}

async function* silentStream(signal: AbortSignal): AsyncGenerator<WatchFrame> {
  await untilAbort(signal);
  yield* [];
}

/** A source whose requests fail while there is a failure, as the adapter's do: without a byte. */
function refusing(
  source: WatchSource,
  failureOf: (kind?: WatchedKind) => SourceFailure | undefined,
): WatchSource {
  const or = <T>(failure: SourceFailure | undefined, request: () => Promise<T>) =>
    failure === undefined ? request() : Promise.resolve({ kind: 'failed', failure } as const);
  return {
    getClusterUid: () => or(failureOf(), () => source.getClusterUid()),
    readLease: () => or(failureOf(), () => source.readLease()),
    writeLease: (lease) => or(failureOf(), () => source.writeLease(lease)),
    listPage: (kind, options) => or(failureOf(kind), () => source.listPage(kind, options)),
    watch: (kind, options) => {
      const failure = failureOf(kind);
      return failure === undefined ? source.watch(kind, options) : failedStream(failure);
    },
  };
}

async function* failedStream(failure: SourceFailure): AsyncGenerator<WatchFrame> {
  await Promise.resolve();
  yield { kind: 'failed', failure };
}
