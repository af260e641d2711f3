// Where clusters of a fleet go back to, who of them does, and what stops it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetBreachNote } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import {
  findReturnFailure,
  returnPlaceOf,
  returnTargetOf,
  withoutBad,
} from '../../../../../src/core/fleet/rollout/way-back.ts';
import { fleetOf, NOW_MS } from '../../../../support/fleet-samples.ts';
import {
  BEGAN_MS,
  clusterRecordOf,
  failedBy,
  failedOf,
  fleetRecordOf,
  givenOf,
  goodOf,
  releaseOf,
  WELL,
} from '../../../../support/fleet-records.ts';

const BY = { by: 'ann', atMs: NOW_MS };
const HALTED: FleetBreachNote = { cause: 'ClustersFailed', atMs: 1, message: '', clusters: [] };
const { strategy } = fleetOf({});
const ROLLBACK = { ...strategy, onHalt: 'rollback' } as const;

describe('returnTargetOf', () => {
  const targetOf = (...of: Parameters<typeof returnTargetOf>): string | undefined =>
    returnTargetOf(...of)?.contentHash;

  it('is good content that was applied again, but for a pause or a breach', () => {
    const record = fleetRecordOf({ release: releaseOf('old', 3), isReturn: true });
    assert.equal(targetOf(record, strategy), 'old');
    assert.equal(targetOf({ ...record, orders: { paused: BY } }, strategy), undefined);
    assert.equal(targetOf({ ...record, breach: HALTED }, strategy), undefined);
  });

  it('is stopped by what failed on the way, and goes no further back by itself', () => {
    const breach: FleetBreachNote = { ...HALTED, cause: 'ReturnFailed' };
    assert.equal(targetOf(fleetRecordOf({ breach, orders: { undo: BY } }), ROLLBACK), undefined);
  });
});

describe('the list of good releases', () => {
  it('loses what turned out bad, and what that took the place of is in force again', () => {
    const left = { ...goodOf('old'), leftAtMs: 1 };
    assert.deepEqual(withoutBad([goodOf('new'), left], 'new'), [goodOf('old')]);
    assert.deepEqual(withoutBad([], 'new'), []);
  });
});

describe('returnPlaceOf', () => {
  const undone = fleetRecordOf({ orders: { undo: { ...BY, atMs: NOW_MS - 1000 } } });
  const own = fleetRecordOf({ release: releaseOf('old', 3), isReturn: true });
  const target = releaseOf('old');
  const placeIn = (record: typeof own, changes: Parameters<typeof clusterRecordOf>[1]): string =>
    returnPlaceOf(clusterRecordOf('c', changes), record, target);
  const failed = (atMs: number) =>
    ({
      contentHash: 'old',
      phase: 'failed',
      failure: { cause: 'Halted/StartFailure', message: '', nodes: [], atMs },
    }) as const;

  it('is of clusters that have what is left, and of no others', () => {
    assert.equal(placeIn(undone, {}), 'to-give');
    assert.equal(placeIn(undone, { contentHash: 'older' }), 'not-concerned');
    assert.equal(placeIn(own, {}), 'to-give');
    assert.equal(placeIn(own, { contentHash: 'old', phase: 'well' }), 'not-concerned');
    assert.equal(placeIn(own, { contentHash: 'old', phase: 'applying' }), 'to-give', 'not arrived');
  });

  it('keeps those that were given it, also those that failed with it, which are tried again once asked for', () => {
    for (const record of [undone, own]) {
      assert.equal(placeIn(record, { contentHash: 'old', phase: 'returning' }), 'given');
      assert.equal(placeIn(record, { contentHash: 'old', phase: 'returned' }), 'given');
      assert.equal(placeIn(record, failed(NOW_MS)), 'given');
    }
    assert.equal(placeIn(undone, failed(NOW_MS - 2000)), 'to-give');
    const breach = { cause: 'ReturnFailed', atMs: NOW_MS, message: '', clusters: [] } as const;
    const resumed = { ...BY, breach };
    const again = { ...own, orders: { ...own.orders, resumed } };
    assert.equal(placeIn(again, failed(NOW_MS)), 'to-give', 'the way back that halted is resumed');
    assert.equal(placeIn(again, failed(NOW_MS + 1)), 'given');
    const longAgo = { ...failed(1), openedAtMs: BEGAN_MS - 1 };
    assert.equal(placeIn(undone, longAgo), 'not-concerned', 'it never had what is undone');
  });
});

describe('findReturnFailure', () => {
  const stages = (given: Parameters<typeof findReturnFailure>[0][number]['given'], max = 0) =>
    fleetRecordOf()
      .stages.slice(1, 2)
      .map((dealt) => ({
        stage: { maxFailures: { kind: 'count', count: max } as const },
        dealt,
        given,
      }));

  it('is more clusters than a stage forgives in which it fails', () => {
    const given = [failedOf('a'), givenOf('b', WELL)];
    const breach = findReturnFailure(stages(given), releaseOf('old'), NOW_MS);
    assert.deepEqual([breach?.cause, breach?.clusters], ['ReturnFailed', ['a']]);
    assert.match(breach?.message ?? '', /1 clusters? of stage early failed on the way back to gen/);
    assert.equal(findReturnFailure(stages(given, 1), releaseOf('old'), NOW_MS), undefined);
  });

  it('is none for what lies with a place: a tenant stops no incident from ending', () => {
    const given = [failedBy('a', 'Reverted'), failedBy('b', 'Refused')];
    assert.equal(findReturnFailure(stages(given), releaseOf('old'), NOW_MS), undefined);
  });
});
