/** Tombstones as stored: small enough for a rollout of 5,000 nodes, and beside what is read before (S13). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  decodeTombstones,
  encodeTombstones,
} from '../../../../src/adapters/dynamodb/slice-codec.ts';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { Tombstone } from '../../../../src/core/model/projections.ts';
import { sliceCountFor } from '../../../../src/core/projections/set-hash.ts';

const ITEM = { pk: 'PODS#y', sk: 'SLICE' };

/** What a rollout of so many nodes leaves, each pod under a node name of the cloud's length. */
function ofRollout(count: number, nodeNameLength: number): readonly Tombstone[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `a-daemon-set-of-usual-length-${randomUUID().slice(0, 10)}`,
    uid: uid(randomUUID()),
    node: nodeName(`ip-${randomUUID()}`.padEnd(nodeNameLength, '.internal')),
    revision: 'bcdfghjklm',
    createdAtMs: Date.UTC(2026, 10, 1) + index * 1000,
    goneAtMs: Date.UTC(2026, 10, 2) + index * 7,
  }));
}

describe('tombstones as stored', () => {
  it('come back as they were; where there are none there is no attribute', () => {
    const gone = ofRollout(3, 50);
    const { revision: _none, ...nameless } = gone[0] as Tombstone;
    const all = [...gone, nameless];
    assert.deepEqual(decodeTombstones(ITEM, encodeTombstones(ITEM, all)), all);
    assert.equal(encodeTombstones(ITEM, []), undefined);
    assert.deepEqual(decodeTombstones(ITEM, undefined), []);
  });

  for (const nodes of [300, 2000, 5000]) {
    it(`take less than 60 KB of a slice's item when ${nodes} nodes are rolled at once`, (context) => {
      const inSlice = Math.ceil((nodes / sliceCountFor(nodes)) * 1.2);
      const gone = encodeTombstones(ITEM, ofRollout(inSlice, 50));
      context.diagnostic(`${inSlice} tombstones: ${String(gone?.byteLength)} bytes`);
      assert.ok((gone?.byteLength ?? 0) < 60_000);
    });
  }

  it('of the largest list, with the longest names, leave most of the item to pods', (context) => {
    const gone = encodeTombstones(ITEM, ofRollout(2000, 253));
    context.diagnostic(`2,000 tombstones: ${String(gone?.byteLength)} bytes`);
    assert.ok((gone?.byteLength ?? 0) < 120_000);
  });
});
