/** What is sent, when, and what happens when sending fails (design 2; protocol 2, 22; rows 84, 89, 91). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WATCHED_KINDS } from '../../../src/core/model/projections.ts';
import type { Cut, WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../../src/watcher/session/options.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
  revisionDraft,
} from '../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

function deltaNames(messages: readonly WatcherMessage[]): string[] {
  return messages.flatMap(({ body }) =>
    body.kind === 'changes' ? body.deltas.map(({ name }) => name) : [],
  );
}

function cutOf(message: WatcherMessage | undefined): Cut | undefined {
  const body = message?.body;
  return body?.kind === 'changes' || body?.kind === 'manifest' ? body.cut : undefined;
}

/** Lets time pass in a cluster where nothing happens: the server sends its bookmarks. */
async function idle(harness: WatcherHarness, durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 60_000) {
    await harness.clock.advance(Math.min(60_000, durationMs - passedMs));
    for (const kind of WATCHED_KINDS) harness.source.bookmark(kind);
  }
}

describe('protocol 1: the age of a cut', () => {
  test('grows from try to try of the same bytes, and is none where there is no cut', async () => {
    const harness = createWatcherHarness({ sendBackoffBaseMs: 60_000, sendBackoffCapMs: 60_000 });
    const watcher = await harness.startSettled();
    const { tries, cutAgesMs } = harness.queue;
    for (const [index, { message }] of tries.entries()) {
      assert.equal(cutAgesMs[index] === undefined, cutOf(message) === undefined);
    }
    const before = tries.length;
    harness.queue.faults.push('unsent', 'unsent', 'unsent');
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(600_000);
    const repeated = tries.slice(before).filter(({ body }) => body === tries[before]?.body);
    assert.equal(repeated.length, 4);
    const ages = cutAgesMs.slice(before, before + 4).map((ageMs) => ageMs ?? -1);
    assert.ok((ages[0] ?? -1) >= 0 && (ages[0] ?? 0) < 10);
    for (const [index, ageMs] of ages.entries()) assert.ok(ageMs >= index * 1000, ages.join());
    assert.deepEqual(
      ages.toSorted((left, right) => left - right),
      ages,
    );
    await watcher.stop();
  });

  test('counts what a machine slept through, when its monotonic clock stood still', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.queue.faults.push('unsent');
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(10);
    harness.clock.stepWall(3_600_000);
    await harness.clock.advance(60_000);
    assert.ok(harness.queue.cutAgesMs.some((ageMs) => (ageMs ?? 0) >= 3_600_000));
    await watcher.stop();
  });
});

describe('flush', () => {
  test('comes a few milliseconds after a change, and no sooner than 250 ms after the one before', async () => {
    const harness = createWatcherHarness({ flush: DEFAULT_WATCHER_OPTIONS.flush });
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    const watcher = await harness.startSettled();
    harness.news();
    for (let index = 0; index < 100; index += 1) {
      harness.source.put('Pod', podDraft(`p${String(index)}`, { app: 'agent' }));
      await harness.clock.advance(4);
      if (index === 1) assert.deepEqual(deltaNames(harness.news()), ['p0', 'p1']);
      if (index === 62) assert.equal(harness.news().length, 0);
    }
    const [second] = harness.news();
    assert.equal(deltaNames(second === undefined ? [] : [second]).length, 62);
    await watcher.stop();
  });

  test('carries the newest state per object, and nothing for one that came and went', async () => {
    const harness = createWatcherHarness();
    harness.source.put('Node', nodeDraft('n1'));
    const watcher = await harness.startSettled();
    harness.news();
    harness.queue.faults.push('unsent', 'unsent', 'unsent');
    harness.source.put('Node', nodeDraft('first'));
    await harness.clock.advance(20);
    for (let round = 0; round < 50; round += 1) {
      harness.source.put('Node', nodeDraft('n1', { spec: { unschedulable: round % 2 === 0 } }));
      harness.source.put('Node', nodeDraft(`short-lived-${String(round)}`));
      harness.source.remove('Node', { name: `short-lived-${String(round)}` });
    }
    harness.source.put('Node', nodeDraft('n2'));
    await harness.clock.advance(5000);
    assert.deepEqual(deltaNames(harness.news()), ['first', 'n2']);
    harness.ingest();
    await watcher.stop();
  });

  test('only its last message carries marks and hashes, however many it takes (protocol 2)', async () => {
    const harness = createWatcherHarness({ messageBytesMax: 2000 });
    const watcher = await harness.startSettled();
    harness.news();
    for (let index = 0; index < 40; index += 1) {
      harness.source.put('Node', nodeDraft(`n${String(index)}`));
    }
    const { version } = harness.source;
    await harness.clock.advance(6);
    const messages = harness.news();
    assert.ok(messages.length > 3);
    assert.ok(messages.every(({ body }) => JSON.stringify(body).length <= 2000));
    assert.ok(messages.slice(0, -1).every((message) => cutOf(message) === undefined));
    assert.equal(cutOf(messages.at(-1))?.marks.Node, String(version));
    assert.equal(harness.ingest().set('nodes').size, 40);
    await watcher.stop();
  });

  test('its marks are those of its beginning: what comes while it is sent is not covered', async () => {
    const harness = createWatcherHarness({ messageBytesMax: 2000 });
    const watcher = await harness.startSettled();
    harness.news();
    harness.queue.sendMs = 50;
    for (let index = 0; index < 20; index += 1) {
      harness.source.put('Node', nodeDraft(`n${String(index)}`));
    }
    const versionAtStart = harness.source.version;
    await harness.clock.advance(60);
    harness.source.put('Node', nodeDraft('late'));
    await harness.clock.advance(5000);
    const messages = harness.news();
    const firstCut = messages.findIndex((message) => cutOf(message) !== undefined);
    assert.equal(cutOf(messages[firstCut])?.marks.Node, String(versionAtStart));
    assert.ok(!deltaNames(messages.slice(0, firstCut + 1)).includes('late'));
    assert.ok(deltaNames(messages.slice(firstCut + 1)).includes('late'));
    await watcher.stop();
  });

  test('DaemonSets go before what belongs to them', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.news();
    harness.source.put('Pod', podDraft('p', { owner: 'ds1' }));
    harness.source.put('ControllerRevision', revisionDraft('r', 'ds1'));
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    await harness.clock.advance(10);
    assert.deepEqual(deltaNames(harness.news()), ['agent', 'p', 'r']);
    await watcher.stop();
  });
});

