// With what a release begins: what outlives the release before it, and what does not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyFleetOrder } from '../../../../../src/core/fleet/rollout/apply-fleet-order.ts';
import { beginRollout } from '../../../../../src/core/fleet/rollout/begin-rollout.ts';
import type { FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { wayBackOf } from '../../../../../src/core/fleet/rollout/way-back.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';
import { BREACH } from '../../../../support/fleet-record-samples.ts';
import { fleetRecordOf, goodOf, releaseOf } from '../../../../support/fleet-records.ts';

const BY = { by: 'ann', atMs: NOW_MS };
const DAY_MS = 86_400_000;
const idsOf = ({ good }: FleetRecord): readonly string[] => good.map(({ id }) => id);
const KEY = { namespace: 'monitoring', name: 'agent' };

function begin(contentHash: string, former?: FleetRecord, uid = 'fleet-1'): FleetRecord {
  return beginRollout({
    fleet: KEY,
    uid,
    release: releaseOf(contentHash, 9),
    ...(former === undefined ? {} : { former }),
    nowMs: NOW_MS,
  });
}

describe('beginRollout', () => {
  it('begins before the first stage, and has to be assigned', () => {
    const record = begin('new');
    assert.deepEqual([record.version, record.stage, record.stages], [0, -1, []]);
    assert.deepEqual(record.good, []);
  });

  it('is a return where good content comes again that was left lately, whatever became of what followed it', () => {
    const good = [
      goodOf('new'),
      { ...goodOf('old'), leftAtMs: NOW_MS - DAY_MS },
      goodOf('ancient'),
    ];
    const record = begin('old', fleetRecordOf({ good }));
    assert.deepEqual([record.isReturn, record.older], [true, undefined]);
    assert.deepEqual(idsOf(record), ['old', 'ancient'], 'what is left for it is good no more');
    assert.equal(wayBackOf(record)?.id, 'ancient', 'never itself');
    assert.equal(begin('old', fleetRecordOf()).isReturn, true, 'the other one was half-way');
  });

  it('goes by stages, and says why, where it was left long ago, or lies further back', () => {
    const leftAtMs = NOW_MS - 14 * DAY_MS;
    const old = begin(
      'old',
      fleetRecordOf({ good: [goodOf('new'), { ...goodOf('old'), leftAtMs }] }),
    );
    assert.deepEqual([old.isReturn, old.older], [undefined, 'too-old']);
    const far = begin('a', fleetRecordOf({ good: ['new', 'b', 'a'].map((id) => goodOf(id)) }));
    assert.deepEqual([far.isReturn, far.older], [undefined, 'too-far-back']);
  });

  it('goes on where an undo is followed by the apply of what it leads to, and holds what was undone', () => {
    const undo = { kind: 'undo', release: '2', to: '1' } as const;
    const ordered = applyFleetOrder(
      fleetRecordOf({ good: [goodOf('new', 2), goodOf('old')] }),
      undo,
      BY,
    );
    assert.equal(ordered.kind, 'changed');
    const reverted = begin('old', ordered.record);
    assert.deepEqual([reverted.isReturn, reverted.breach], [true, undefined]);
    const reapplied = begin('new', reverted);
    assert.equal(reapplied.breach?.cause, 'KnownBad');
    assert.match(reapplied.breach.message, /was undone before/);
  });

  it('keeps a pause, and forgets all other orders', () => {
    const orders = {
      paused: BY,
      approved: { ...BY, stepIndex: 4 },
      resumed: { ...BY, breach: BREACH },
      undo: BY,
    };
    assert.deepEqual(begin('newer', fleetRecordOf({ orders })).orders, { paused: BY });
  });

  it('holds content that was halted from its first moment', () => {
    const refused = [{ contentHash: 'bad', cause: 'ClustersSilent' as const, atMs: 1 }];
    const { breach } = begin('bad', fleetRecordOf({ refused }));
    assert.deepEqual([breach?.cause, breach?.atMs], ['KnownBad', NOW_MS]);
    assert.equal(begin('good', fleetRecordOf({ refused })).breach, undefined);
  });

  it('passes the stages anew for the same content, with nothing agreed to, and keeps its halt', () => {
    const breach = { cause: 'ClustersFailed', atMs: 1, message: '', clusters: [] } as const;
    const orders = { paused: BY, approved: { ...BY, stepIndex: 4 } };
    const before = fleetRecordOf({ stage: 2, breach, orders, wellSinceMs: 7 });
    const record = begin('new', before);
    assert.deepEqual([record.stage, record.stages, record.wellSinceMs], [-1, [], undefined]);
    assert.deepEqual([record.breach, record.orders], [breach, { paused: BY }]);
    assert.equal(record.release.generation, 9);
  });

  it('begins the same content anew where clusters alone kept it back', () => {
    const breach = {
      cause: 'ClustersNotUpdated',
      atMs: 1,
      message: '',
      clusters: [],
      grounds: 'place',
    } as const;
    assert.equal(begin('new', fleetRecordOf({ stage: 2, breach })).breach, undefined);
    const shown = { ...breach, cause: 'ClustersFailed', grounds: 'one-cluster' } as const;
    const held = begin('new', fleetRecordOf({ stage: 2, breach: shown })).breach;
    assert.deepEqual(held, shown, 'what one cluster showed of the release stands');
  });

  it('knows nothing of a FleetDaemonSet that had the name before', () => {
    const refused = [{ contentHash: 'new', cause: 'ClustersSilent' as const, atMs: 1 }];
    const former = fleetRecordOf({ refused, orders: { paused: BY } });
    const record = begin('new', former, 'fleet-2');
    assert.deepEqual(
      [record.version, record.good, record.breach, record.refused, record.orders],
      [0, [], undefined, [], {}],
    );
  });
});
