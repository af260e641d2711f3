/** Whether runs come, told in a cluster whose watcher sends all the time (B.3 of issue 39). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { missedSinceMs } from '../../../../src/app/why/standing.ts';
import { advanced, type Arrival } from '../../../../src/app/ingest/message/meta-transitions.ts';
import type { StoredInputs } from '../../../../src/app/reconcile/read/stored-inputs.ts';
import { epoch, incarnation } from '../../../../src/core/model/identifiers.ts';
import { ZERO_STAMP, stampOf } from '../../../../src/core/model/position.ts';
import type { ClusterMeta } from '../../../../src/core/model/view-items.ts';
import { metaOf } from '../../../support/store-suite.ts';

const HEARTBEAT_MS = 30_000;
const EPOCH = { epoch: epoch('7'), incarnation: incarnation('i') };

/** META after heartbeats up to a moment, the first at 0 with seq 1. */
function metaAt(nowMs: number): ClusterMeta {
  let meta: ClusterMeta = { ...metaOf('c1'), ...EPOCH };
  for (let seq = 1; (seq - 1) * HEARTBEAT_MS <= nowMs; seq += 1) {
    const header = { ...EPOCH, seq } as Arrival['header'];
    meta = advanced(meta, { header, sentAtMs: (seq - 1) * HEARTBEAT_MS });
  }
  return meta;
}

/** Its pods changed with a message of this number, and no run ever came. */
function missedAt(nowMs: number, changeSeq: number): number | undefined {
  const meta = metaAt(nowMs);
  const podsChanged = stampOf({ era: meta.era, ...EPOCH, seq: changeSeq });
  const position = { podsChanged, revisionsChanged: ZERO_STAMP };
  const daemonSet = { stamp: ZERO_STAMP, object: {} };
  const stored: Pick<StoredInputs, 'state'> = { state: undefined };
  return missedSinceMs({ ...stored, meta, position, daemonSet } as StoredInputs, nowMs);
}

describe('a change that no run saw', () => {
  it('is told within six minutes though the watcher sends each half minute, and goes on being told', () => {
    const firstMs = [...Array(60).keys()]
      .map((step) => step * HEARTBEAT_MS)
      .find((nowMs) => missedAt(nowMs, 2) !== undefined);
    assert.ok(firstMs !== undefined && firstMs > 120_000 && firstMs <= 360_000, String(firstMs));
    for (let nowMs = firstMs; nowMs < 3_600_000; nowMs += HEARTBEAT_MS) {
      assert.ok(nowMs - (missedAt(nowMs, 2) ?? Infinity) > 120_000, String(nowMs));
    }
  });

  it('is not told while it may have come just now, however old the cluster is', () => {
    const nowMs = 3_600_000;
    const lastSeq = nowMs / HEARTBEAT_MS + 1;
    assert.equal(missedAt(nowMs, lastSeq), undefined);
    assert.equal(missedAt(nowMs, lastSeq - 3), undefined, 'of a minute and a half ago');
  });
});
