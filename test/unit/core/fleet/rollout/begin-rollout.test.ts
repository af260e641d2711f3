// With what a release begins: what outlives the release before it, and what does not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginRollout } from '../../../../../src/core/fleet/rollout/begin-rollout.ts';
import type { FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';
import { BEGAN_MS, fleetRecordOf, releaseOf } from '../../../../support/fleet-records.ts';

const BY = { by: 'ann', atMs: NOW_MS };
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
  it('begins before the first stage, and has to be dealt out', () => {
    const record = begin('new');
    assert.deepEqual([record.version, record.stage, record.stages], [0, -1, []]);
    assert.equal(record.proven, undefined);
  });

  it('keeps what was proven as the way back', () => {
    const record = begin('newer', fleetRecordOf());
    assert.deepEqual([record.proven?.contentHash, record.former?.contentHash], ['old', 'old']);
    assert.equal(record.version, 3);
  });

  it('is no way back from itself when proven content comes again', () => {
    const ancient = { ...releaseOf('ancient'), provenAtMs: BEGAN_MS };
    const record = begin('old', fleetRecordOf({ former: ancient }));
    assert.deepEqual([record.proven?.contentHash, record.former?.contentHash], ['old', 'ancient']);
  });

  it('keeps a pause, and forgets all other orders', () => {
    const orders = {
      paused: BY,
      approved: { ...BY, stepIndex: 4 },
      resumed: { ...BY, breachAtMs: 1 },
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
  });

  it('knows nothing of a FleetDaemonSet that had the name before', () => {
    const refused = [{ contentHash: 'new', cause: 'ClustersSilent' as const, atMs: 1 }];
    const former = fleetRecordOf({ refused, orders: { paused: BY } });
    const record = begin('new', former, 'fleet-2');
    assert.deepEqual(
      [record.version, record.proven, record.breach, record.refused, record.orders],
      [0, undefined, undefined, [], {}],
    );
  });
});
