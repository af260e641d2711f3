/** One list-watch against everything an API server does to it (design 2; aws-facts 8; faults 35–37). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { FrameStream } from '../../../support/frame-stream.ts';
import type { SourceRequest } from '../../../support/scripted-watch-source.ts';
import {
  createWatcherHarness,
  listWatchOptions,
  nodeDraft,
} from '../../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../../support/watcher-harness.ts';

function watches(harness: WatcherHarness): readonly Extract<SourceRequest, { op: 'watch' }>[] {
  return harness.source.requests.filter(
    (request): request is Extract<SourceRequest, { op: 'watch' }> =>
      request.op === 'watch' && request.kind === 'Node',
  );
}

function lists(harness: WatcherHarness): readonly SourceRequest[] {
  return harness.source.requests.filter(
    (request) => request.op === 'list' && request.kind === 'Node',
  );
}

describe('list', () => {
  test('a WatchList is asked for first, never a version 0, with jittered time-outs', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const [first] = watches(harness);
    assert.equal(first?.options.sendInitialEvents, true);
    assert.equal(first.options.resourceVersion, undefined);
    const timeouts = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      harness.source.bookmark('Node');
      harness.source.endStreams('Node');
      await harness.clock.advance(10);
    }
    for (const { options } of watches(harness)) {
      assert.ok(options.timeoutSeconds >= 240 && options.timeoutSeconds <= 480);
      assert.notEqual(options.resourceVersion, '0');
      timeouts.add(options.timeoutSeconds);
    }
    assert.ok(timeouts.size > 10);
    await watcher.stop();
  });

  test('a server without WatchList is listed in pages of 500, which are applied whole', async () => {
    const harness = createWatcherHarness();
    harness.source.hasWatchList = false;
    for (let index = 0; index < 1200; index += 1) {
      harness.source.put('Node', nodeDraft(`n${String(index)}`));
    }
    const watcher = await harness.startSettled();
    assert.equal(lists(harness).length, 3);
    assert.equal(harness.ingest().set('nodes').size, 1200);
    const version = String(harness.source.version);
    assert.equal(watches(harness).at(-1)?.options.resourceVersion, version);
    await watcher.stop();
  });

  test('a server that ignores sendInitialEvents is recognised by its plain bookmark', async () => {
    const harness = createWatcherHarness();
    harness.source.put('Node', nodeDraft('n1'));
    const watch = harness.source.watch.bind(harness.source);
    harness.source.watch = (kind, options) => {
      if (!options.sendInitialEvents) return watch(kind, options);
      const stream = new FrameStream(options);
      for (const object of harness.source.objects(kind)) stream.push({ kind: 'added', object });
      stream.push({
        kind: 'bookmark',
        resourceVersion: resourceVersion('1'),
        isInitialEventsEnd: false,
      });
      return stream;
    };
    const watcher = await harness.startSettled();
    assert.equal(lists(harness).length, 1);
    assert.equal(harness.ingest().set('nodes').size, 1);
    await watcher.stop();
  });

  test('an object that is deleted among the initial events is not listed', async () => {
    const harness = createWatcherHarness();
    const gone = harness.source.put('Node', nodeDraft('n1'));
    harness.source.put('Node', nodeDraft('n2'));
    const watch = harness.source.watch.bind(harness.source);
    harness.source.watch = (kind, options) => {
      if (!options.sendInitialEvents || kind !== 'Node') return watch(kind, options);
      const stream = new FrameStream(options);
      for (const object of harness.source.objects(kind)) stream.push({ kind: 'added', object });
      stream.push({ kind: 'deleted', object: gone });
      stream.push({
        kind: 'bookmark',
        resourceVersion: resourceVersion(String(harness.source.version)),
        isInitialEventsEnd: true,
      });
      return stream;
    };
    const watcher = await harness.startSettled();
    assert.equal(lists(harness).length, 0);
    assert.equal(watcher.status().session?.objects.Node, 1);
    await watcher.stop();
  });

  test('a list that fails on its second page has changed nothing (row 35, #14528)', async () => {
    const harness = createWatcherHarness();
    harness.source.hasWatchList = false;
    for (let index = 0; index < 600; index += 1) {
      harness.source.put('Node', nodeDraft(`n${String(index)}`));
    }
    const watcher = await harness.startSettled();
    harness.news();
    for (const kind of ['expired', 'unavailable'] as const) {
      let failures = 0;
      harness.source.faultOf = (request) => {
        const isSecondPage = request.op === 'list' && request.continueToken !== undefined;
        if (!isSecondPage || failures >= 3) return undefined;
        failures += 1;
        return { kind, message: 'page failed' };
      };
      harness.source.silence('Node');
      harness.source.put(
        'Node',
        nodeDraft('extra', { spec: { unschedulable: kind === 'expired' } }),
      );
      harness.source.compact('Node');
      harness.source.endStreams('Node');
      harness.source.unsilence('Node');
      await harness.clock.advance(120_000);
      assert.equal(failures, 3);
    }
    const deltas = harness
      .news()
      .flatMap(({ body }) => (body.kind === 'changes' ? body.deltas : []));
    assert.ok(deltas.every(({ name, object }) => name === 'extra' && object !== null));
    assert.equal(harness.ingest().set('nodes').size, 601);
    await watcher.stop();
  });
});

describe('watch', () => {
  test('a stream that ends resumes from the last version, at once and without a list', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const object = harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(1);
    harness.source.endStreams('Node');
    const missed = harness.source.put('Node', nodeDraft('n2'));
    await harness.clock.advance(10);
    assert.equal(watches(harness).at(-1)?.options.resourceVersion, object.metadata.resourceVersion);
    assert.equal(watches(harness).at(-1)?.options.sendInitialEvents, false);
    assert.ok(harness.ingest().set('nodes').has(missed.metadata.uid));
    await watcher.stop();
  });

  test('bookmarks move the mark and the version to resume from on a quiet kind (row 37)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.source.version += 500;
    harness.source.bookmark('Node');
    await harness.clock.advance(1);
    const version = String(harness.source.version);
    harness.source.endStreams('Node');
    await harness.clock.advance(10);
    assert.equal(watches(harness).at(-1)?.options.resourceVersion, version);
    assert.equal(watcher.status().session?.marks.Node, version);
    await watcher.stop();
  });

  test('after 410 a relist sends the difference as deltas, without a snapshot', async () => {
    const harness = createWatcherHarness();
    for (const name of ['n1', 'n2', 'n3']) harness.source.put('Node', nodeDraft(name));
    const watcher = await harness.startSettled();
    harness.news();
    harness.source.silence('Node');
    harness.source.remove('Node', { name: 'n1' });
    harness.source.put('Node', nodeDraft('n2', { spec: { unschedulable: true } }));
    harness.source.put('Node', nodeDraft('n4'));
    harness.source.compact('Node');
    harness.source.endStreams('Node');
    harness.source.unsilence('Node');
    await harness.clock.advance(1000);
    const news = harness.news();
    assert.deepEqual(
      news.map(({ body }) => body.kind),
      ['changes'],
    );
    const deltas = news.flatMap(({ body }) => (body.kind === 'changes' ? body.deltas : []));
    assert.deepEqual(deltas.map(({ name, object }) => [name, object === null]).sort(), [
      ['n1', true],
      ['n2', false],
      ['n4', false],
    ]);
    await watcher.stop();
  });

  test('no failure is the last: each is followed by another try, with back-off (row 36)', async () => {
    const kinds = ['unavailable', 'unauthorized', 'throttled', 'unsupported', 'expired'] as const;
    for (const kind of kinds) {
      const harness = createWatcherHarness();
      const watcher = await harness.startSettled();
      harness.source.faultOf = ({ op }) => (op === 'watch' ? { kind, message: 'no' } : undefined);
      harness.source.endStreams('Node');
      await harness.clock.advance(600_000);
      const tries = watches(harness).length;
      assert.ok(tries > 15 && tries < 80, `${kind}: ${String(tries)} tries in ten minutes`);
      harness.source.faultOf = () => undefined;
      await harness.clock.advance(60_000);
      harness.source.put('Node', nodeDraft('late'));
      await harness.clock.advance(10);
      assert.equal(harness.ingest().set('nodes').size, 1, kind);
      await watcher.stop();
    }
  });

  test('what works begins the back-off anew: a failure long after an outage costs its base (row 36)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const fault = { kind: 'unavailable', message: 'no' } as const;
    harness.source.faultOf = ({ op }) => (op === 'watch' ? fault : undefined);
    harness.source.endStreams('Node');
    await harness.clock.advance(600_000);
    harness.source.faultOf = () => undefined;
    await harness.clock.advance(60_000);
    harness.source.put('Node', nodeDraft('seen'));
    await harness.clock.advance(10);
    const before = watches(harness).length;
    harness.source.faultOf = ({ op }) =>
      op === 'watch' && watches(harness).length === before + 1 ? fault : undefined;
    harness.source.endStreams('Node');
    await harness.clock.advance(1000);
    assert.equal(watches(harness).length, before + 2);
    await watcher.stop();
  });

  test('Retry-After is honoured', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const before = watches(harness).length;
    harness.source.faultOf = ({ op }) =>
      op === 'watch'
        ? { kind: 'throttled', message: 'slow down', retryAfterMs: 20_000 }
        : undefined;
    harness.source.endStreams('Node');
    await harness.clock.advance(19_999);
    assert.equal(watches(harness).length, before + 1);
    await harness.clock.advance(10);
    assert.equal(watches(harness).length, before + 2);
    await watcher.stop();
  });

  test('a silent stream is aborted and resumed; twice in a row, the kind is listed (row 36)', async () => {
    const harness = createWatcherHarness(listWatchOptions({ silenceMsMax: 1000 }));
    const watcher = await harness.startSettled();
    harness.source.silence('Node');
    const before = watches(harness).length;
    await harness.clock.advance(900);
    assert.equal(harness.source.openStreams('Node'), 1);
    // Its position is still good for all that the server says: only the second silence makes it doubtful.
    await harness.clock.advance(4000);
    const later = watches(harness).slice(before, before + 2);
    assert.deepEqual(
      later.map(({ options }) => options.sendInitialEvents),
      [false, true],
      'resumed once, then listed',
    );
    await watcher.stop();
  });

  test('a silent stream whose history is gone meanwhile is listed at once (row 36)', async () => {
    const harness = createWatcherHarness(listWatchOptions({ silenceMsMax: 1000 }));
    const watcher = await harness.startSettled();
    harness.source.silence('Node');
    const object = harness.source.put('Node', nodeDraft('n1'));
    harness.source.compact('Node');
    await harness.clock.advance(4000);
    assert.ok(harness.ingest().set('nodes').has(object.metadata.uid));
    await watcher.stop();
  });

  test('a line that cannot be read leads to a relist, and is counted', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.source.send('Node', { kind: 'undecodable', message: 'no JSON' });
    await harness.clock.advance(1000);
    assert.equal(watches(harness).at(-1)?.options.sendInitialEvents, true);
    assert.equal(harness.metrics.sum('WatcherStreamEnds', 'broken'), 1);
    await watcher.stop();
  });

  test('an object without identity is counted and the stream goes on (row 36)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    harness.source.send('Node', { kind: 'added', object: { metadata: {} } as never });
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(10);
    assert.equal(harness.ingest().set('nodes').size, 1);
    assert.equal(harness.metrics.sum('WatcherUnidentifiedObjects'), 1);
    await watcher.stop();
  });

  test('a source that throws is a bug that is counted, not a dead stream (row 36)', async () => {
    const harness = createWatcherHarness();
    const watcher = await harness.startSettled();
    const watch = harness.source.watch.bind(harness.source);
    harness.source.watch = () => {
      throw new Error('bug');
    };
    harness.source.endStreams('Node');
    await harness.clock.advance(5000);
    harness.source.watch = watch;
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(60_000);
    assert.ok(harness.metrics.sum('WatcherBugs', 'stream') > 0);
    assert.equal(harness.ingest().set('nodes').size, 1);
    await watcher.stop();
  });
});
