// The words for a fleet's rollout.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import {
  describeFleetGate,
  fleetPhaseOf,
  summarizeFleet,
} from '../../../../../src/core/fleet/told/describe-fleet.ts';
import { NO_COUNTS } from '../../../../../src/core/fleet/rollout/begin-rollout.ts';
import type { FleetGate, FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { fleetRecord, goodOf } from '../../../../support/fleet-records.ts';

const BREACH = { cause: 'ClustersFailed', atMs: 4000, message: '1 failed', clusters: [] } as const;
const FORMER = goodOf('former');

const wordsOf = (gate: FleetGate, changes: Partial<FleetRecord> = {}): string =>
  describeFleetGate(fleetRecord({ gate, ...changes }));

describe('the words for a fleet', () => {
  it('name stage, clusters and gate in one line, the failed ones first', () => {
    const counts = {
      waiting: 2,
      rolling: 1,
      well: 3,
      failed: 1,
      offline: 1,
      untouched: 0,
      returning: 0,
    };
    const record = fleetRecord({ stage: 1, counts });
    assert.equal(
      summarizeFleet(record),
      'stage early (2 of 3), 1 failed, 1 rolling, 3 well, 2 waiting, 1 offline: its clusters are updating',
    );
    assert.equal(
      summarizeFleet({ ...record, stage: 3, gate: { kind: 'done' } }),
      'generation 2 is rolled out',
    );
  });

  it('count no clusters of a release that all have left', () => {
    const record = fleetRecord({ stage: 1, gate: { kind: 'returned' }, counts: NO_COUNTS });
    assert.match(
      summarizeFleet(record),
      /^stage early \(2 of 3\): all clusters within reach are back/,
    );
  });

  it('say of a gate before or after which stage it is', () => {
    assert.equal(
      wordsOf({ kind: 'approval', stepIndex: 2 }),
      'waits for approval before stage early (gate 2)',
    );
    assert.equal(
      wordsOf({ kind: 'approval', stepIndex: 1 }),
      'waits for approval after stage first (gate 1)',
    );
    assert.match(
      wordsOf({ kind: 'no-evidence', stage: 'first', stepIndex: 0 }),
      /^no cluster of stage first .* no success: .* before stage first \(gate 0\)$/,
    );
  });

  it('say which cluster would refuse it, what its API server says, and what to do', () => {
    const times = { sinceMs: 0, askAtMs: 60_000 };
    assert.equal(
      wordsOf({ kind: 'refused', cluster: clusterId('eu-2'), message: 'is forbidden', ...times }),
      'none of its clusters is given it, because eu-2 would refuse it: is forbidden. Give it what it lacks (rights: rollcall fleet rights eu-2), or freeze it to go on without it. It is asked again at 1970-01-01T00:01:00Z',
    );
  });

  it('say who holds it and why, with times', () => {
    const paused = { paused: { by: 'anna', atMs: 3000 } };
    assert.equal(
      wordsOf({ kind: 'paused' }, { orders: paused }),
      'paused by anna at 1970-01-01T00:00:03Z',
    );
    assert.equal(wordsOf({ kind: 'frozen', by: 'ben', why: 'a fire' }), 'frozen by ben: a fire');
    assert.equal(wordsOf({ kind: 'frozen', by: 'ben', why: '' }), 'frozen by ben');
    assert.equal(
      wordsOf({ kind: 'breach' }, { breach: BREACH }),
      'halted: ClustersFailed at 1970-01-01T00:00:04Z: 1 failed',
    );
  });

  it('say where clusters go back to, and why', () => {
    const undo = { undo: { by: 'anna', atMs: 3000 } };
    assert.equal(
      wordsOf({ kind: 'returning' }, { good: [FORMER], orders: undo }),
      'clusters go back to generation 1, asked for by anna at 1970-01-01T00:00:03Z',
    );
    assert.match(
      wordsOf({ kind: 'returned' }, { good: [FORMER], breach: BREACH }),
      /back at generation 1; generation 2 is held \(ClustersFailed at /,
    );
  });

  it('have one phase for each gate', () => {
    const phases = (
      ['updating', 'next', 'paused', 'breach', 'returning', 'returned', 'done'] as const
    ).map((kind) => fleetPhaseOf({ gate: { kind } }));
    assert.deepEqual(phases, [
      'Progressing',
      'Progressing',
      'Paused',
      'Halted',
      'Returning',
      'Returned',
      'Done',
    ]);
  });
});
