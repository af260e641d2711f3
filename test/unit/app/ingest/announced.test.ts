/** What an announcement makes of META (protocol 16, 18). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  announced,
  hasLowerMark,
  lost,
  type Arrival,
} from '../../../../src/app/ingest/message/meta-transitions.ts';
import { epoch, incarnation, resourceVersion } from '../../../../src/core/model/identifiers.ts';
import type { ClusterMeta } from '../../../../src/core/model/view-items.ts';
import type { AnnouncementBody } from '../../../../src/core/model/watcher-message.ts';
import { EMPTY_HASHES } from '../../../../src/core/projections/set-hash.ts';
import { metaOf } from '../../../support/store-suite.ts';

const COMPLETE: ClusterMeta = {
  ...metaOf('c1'),
  epoch: epoch('7'),
  incarnation: incarnation('i'),
  isComplete: true,
  broken: 2,
  brokenWhenComplete: 2,
  announcedSeq: 1,
  sliceCount: 4,
};
const BODY: AnnouncementBody = { kind: 'announcement', sliceCount: 4, reason: 'periodic' };

function arrivalOf(change: { epoch?: string; incarnation?: string } = {}): Arrival {
  const { cluster, clusterUid } = { cluster: 'c1', clusterUid: COMPLETE.clusterUid };
  const header = {
    schema: 1,
    cluster,
    clusterUid,
    epoch: epoch(change.epoch ?? '7'),
    incarnation: incarnation(change.incarnation ?? 'i'),
    seq: 9,
  } as unknown as Arrival['header'];
  return { header, sentAtMs: 5000 };
}

describe('an announcement', () => {
  it('of a watcher that stands by leaves the view incomplete, and says who holds the Lease since when', () => {
    const arrival = arrivalOf({ epoch: '8', incarnation: 'j' });
    const body = { ...BODY, standsBy: 'eu-1/1/prod' };
    const told = announced(COMPLETE, body, arrival);
    assert.deepEqual([told.isComplete, told.incompleteReason], [false, 'watcher-stands-by']);
    assert.deepEqual(told.watcherStandsBy, { holder: 'eu-1/1/prod', sinceMs: 5000 });
    const again = announced(told, body, { ...arrival, sentAtMs: 9000 });
    assert.deepEqual(again.watcherStandsBy, told.watcherStandsBy, 'since it was told first');
    const back = announced(told, BODY, arrivalOf({ epoch: '9', incarnation: 'k' }));
    assert.equal('watcherStandsBy' in back, false, 'any other message ends it');
  });

  it('within an epoch, of the same slice count, leaves a complete view complete', () => {
    const meta = announced(COMPLETE, BODY, arrivalOf());
    assert.deepEqual(
      [meta.isComplete, 'incompleteReason' in meta, meta.announcedSeq, meta.isCutOpen],
      [true, false, 1, true],
    );
    assert.deepEqual([meta.seq, meta.lastSentAtMs], [9, 5000]);
    assert.deepEqual(meta.snapshot, {
      announcedSeq: 9,
      brokenAtAnnouncement: 2,
      sliceCount: 4,
      announcedAtMs: 5000,
      isAfterLoss: false,
      hashes: EMPTY_HASHES,
    });
  });

  it('of another slice count makes it incomplete, and says why', () => {
    const meta = announced(COMPLETE, { ...BODY, sliceCount: 16, reason: 'threshold' }, arrivalOf());
    assert.deepEqual(
      [meta.isComplete, meta.incompleteReason, meta.snapshot?.sliceCount, meta.sliceCount],
      [false, 'snapshot announced (threshold)', 16, 4],
    );
  });

  it('of another epoch or incarnation makes it incomplete, and forgets the one before', () => {
    for (const change of [{ epoch: '8' }, { incarnation: 'j' }]) {
      const meta = announced(COMPLETE, BODY, arrivalOf(change));
      assert.deepEqual([meta.isComplete, 'announcedSeq' in meta], [false, false]);
    }
  });

  it('mends nothing by itself, and knows of the loss that came before', () => {
    const meta = announced(lost(COMPLETE, 'set-hash'), BODY, arrivalOf());
    assert.deepEqual(
      [meta.isComplete, meta.snapshot?.isAfterLoss, meta.snapshot?.brokenAtAnnouncement],
      [false, true, 3],
    );
  });

  it('that was asked for says by whom', () => {
    const meta = announced(COMPLETE, { ...BODY, requestId: 'r-1' }, arrivalOf());
    assert.equal(meta.snapshot?.requestId, 'r-1');
  });
});

describe('a mark that went back (protocol 15)', () => {
  const at = (version: string): ClusterMeta['marks'] => ({ Node: resourceVersion(version) });

  it('is one below the stored one of its type; equal, new and absent ones are not', () => {
    assert.equal(hasLowerMark(at('10'), at('9')), true);
    assert.equal(hasLowerMark(at('10'), at('10')), false);
    assert.equal(hasLowerMark(at('9'), at('10')), false);
    assert.equal(hasLowerMark(at('10'), {}), false);
    assert.equal(hasLowerMark({}, at('9')), false);
    assert.equal(hasLowerMark(at('10'), { Pod: resourceVersion('9') }), false);
  });
});