describe('failed sends', () => {
  test('an ambiguous send is repeated with the same bytes, although more changed since (row 89)', async () => {
    for (const fault of ['ambiguous', 'lost-answer', 'unsent'] as const) {
      const harness = createWatcherHarness();
      const watcher = await harness.startSettled();
      harness.queue.tries.length = 0;
      harness.queue.faults.push(fault, fault, fault);
      harness.source.put('Node', nodeDraft('n1'));
      await harness.clock.advance(10);
      harness.source.put('Node', nodeDraft('n1', { spec: { unschedulable: true } }));
      await harness.clock.advance(5000);
      const [first, ...others] = harness.queue.tries;
      assert.equal(others.filter(({ body }) => body === first?.body).length, 3);
      const node = [...harness.ingest().set('nodes').values()][0];
      assert.equal(node?.kind === 'Node' && node.unschedulable, true);
      await watcher.stop();
    }
  });

  test('one send is in flight, and seq grows by one (row 89)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.queue.sendMs = 100;
    for (let index = 0; index < 30; index += 1) {
      harness.source.put('Node', nodeDraft(`n${String(index)}`));
      await harness.clock.advance(20);
    }
    await harness.clock.advance(1000);
    assert.equal(harness.queue.inFlightMax, 1);
    const seqs = harness.queue.accepted.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
    );
    assert.equal(harness.ingest().set('nodes').size, 30);
    await watcher.stop();
  });

  test('an outage of hours costs a message per object, not per event', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    let isDown = true;
    harness.queue.faultOf = () => (isDown ? 'unsent' : undefined);
    for (let hour = 0; hour < 5; hour += 1) {
      for (let beat = 0; beat < 100; beat += 1) {
        harness.source.put(
          'Node',
          nodeDraft('n1', { metadata: { name: 'n1', labels: { beat: String(beat) } } }),
        );
        harness.source.put(
          'Node',
          nodeDraft('n2', { metadata: { name: 'n2', labels: { beat: String(beat) } } }),
        );
      }
      await harness.clock.advance(3_600_000);
      assert.ok((watcher.status().session?.waiting ?? 0) <= 2);
    }
    harness.news();
    isDown = false;
    await harness.clock.advance(60_000);
    assert.ok(deltaNames(harness.news()).length <= 4);
    assert.equal(harness.ingest().set('nodes').size, 2);
    await watcher.stop();
  });

  test('a throttled send waits as long as it was told to', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.queue.tries.length = 0;
    harness.queue.faults.push({ kind: 'throttled', retryAfterMs: 7000 });
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(7000);
    assert.equal(harness.queue.tries.length, 1);
    await harness.clock.advance(10);
    assert.equal(harness.queue.tries.length, 2);
    await watcher.stop();
  });

  test('a refused body leads to a new epoch; the culprit travels opaque in the end (protocol 22)', async () => {
    const harness = createWatcherHarness();
    for (let index = 0; index < 20; index += 1) {
      harness.source.put('Node', nodeDraft(`n${String(index)}`));
    }
    const poison = harness.source.put('DaemonSet', {
      ...daemonSetDraft('poison'),
      secret: 'poison!',
    });
    harness.queue.faultOf = (message) =>
      JSON.stringify(message).includes('poison!') ? 'refused' : undefined;
    const watcher = harness.newWatcher();
    await watcher.start();
    await harness.clock.advance(6 * 3_600_000);
    const announcements = harness.queue.bodies('announcement').map(({ reason }) => reason);
    assert.ok(announcements.length >= 2 && announcements.length < 20);
    assert.equal(announcements[1], 'refused-body');
    const reader = harness.ingest();
    assert.equal(reader.isComplete, true);
    assert.equal(reader.set('nodes').size, 20);
    assert.equal(reader.set('daemonsets').get(poison.metadata.uid)?.kind, 'Opaque');
    await watcher.stop();
  });
});

