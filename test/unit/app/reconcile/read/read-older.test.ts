/** Older tombstones are read with the slices that refer to them, once for each version, while anybody needs them (S13, ADR 0076). */
import { describe, it } from 'node:test';
import { createProcessCache } from '../../../../../src/app/reconcile/process/process-cache.ts';
import type { StoredInputs } from '../../../../../src/app/reconcile/read/stored-inputs.ts';
import { readView, type ViewRead } from '../../../../../src/app/reconcile/read/read-view.ts';
import { clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import { ZERO_STAMP, type Stamp } from '../../../../../src/core/model/position.ts';
import type { Tombstone } from '../../../../../src/core/model/projections.ts';
import type { Slice } from '../../../../../src/core/model/view-items.ts';
import type { SliceRef } from '../../../../../src/ports/stores/view-store.ts';
import { node, pod, tombstone } from '../../../../support/core-fixtures.ts';
import { MemoryViewStore } from '../../../../support/memory-view-store.ts';
import { metaOf, stampAt } from '../../../../support/store-suite.ts';

import assert from 'node:assert/strict';

const CLUSTER = clusterUid('c');
const DAEMON_SET = uid('ds');
const MINUTE_MS = 60_000;
const GONE_AT_MS = 10 * MINUTE_MS;

const podsRef: SliceRef = { clusterUid: CLUSTER, set: `pods/${DAEMON_SET}`, index: 0 };

const named = (name: string): Tombstone =>
  tombstone('n1', { name, uid: uid(name), goneAtMs: GONE_AT_MS });

/** One process that reads one DaemonSet, whose pods have a slice. */
class Reading {
  readonly view = new MemoryViewStore();
  #cache = createProcessCache();
  /** The time of the last message. */
  toldAtMs = GONE_AT_MS;

  async prepare(): Promise<void> {
    const content = { stamp: stampAt(1), objects: [{ object: node('n1'), hash: 1 }] };
    await this.view.writeSlice({ clusterUid: CLUSTER, set: 'nodes', index: 0 }, content, undefined);
    const revisions = { clusterUid: CLUSTER, set: `revisions/${DAEMON_SET}`, index: 0 } as const;
    await this.view.writeSlice(revisions, { stamp: stampAt(1), objects: [] }, undefined);
  }

  restart(): void {
    this.#cache = createProcessCache();
  }

  async write(slice: Omit<Slice, 'objects'>): Promise<void> {
    const former = await this.view.readSlice(podsRef);
    const objects = [{ object: pod('n1'), hash: 1 }];
    assert.equal(
      await this.view.writeSlice(podsRef, { objects, ...slice }, former?.stamp),
      'written',
    );
  }

  async bury(version: number, names: readonly string[]): Promise<void> {
    const gone = names.map(named);
    assert.equal(await this.view.writeOlderTombstones(podsRef, { version, gone }), 'written');
  }

  async readAt(podsChanged: Stamp): Promise<ViewRead> {
    const position = { podsChanged, revisionsChanged: stampAt(1) };
    const meta = { ...metaOf(CLUSTER), seq: 9, nodesChanged: stampAt(1) };
    const stored: StoredInputs = {
      meta: { ...meta, lastSentAtMs: this.toldAtMs },
      ref: { clusterUid: CLUSTER, uid: DAEMON_SET },
      daemonSet: { stamp: ZERO_STAMP, object: null },
      position,
      state: undefined,
      registration: undefined as never, // nothing here asks for it
    };
    await this.view.raisePosition(stored.ref, position);
    return readView(stored, { view: this.view, cache: this.#cache });
  }

  async namesAt(podsChanged: Stamp): Promise<readonly string[]> {
    const read = await this.readAt(podsChanged);
    assert.equal(read.kind, 'read', JSON.stringify(read));
    return read.kind === 'read' ? read.view.gone.map(({ name }) => name) : assert.fail();
  }

  get reads(): number {
    return this.view.calls.filter(({ operation }) => operation === 'readOlderTombstones').length;
  }
}

async function reading(): Promise<Reading> {
  const made = new Reading();
  await made.prepare();
  return made;
}

describe('older tombstones', () => {
  it('come with those of their slice, and are read once for each version', async () => {
    const at = await reading();
    const older = { version: 1, goneAtMs: GONE_AT_MS };
    await at.bury(0, ['p1', 'p2']);
    await at.write({ stamp: stampAt(2), gone: [named('p3')], older });
    assert.deepEqual(await at.namesAt(stampAt(2)), ['p3', 'p1', 'p2']);
    await at.write({ stamp: stampAt(3), gone: [named('p4'), named('p3')], older });
    assert.deepEqual(await at.namesAt(stampAt(3)), ['p4', 'p3', 'p1', 'p2']);
    assert.equal(at.reads, 1);
    await at.bury(1, ['p4', 'p3', 'p1', 'p2']);
    await at.write({ stamp: stampAt(4), older: { ...older, version: 2 } });
    assert.deepEqual(await at.namesAt(stampAt(4)), ['p4', 'p3', 'p1', 'p2']);
    assert.equal(at.reads, 2);
  });

  it('are not asked for by a slice that has none', async () => {
    const at = await reading();
    await at.bury(0, ['p1']);
    await at.write({ stamp: stampAt(2), gone: [named('p3')] });
    assert.deepEqual(await at.namesAt(stampAt(2)), ['p3']);
    assert.equal(at.reads, 0);
  });

  it('are needed for ten minutes after the last of them, by the times of messages', async () => {
    const at = await reading();
    await at.bury(0, ['p1']);
    await at.write({ stamp: stampAt(2), older: { version: 1, goneAtMs: GONE_AT_MS } });
    at.toldAtMs = GONE_AT_MS + 10 * MINUTE_MS;
    assert.deepEqual(await at.namesAt(stampAt(2)), ['p1']);
    at.toldAtMs += 1;
    at.restart();
    assert.deepEqual(await at.namesAt(stampAt(2)), []);
    assert.equal(at.reads, 1);
  });

  it('may be of a later version: their slice is about to be written', async () => {
    const at = await reading();
    await at.bury(0, ['p1']);
    await at.bury(1, ['p2', 'p1']);
    await at.write({ stamp: stampAt(2), gone: [named('p2')], older: { version: 1, goneAtMs: 1 } });
    at.toldAtMs = 1;
    assert.deepEqual(await at.namesAt(stampAt(2)), ['p2', 'p2', 'p1']);
  });

  for (const [what, lose] of [
    ['not there', (at: Reading) => at.view.lose('TOMBSTONES')],
    ['older than what their slice refers to', (_at: Reading) => 1],
  ] as const) {
    it(`hold up their DaemonSet where they are ${what}, until nobody needs them`, async () => {
      const at = await reading();
      await at.bury(0, ['p1']);
      await at.write({ stamp: stampAt(2), older: { version: 2, goneAtMs: GONE_AT_MS } });
      assert.equal(lose(at), 1);
      assert.deepEqual(await at.readAt(stampAt(2)), { kind: 'moving' });
      at.toldAtMs = GONE_AT_MS + 10 * MINUTE_MS + 1;
      assert.deepEqual(await at.namesAt(stampAt(2)), []);
    });
  }
});
