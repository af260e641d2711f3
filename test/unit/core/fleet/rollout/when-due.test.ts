// When a fleet is looked at next: often while clusters roll, and hardly once it is done.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetGate, FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { isSameRecord, whenDue } from '../../../../../src/core/fleet/rollout/when-due.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';
import { fleetRecordOf } from '../../../../support/fleet-records.ts';

const HOUR_MS = 3_600_000;

function waitOf(gate: FleetGate, changes: Partial<FleetRecord> = {}): number {
  return whenDue(fleetRecordOf({ gate, ...changes }), NOW_MS) - NOW_MS;
}

describe('whenDue', () => {
  it('looks at a soak every minute, and at its end', () => {
    assert.equal(waitOf({ kind: 'soaking', untilMs: NOW_MS + HOUR_MS }), 60_000);
    assert.equal(waitOf({ kind: 'soaking', untilMs: NOW_MS + 30_000 }), 30_000);
    assert.equal(waitOf({ kind: 'soaking', untilMs: NOW_MS - 1 }), 15_000);
  });

  it('looks when a window opens, at the latest after ten minutes', () => {
    assert.equal(waitOf({ kind: 'window', opensAtMs: NOW_MS + 90_000 }), 90_000);
    assert.equal(waitOf({ kind: 'window', opensAtMs: NOW_MS + HOUR_MS }), 600_000);
    assert.equal(waitOf({ kind: 'window' }), 600_000);
  });

  it('looks at what nobody can mend by waiting every ten minutes', () => {
    assert.equal(waitOf({ kind: 'breach' }), 600_000);
    assert.equal(waitOf({ kind: 'frozen', by: '', why: '' }), 600_000);
    assert.equal(waitOf({ kind: 'invalid', message: '' }), 600_000);
  });

  it('leaves a fleet alone that is done, until its ring or its drift is due', () => {
    const driftDueAtMs = NOW_MS + 6 * HOUR_MS;
    assert.equal(waitOf({ kind: 'done' }, { driftDueAtMs }), 6 * HOUR_MS);
    const ring = { id: 'r', count: 1 };
    const ringDueAtMs = NOW_MS + 900_000;
    assert.equal(waitOf({ kind: 'done' }, { driftDueAtMs, ring, ringDueAtMs }), 900_000);
  });
});

describe('isSameRecord', () => {
  it('looks at everything but when it is due and when it progressed', () => {
    const record = fleetRecordOf();
    assert.ok(isSameRecord(record, { ...record, dueAtMs: 1, progressedAtMs: 1 }));
    assert.ok(!isSameRecord(record, { ...record, stage: 1 }));
    assert.ok(!isSameRecord(record, { ...record, counts: { ...record.counts, well: 1 } }));
  });
});