describe('marks', () => {
  test('do not move during a list, although its items come with versions (row 84)', async () => {
    const harness = createWatcherHarness();
    harness.source.hasWatchList = false;
    for (let index = 0; index < 1200; index += 1) {
      harness.source.put('Node', nodeDraft(`n${String(index)}`));
    }
    const watcher = harness.newWatcher();
    let release: (() => void) | undefined;
    const listPage = harness.source.listPage.bind(harness.source);
    harness.source.listPage = async (kind, options) => {
      if (kind === 'Node' && options.continueToken !== undefined) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      return listPage(kind, options);
    };
    await watcher.start();
    await harness.clock.advance(1000);
    assert.equal(watcher.status().session?.marks.Node, undefined);
    assert.deepEqual(
      harness.queue.accepted.map(({ body }) => body.kind),
      ['announcement'],
    );
    // A heartbeat of a listed node races the list: it is part of the stream that begins at the list.
    harness.source.put('Node', nodeDraft('n0', { spec: { unschedulable: true } }));
    const unsubscribed = release;
    harness.source.listPage = listPage;
    unsubscribed?.();
    await harness.clock.advance(5000);
    assert.equal(harness.ingest().set('nodes').size, 1200);
    const cut = harness.queue.bodies('manifest')[0]?.cut;
    assert.ok(Number(cut?.marks.Node) >= 2200);
    await watcher.stop();
  });
});

describe('heartbeats', () => {
  test('come within a second of an event of a DaemonSet or its pods that was filtered away', async () => {
    const harness = createWatcherHarness({ flush: DEFAULT_WATCHER_OPTIONS.flush });
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    harness.source.put('Pod', podDraft('p', { owner: 'ds1', noise: 1 }));
    const watcher = await harness.startSettled();
    harness.news();
    harness.source.put('Pod', podDraft('p', { owner: 'ds1', noise: 2 }));
    const { version } = harness.source;
    await harness.clock.advance(1000);
    const news = harness.news();
    assert.equal(news.length, 1);
    assert.equal(cutOf(news[0])?.marks.Pod, String(version));
    assert.deepEqual(deltaNames(news), []);
    await watcher.stop();
  });

  test('count the events that were filtered away since the heartbeat before, each once', async () => {
    const harness = createWatcherHarness({ flush: DEFAULT_WATCHER_OPTIONS.flush });
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    harness.source.put('Pod', podDraft('p', { owner: 'ds1', noise: 1 }));
    const watcher = await harness.startSettled();
    for (const noise of [2, 3, 4]) {
      harness.source.put('Pod', podDraft('p', { owner: 'ds1', noise }));
      await harness.clock.advance(1010);
    }
    assert.equal(harness.metrics.sum('WatcherFilteredEvents'), 3);
    await watcher.stop();
  });

  test('come within a second when an own create vanished before it was sent (row 91)', async () => {
    const harness = createWatcherHarness({ flush: DEFAULT_WATCHER_OPTIONS.flush });
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
    const watcher = await harness.startSettled();
    harness.news();
    harness.source.put('Pod', podDraft('p', { owner: 'ds1' }));
    await harness.clock.advance(2);
    harness.source.remove('Pod', { name: 'p', namespace: 'infra' });
    const { version } = harness.source;
    await harness.clock.advance(1010);
    const news = harness.news();
    assert.deepEqual(deltaNames(news), []);
    assert.equal(cutOf(news.at(-1))?.marks.Pod, String(version));
    await watcher.stop();
  });

  test('a filtered node event, and pods of others, cost nothing', async () => {
    const harness = createWatcherHarness();
    harness.source.put('Node', nodeDraft('n1', { status: { beat: 1 } }));
    const watcher = await harness.startSettled();
    harness.news();
    for (let beat = 0; beat < 100; beat += 1) {
      harness.source.put(
        'Node',
        nodeDraft('n1', { status: { beat, conditions: [{ type: 'Ready', status: 'True' }] } }),
      );
      harness.source.put('Pod', podDraft('stray', { app: 'other', noise: beat }));
      await harness.clock.advance(1000);
    }
    assert.deepEqual(deltaNames(harness.news()), ['n1']);
    await watcher.stop();
  });

  test('come every 30 s while a rollout runs, else every 13 minutes', async () => {
    const harness = createWatcherHarness();
    const rolling = { observedGeneration: 0, desiredNumberScheduled: 5, updatedNumberScheduled: 1 };
    const watcher = await harness.startSettled();
    harness.news();
    await idle(harness, 3_600_000);
    assert.equal(harness.news().length, 4);
    harness.source.put('DaemonSet', daemonSetDraft('agent', { status: rolling }));
    await harness.clock.advance(1000);
    harness.news();
    await idle(harness, 300_000);
    assert.equal(harness.news().length, 10);
    harness.source.put('DaemonSet', daemonSetDraft('agent'));
    await harness.clock.advance(1000);
    harness.news();
    await idle(harness, 778_000);
    assert.equal(harness.news().length, 0);
    await idle(harness, 3000);
    assert.equal(harness.news().length, 1);
    await watcher.stop();
  });

  test('tell for how long each stream was silent (protocol 1)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.news();
    await harness.clock.advance(60_000);
    harness.source.bookmark('Node');
    await harness.clock.advance(1);
    harness.source.put('DaemonSet', daemonSetDraft('agent'));
    await harness.clock.advance(10);
    const silentMs = cutOf(harness.news().at(-1))?.silentMs;
    assert.ok(silentMs !== undefined);
    assert.ok((silentMs.Node ?? 0) < 20);
    assert.ok((silentMs.Pod ?? 0) > 60_000);
    await watcher.stop();
  });
});

