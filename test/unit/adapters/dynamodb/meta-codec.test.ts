/** META beside the releases before this one, and after a way back to them (ADR 0052, 0069). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { metaOf, storedMeta } from '../../../../src/adapters/dynamodb/meta-codec.ts';
import type { StoredMeta } from '../../../../src/adapters/dynamodb/meta-codec.ts';
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

const snapshot = {
  announcedSeq: 8,
  brokenAtAnnouncement: 0,
  sliceCount: 4,
  announcedAtMs: 7,
  isAfterLoss: false,
  hashes: EMPTY_HASHES,
};

describe('META as it is stored', () => {
  it('is read to the same meaning', () => {
    for (const meta of [META, { ...META, positions }, { ...META, positions: {} }]) {
      assert.deepEqual(metaOf(storedMeta(meta, 4), 4), meta);
    }
  });

  it('is read to the same meaning while a snapshot runs, and after a loss', () => {
    const lost = { ...META, isComplete: false, incompleteReason: 'seq-skipped', broken: 3 };
    for (const meta of [{ ...META, snapshot }, { ...lost, snapshot }, lost]) {
      assert.deepEqual(metaOf(storedMeta(meta, 4), 4), meta);
    }
  });

  it('says that the watcher stands by only as long as this release wrote it last', () => {
    const meta = { ...META, watcherStandsBy: { holder: 'eu-1/1/prod', sinceMs: 5 } };
    const stored = storedMeta(meta, 4);
    assert.deepEqual(metaOf(stored, 4), meta);
    assert.equal('watcherStandsBy' in metaOf(stored, 5), false);
  });

  it('is one after a loss to the release before, which cannot read slices by columns', () => {
    for (const meta of [META, { ...META, snapshot }]) {
      const seen = storedMeta(meta, 4);
      assert.equal(seen.isComplete, false);
      assert.equal(
        seen.snapshot,
        undefined,
        'it closes no snapshot of which it cannot read the slices',
      );
      assert.equal(seen.broken, META.broken + 1, 'its snapshot writes every slice anew');
    }
  });

  it('is as the release before left it where that one wrote it last', () => {
    const stored = storedMeta(META, 4);
    assert.equal(metaOf(stored, 5).isComplete, false);
    assert.equal(metaOf(stored, 5).broken, 1);
    // It takes along members that it does not know.
    const closed: StoredMeta = { ...stored, isComplete: true, brokenWhenComplete: 1 };
    assert.equal(metaOf(closed, 5).isComplete, true);
    assert.deepEqual(metaOf({ ...META, isComplete: true }, 5), META, 'it never knew this one');
  });

  it('shows the release before that nodes changed when a position did: it skips no key for an item left behind', () => {
    assert.equal(storedMeta({ ...META, positions }, 4).nodesChanged, at(8));
    const later = { ...META, nodesChanged: at(9), positions };
    assert.equal(storedMeta(later, 4).nodesChanged, at(9));
  });

  it('has no positions once the release before wrote it: the items that it raises count', () => {
    const stored = storedMeta({ ...META, positions }, 4);
    for (const change of [{ seq: 10 }, { era: 2 }, { incarnation: 'i-2' as Incarnation }]) {
      const found = metaOf({ ...stored, ...change }, 4);
      assert.equal(found.positions, undefined);
      assert.equal(found.nodesChanged, at(8), 'as that release has it');
    }
  });
});
