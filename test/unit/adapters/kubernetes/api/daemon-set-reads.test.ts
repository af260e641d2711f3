/** Live reads of DaemonSets of one moment share a list (protocol 7, 15; issue 16). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DaemonSetReads } from '../../../../../src/adapters/kubernetes/api/daemon-set-reads.ts';
import type { TransportAnswer } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type { Effect } from '../../../../../src/core/model/effects.ts';
import { resourceVersion, uid } from '../../../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetRead } from '../../../../../src/ports/cluster/cluster-access.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const ANSWERED_AT_MS = 5_000;
const COLLECTION = '/apis/apps/v1/namespaces/ops/daemonsets';
const alone = (name: string): string => `${COLLECTION}?fieldSelector=metadata.name%3D${name}`;

const objectOf = (name: string): JsonObject => ({
  metadata: { name, namespace: 'ops', uid: `uid-of-${name}`, resourceVersion: '5' },
  spec: { template: {} },
});

/** A namespace with these DaemonSets; `odd` replaces the answer to a path. */
class Namespace {
  readonly paths: string[] = [];
  readonly clock = new VirtualClock();
  readonly odd = new Map<string, { readonly status: number; readonly body: JsonObject }>();
  names: readonly string[];
  /** What everybody who asks makes of what a list tells. */
  isDoubtful = false;
  readonly #reads: DaemonSetReads;

