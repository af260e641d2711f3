/** How a fleet's rollout ended, and what of it is a success. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endingOf, isAsPlanned } from '../../../../src/cli/start/fleet-plan.ts';
import type { FleetGate } from '../../../../src/core/fleet/rollout/fleet-record.ts';
import { fleetRecordOf } from '../../../support/fleet-records.ts';

const HALT = { onHalt: 'halt' } as const;
const ROLLBACK = { onHalt: 'rollback' } as const;

function ended(gate: FleetGate, plan: { readonly onHalt: 'halt' | 'rollback' }): unknown {
  const record = fleetRecordOf({ gate });
  return endingOf(record, record.release.generation, plan);
}

describe('the rollout of a fleet', () => {
  it('ended once it is done, halted, or back', () => {
    assert.equal(ended({ kind: 'done' }, HALT), 'completed');
    assert.equal(ended({ kind: 'breach' }, HALT), 'halted');
    assert.equal(ended({ kind: 'returned' }, ROLLBACK), 'rolled-back');
    assert.equal(ended({ kind: 'updating' }, HALT), undefined);
    assert.equal(ended({ kind: 'returning' }, ROLLBACK), undefined);
  });

  it('is halted for good where there is no way back', () => {
    const record = fleetRecordOf({ gate: { kind: 'breach' } });
    const { generation } = record.release;
    assert.equal(endingOf(record, generation, ROLLBACK), undefined);
    assert.equal(endingOf({ ...record, good: [] }, generation, ROLLBACK), 'halted');
  });

  it('tells nothing of another generation', () => {
    const record = fleetRecordOf({ gate: { kind: 'done' } });
    assert.equal(endingOf(record, record.release.generation + 1, HALT), undefined);
    assert.equal(endingOf(undefined, 1, HALT), undefined);
  });
});

describe('a play', () => {
  it('of a good release is to go through', () => {
    assert.equal(isAsPlanned('completed', { stage: 3 }, HALT), true);
    assert.equal(isAsPlanned('halted', { stage: 0 }, HALT), false);
  });

  it('of a bad one is to be halted in the first ring, and to go back if told to', () => {
    const bad = { ...HALT, inject: 'kernel' } as const;
    assert.equal(isAsPlanned('halted', { stage: 0 }, bad), true);
    assert.equal(isAsPlanned('halted', { stage: 1 }, bad), false, 'that was too late');
    assert.equal(isAsPlanned('completed', { stage: 3 }, bad), false);
    const back = { ...ROLLBACK, inject: 'kernel' } as const;
    assert.equal(isAsPlanned('halted', { stage: 0 }, back), false);
    assert.equal(isAsPlanned('rolled-back', { stage: 0 }, back), true);
  });
});
