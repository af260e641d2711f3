// What is told of a step of a fleet, and under which ids (issue 18).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  UNTOLD_MAX,
  decisionOf,
  untoldOf,
} from '../../../../../src/core/fleet/rollout/fleet-decision.ts';
import type { Told } from '../../../../../src/core/fleet/rollout/fleet-decision.ts';
import type { FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import { clusterRecordOf, fleetRecordOf } from '../../../../support/fleet-records.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';

const RECORD = fleetRecordOf();

function told(changes: Partial<Told> = {}): readonly (readonly [string, string])[] {
  const step = { before: RECORD, after: RECORD, failed: [], nowMs: NOW_MS, ...changes };
  return untoldOf(step).map(({ kind, message }) => [kind, message] as const);
}

function at(kind: 'returning' | 'returned'): FleetRecord {
  return fleetRecordOf({ gate: { kind } });
}

describe('untoldOf', () => {
  it('tells that a generation began, also the first one', () => {
    const began = [['rollout-started', 'generation 2 began']];
    assert.deepEqual(told({ before: undefined }), began);
    const former = fleetRecordOf({ release: { ...RECORD.release, generation: 1 } });
    assert.deepEqual(told({ before: former }), began);
  });

  it('tells once that clusters go back, and once that they are', () => {
    const to = `generation ${String(RECORD.good[0]?.generation)}`;
    const begun = [['rollback-started', `clusters go back to ${to}`]];
    assert.deepEqual(told({ after: at('returning') }), begun);
    assert.deepEqual(told({ before: undefined, after: at('returning') }).slice(1), begun);
    assert.deepEqual(told({ before: at('returning'), after: at('returning') }), []);
    assert.deepEqual(told({ before: at('returning'), after: at('returned') }), [
      ['rolled-back', `every cluster within reach is back at ${to}`],
    ]);
    assert.deepEqual(told({ before: at('returned'), after: at('returned') }), []);
    assert.equal(told({ before: undefined, after: at('returned') }).at(-1)?.[0], 'rolled-back');
  });

  it('tells of each cluster that failed, by its name and cause', () => {
    const cluster = clusterId('eu-1');
    const failure = { cause: 'Refused', message: 'no quota', atMs: NOW_MS, nodes: [] } as const;
    const [one] = untoldOf({
      before: RECORD,
      after: RECORD,
      failed: [clusterRecordOf('eu-1', { phase: 'failed', failure })],
      nowMs: NOW_MS,
    });
    assert.deepEqual(one, {
      id: `${RECORD.uid}/2/${String(RECORD.version + 1)}/cluster-failed/eu-1`,
      kind: 'cluster-failed',
      atMs: NOW_MS,
      message: 'eu-1: Refused: no quota',
      cluster,
    });
    const { failure: _none, ...unknown } = clusterRecordOf('eu-1', { phase: 'failed' });
    assert.deepEqual(told({ failed: [unknown] }), [['cluster-failed', 'eu-1: unknown: ']]);
  });

  it('is bounded, the decision first', () => {
    const failed = Array.from({ length: 40 }, (_, index) =>
      clusterRecordOf(`c${String(index)}`, { phase: 'failed' }),
    );
    const decision = { kind: 'halted', message: '40 clusters failed' } as const;
    const kinds = told({ failed, decision }).map(([kind]) => kind);
    assert.equal(kinds.length, UNTOLD_MAX);
    assert.equal(kinds[0], 'halted');
  });
});

describe('decisionOf', () => {
  it('is named by the fleet, the release, the write and the kind, so that each has its own id', () => {
    const of = (record: FleetRecord): string =>
      decisionOf(record, { kind: 'paused', atMs: NOW_MS, message: '' }).id;
    const id = of(RECORD);
    assert.equal(id, `${RECORD.uid}/2/${String(RECORD.version + 1)}/paused`);
    assert.notEqual(of({ ...RECORD, version: RECORD.version + 1 }), id);
    assert.notEqual(of({ ...RECORD, uid: 'another' }), id);
  });
});
