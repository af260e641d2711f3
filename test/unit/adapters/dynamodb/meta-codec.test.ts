/** META beside the release before this one, and after a way back to it (ADR 0052). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { metaOf, storedMeta } from '../../../../src/adapters/dynamodb/meta-codec.ts';
import { clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import type { Epoch, Incarnation } from '../../../../src/core/model/identifiers.ts';
import { ZERO_STAMP, stampOf } from '../../../../src/core/model/position.ts';
import type { Stamp } from '../../../../src/core/model/position.ts';
import { EMPTY_HASHES } from '../../../../src/core/projections/set-hash.ts';

const where = { era: 1, epoch: '100' as Epoch, incarnation: 'i-100' as Incarnation };
const at = (seq: number): Stamp => stampOf({ ...where, seq });

const META = {
  ...where,
  seq: 9,
  clusterUid: clusterUid('u-1'),
  isComplete: true,
  isCutOpen: false,
  broken: 0,
  sliceCount: 1,
  marks: {},
  hashes: EMPTY_HASHES,
  lastSentAtMs: 5,
  heardAtMs: {},
  nodesChanged: at(3),
  daemonSetsChanged: at(2),
};
const positions = {
  [uid('a')]: { podsChanged: at(8), revisionsChanged: ZERO_STAMP },
  [uid('b')]: { podsChanged: at(4), revisionsChanged: at(7) },
};

describe('META as it is stored', () => {
  it('is read to the same meaning', () => {
    for (const meta of [META, { ...META, positions }, { ...META, positions: {} }]) {
      assert.deepEqual(metaOf(storedMeta(meta)), meta);
    }
  });

  it('shows the release before that nodes changed when a position did: it skips no key for an item left behind', () => {
    assert.equal(storedMeta({ ...META, positions }).nodesChanged, at(8));
    const later = { ...META, nodesChanged: at(9), positions };
    assert.equal(storedMeta(later).nodesChanged, at(9));
  });

  it('has no positions once the release before wrote it: the items that it raises count', () => {
    const stored = storedMeta({ ...META, positions });
    for (const change of [{ seq: 10 }, { era: 2 }, { incarnation: 'i-2' as Incarnation }]) {
      const found = metaOf({ ...stored, ...change });
      assert.equal(found.positions, undefined);
      assert.equal(found.nodesChanged, at(8), 'as that release has it');
    }
  });
});