  constructor(names: readonly string[]) {
    this.names = names;
    const { clock } = this;
    this.#reads = new DaemonSetReads({
      clock,
      send: ({ path }) => Promise.resolve(this.#answer(path)),
      beforeRead: () => undefined,
      get: ({ name }) => {
        this.paths.push(`GET ${name}`);
        return Promise.resolve({ kind: 'found', object: objectOf(name) as never });
      },
      timeoutMs: 1000,
    });
  }

  read(...names: readonly string[]): Promise<readonly DaemonSetRead[]> {
    return Promise.all(names.map((name) => this.#reads.read({ namespace: 'ops', name })));
  }

  /** Of a store that is to be no further back than that. */
  readNotBehind(
    version: string | undefined,
    ...names: readonly string[]
  ): Promise<readonly DaemonSetRead[]> {
    const question = {
      notBehind: version === undefined ? undefined : resourceVersion(version),
      isDoubtful: () => this.isDoubtful,
    };
    return Promise.all(names.map((name) => this.#reads.read({ namespace: 'ops', name }, question)));
  }

  /** Something was written just now, a DaemonSet if nothing is said, and this is the version that it has since. */
  wrote(version: string, kind: 'update-status' | 'create-pod' = 'update-status'): void {
    const effect = { kind, namespace: 'ops', name: 'a', uid: uid('uid-of-a'), body: {} } as Effect;
    const object = { metadata: { resourceVersion: version } };
    this.#reads.noteWritten(effect, { kind: 'done', object }, this.#reads.now());
    this.#reads.noteWritten(effect, { kind: 'gone' }, this.#reads.now());
  }

  #answer(path: string): TransportAnswer {
    this.paths.push(path);
    const odd = this.odd.get(path);
    if (odd !== undefined) return answered(odd.status, odd.body);
    const query = new URLSearchParams(path.split('?')[1]);
    const wanted = query.get('fieldSelector')?.split('=')[1];
    const all = this.names.filter((name) => wanted === undefined || name === wanted);
    const limit = Number(query.get('limit') ?? all.length);
    const isCut = all.length > limit;
    const metadata = { resourceVersion: '77', ...(isCut ? { continue: 'more' } : {}) };
    return answered(200, { metadata, items: all.slice(0, limit).map(objectOf) });
  }
}

function answered(status: number, body: JsonObject): TransportAnswer {
  return { kind: 'answered', status, body, atMs: ANSWERED_AT_MS };
}

const summaryOf = (reads: readonly DaemonSetRead[]): readonly string[] =>
  reads.map((read) =>
    read.kind === 'found' ? `${read.object.metadata.name}@${String(read.storeVersion)}` : read.kind,
  );

describe('DaemonSets of one namespace that are read at one moment', () => {
  it('share a list, which tells each the version of the store, and which of them is missing', async () => {
    const ops = new Namespace(['a', 'b', 'c']);
    assert.deepEqual(summaryOf(await ops.read('a', 'b', 'gone')), ['a@77', 'b@77', 'missing']);
    assert.deepEqual(ops.paths, [`${COLLECTION}?limit=6`]);
  });

  it('say when they were answered by the API server’s clock, listed together or alone', async () => {
    const ops = new Namespace(['a', 'b']);
    for (const read of [...(await ops.read('a', 'b')), ...(await ops.read('a'))]) {
      assert.equal(read.kind === 'found' && read.answeredAtMs, ANSWERED_AT_MS);
    }
  });

  it('are read anew at each moment: an answer serves nobody who asked after it was sent', async () => {
    const ops = new Namespace(['a', 'b']);
    await ops.read('a', 'b');
    ops.names = ['a'];
    assert.deepEqual(summaryOf(await ops.read('a', 'b')), ['a@77', 'missing']);
    assert.equal(ops.paths.length, 2);
  });

  it('are one list of one where one is asked for, by however many', async () => {
    const ops = new Namespace(['a', 'b']);
    await ops.read('a');
    assert.deepEqual(ops.paths, [alone('a')]);
  });

  it('are read alone where the list lacks them and is not all, and then for five minutes', async () => {
    const ops = new Namespace(['a', 'b', 'c', 'd', 'e', 'y', 'z']);
    assert.deepEqual(summaryOf(await ops.read('a', 'z')), ['a@77', 'z@77']);
    assert.deepEqual(ops.paths, [`${COLLECTION}?limit=4`, alone('z')]);
    ops.paths.length = 0;
    await ops.read('a', 'z');
    assert.deepEqual(ops.paths, [alone('a'), alone('z')], 'it is known to hold more');
    ops.paths.length = 0;
    assert.deepEqual(summaryOf(await ops.read('a', 'b', 'y', 'z')).length, 4);
    assert.deepEqual(ops.paths, [`${COLLECTION}?limit=8`], 'for more of them it pays');
    ops.paths.length = 0;
    await ops.clock.advance(300_001);
    await ops.read('a', 'z');
    assert.equal(ops.paths[0], `${COLLECTION}?limit=4`);
  });

  it('are GETs where a role allows no list (row 69)', async () => {
    const ops = new Namespace(['a', 'b']);
    ops.odd.set(`${COLLECTION}?limit=4`, { status: 403, body: { kind: 'Status' } });
    assert.deepEqual(summaryOf(await ops.read('a', 'b')), ['a@undefined', 'b@undefined']);
    assert.deepEqual(ops.paths, [`${COLLECTION}?limit=4`, 'GET a', 'GET b']);
  });

  it('are each its own matter where one is odd', async () => {
    const ops = new Namespace(['a', 'b']);
    const items = [objectOf('a'), { metadata: { name: 'b' } }];
    ops.odd.set(`${COLLECTION}?limit=4`, { status: 200, body: { metadata: {}, items } });
    ops.odd.set(alone('b'), { status: 200, body: { metadata: {}, items: [items[1] ?? {}] } });
    assert.deepEqual(summaryOf(await ops.read('a', 'b')), ['a@77', 'unavailable']);
  });

  it('are all without an answer where the API server gives none, and are not asked for again', async () => {
    const ops = new Namespace(['a', 'b']);
    ops.odd.set(`${COLLECTION}?limit=4`, { status: 500, body: { kind: 'Status' } });
    assert.deepEqual(summaryOf(await ops.read('a', 'b')), ['unavailable', 'unavailable']);
    assert.equal(ops.paths.length, 1);
  });
});

describe('a DaemonSet that is read a moment after a list', () => {
  it('by whoever only asks whether the store is behind, is read by a GET', async () => {
    const ops = new Namespace(['a', 'b']);
    assert.deepEqual(summaryOf(await ops.readNotBehind('5', 'a')), ['a@77']);
    await ops.clock.advance(1_999);
    for (const version of ['77', '5', undefined]) {
      assert.deepEqual(summaryOf(await ops.readNotBehind(version, 'a')), ['a@undefined']);
    }
    assert.deepEqual(ops.paths, [alone('a'), 'GET a', 'GET a', 'GET a']);
  });

  it('is listed where that list was behind what is asked for, is two seconds old, or is wanted as it is', async () => {
    const ops = new Namespace(['a']);
    await ops.readNotBehind('5', 'a');
    await ops.readNotBehind('78', 'a');
    await ops.read('a');
    await ops.clock.advance(2_000);
    await ops.readNotBehind('5', 'a');
    assert.deepEqual(ops.paths, [alone('a'), alone('a'), alone('a'), alone('a')]);
  });

  it('is listed where nobody asked of that list whether its store was restored, or somebody doubted it (row 71)', async () => {
    const ops = new Namespace(['a', 'b']);
    await ops.read('a');
    await ops.readNotBehind('5', 'a');
    assert.deepEqual(ops.paths.splice(0), [alone('a'), alone('a')]);
    ops.isDoubtful = true;
    await ops.clock.advance(2_000);
    assert.deepEqual(summaryOf(await ops.readNotBehind('5', 'a')), ['a@77']);
    assert.deepEqual(summaryOf(await ops.readNotBehind('5', 'a')), ['a@77'], 'told as it is');
    await ops.readNotBehind('5', 'a', 'b');
    await ops.readNotBehind('5', 'b');
    assert.deepEqual(ops.paths, [alone('a'), alone('a'), `${COLLECTION}?limit=4`, alone('b')]);
  });

  it('or after a list and a write of a DaemonSet, is read by a GET', async () => {
    const ops = new Namespace(['a']);
    await ops.readNotBehind('5', 'a');
    await ops.clock.advance(1_999);
    ops.wrote('90');
    await ops.clock.advance(1_999);
    for (const version of ['90', '5', undefined]) {
      assert.deepEqual(summaryOf(await ops.readNotBehind(version, 'a')), ['a@undefined']);
    }
    assert.deepEqual(ops.paths, [alone('a'), 'GET a', 'GET a', 'GET a']);
    await ops.clock.advance(1);
    await ops.readNotBehind('5', 'a');
    assert.deepEqual(ops.paths.slice(4), [alone('a')], 'two seconds later that tells nothing');
  });

  it('is listed after a write alone: a store that was restored answers it, too (row 71)', async () => {
    const ops = new Namespace(['a']);
    ops.wrote('90');
    await ops.readNotBehind('5', 'a');
    assert.deepEqual(ops.paths, [alone('a')]);
  });

  it('is read by what the list told where a write changed nothing, or has no version that can be compared', async () => {
    const ops = new Namespace(['a']);
    await ops.readNotBehind('5', 'a');
    for (const version of ['5', '', 'x']) ops.wrote(version);
    ops.wrote('900', 'create-pod'); // pods may have an etcd of their own
    await ops.readNotBehind('77', 'a');
    await ops.clock.advance(1_000);
    ops.wrote('78');
    await ops.clock.advance(1_500);
    await ops.readNotBehind('78', 'a');
    assert.deepEqual(ops.paths, [alone('a'), 'GET a', 'GET a']);
    await ops.readNotBehind('79', 'a');
    assert.deepEqual(ops.paths.slice(3), [alone('a')]);
  });

  it('is listed after a sandbox stood still, or a clock went back', async () => {
    for (const shiftMs of [60_000, -60_000]) {
      const ops = new Namespace(['a']);
      await ops.readNotBehind('5', 'a');
      ops.clock.stepWall(shiftMs);
      await ops.readNotBehind('5', 'a');
      assert.deepEqual(ops.paths, [alone('a'), alone('a')], String(shiftMs));
    }
  });

  it('together with others shares a list with them', async () => {
    const ops = new Namespace(['a', 'b']);
    await ops.readNotBehind('5', 'a');
    await ops.readNotBehind('5', 'a', 'b');
    assert.deepEqual(ops.paths, [alone('a'), `${COLLECTION}?limit=4`]);
  });
});