describe('sets', () => {
  test('an orphan seen before its DaemonSet is sent once a selector matches it (row 85)', async () => {
    const harness = createWatcherHarness();
    const pod = harness.source.put('Pod', podDraft('p', { app: 'agent' }));
    const watcher = await harness.startSettled();
    assert.equal(
      [...harness.ingest().sets.keys()].some((set) => set.startsWith('pods/')),
      false,
    );
    const daemonSet = harness.source.put('DaemonSet', daemonSetDraft('agent'));
    await harness.clock.advance(10);
    const set = `pods/${daemonSet.metadata.uid}` as const;
    assert.ok(harness.ingest().set(set).has(pod.metadata.uid));
    harness.source.remove('DaemonSet', { name: 'agent', namespace: 'infra' });
    await harness.clock.advance(10);
    assert.equal(harness.ingest().set(set).size, 0);
    await watcher.stop();
  });

  test('a delta names the sets under which its object was last sent (protocol 21)', async () => {
    const harness = createWatcherHarness();
    const pod = harness.source.put('Pod', podDraft('p', { owner: 'ds1' }));
    const watcher = await harness.startSettled();
    harness.news();
    harness.source.put('Pod', podDraft('p', { owner: 'ds2' }));
    await harness.clock.advance(10);
    const [body] = harness.news().map((message) => message.body);
    const delta = body?.kind === 'changes' ? body.deltas[0] : undefined;
    assert.deepEqual(
      delta?.formerSets.map(({ set }) => set),
      ['pods/ds1'],
    );
    assert.deepEqual(
      delta?.sets.map(({ set }) => set),
      ['pods/ds2'],
    );
    assert.equal(harness.ingest().set('pods/ds2').has(pod.metadata.uid), true);
    await watcher.stop();
  });

  test('delete and re-create under one name are two objects, whatever was missed (rows 38, 39)', async () => {
    const harness = createWatcherHarness();
    harness.source.put('Node', nodeDraft('n1'));
    const watcher = await harness.startSettled();
    harness.news();
    const raw = {
      ...nodeDraft('n1'),
      metadata: { name: 'n1', uid: 'reborn', resourceVersion: '9999' },
    };
    harness.source.send('Node', { kind: 'modified', object: raw });
    await harness.clock.advance(10);
    const [body] = harness.news().map((message) => message.body);
    const deltas = body?.kind === 'changes' ? body.deltas : [];
    assert.deepEqual(
      deltas.map(({ uid, object }) => [uid, object === null]),
      [
        ['node-uid-1', true],
        ['reborn', false],
      ],
    );
    await watcher.stop();
  });
});
