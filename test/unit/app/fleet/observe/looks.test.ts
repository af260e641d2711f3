// Which clusters of thousands a step looks at, and what it knows of the others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StepFleetsDependencies } from '../../../../../src/app/fleet/observe/dependencies.ts';
import { Looks } from '../../../../../src/app/fleet/observe/looks.ts';
import type {
  FleetClusterRecord,
  FleetRecord,
} from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import { clusterRecordOf, fleetRecordOf } from '../../../../support/fleet-records.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';
import { MemoryFleetRolloutStore } from '../../../../support/memory-fleet-rollout-store.ts';

const OPENED_MS = NOW_MS - 3_600_000;

function thousands(changes: Partial<FleetRecord> = {}): FleetRecord {
  const members = { id: 'many', count: 6000 };
  return fleetRecordOf({ stages: [{ name: 'rest', members, namesNobody: false }], ...changes });
}

function of(id: string, phase: FleetClusterRecord['phase']) {
  return {
    id: clusterId(id),
    record: clusterRecordOf(id, { phase, openedAtMs: OPENED_MS }),
  };
}

/** Of a step that begins now, of which each look is `agoMs` old. */
async function looksOf(
  agoMs: Readonly<Record<string, number>>,
  record = thousands(),
  phase: FleetClusterRecord['phase'] = 'well',
): Promise<Looks> {
  const rollouts = new MemoryFleetRolloutStore();
  await rollouts.writeLooks(
    record,
    Object.entries(agoMs).map(([id, ms]) => {
      return { cluster: clusterId(id), atMs: NOW_MS - ms, kind: 'well', phase };
    }),
  );
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 };
  // Of the dependencies only what is used.
  const dependencies = { rollouts, clock } as unknown as StepFleetsDependencies;
  return Looks.open(record, { deadlineMs: 0, wallDeadlineMs: 0 }, dependencies);
}

describe('Looks', () => {
  it('go to a cluster that rolls before one that is done, and to the one seen longest ago first', async () => {
    const looks = await looksOf({ a: 60_000, b: 120_000, c: 500_000, d: 60_000 });
    const clusters = [of('a', 'well'), of('b', 'well'), of('c', 'well'), of('d', 'rolling')];
    const order = looks.inOrder(clusters, (one) => one).map(({ id }) => id);
    assert.deepEqual(order, ['c', 'd', 'b', 'a']);
  });

  it('let a stage open for twenty minutes, and by none of before it soaked', async () => {
    const looks = await looksOf({ a: 1_190_000, b: 1_210_000 });
    assert.equal(looks.isRecent(of('a', 'well')), true);
    assert.equal(looks.isRecent(of('b', 'well')), false);
    assert.equal(looks.isRecent(of('never', 'well')), false);
    const soaking = await looksOf({ a: 61_000 }, thousands({ wellSinceMs: NOW_MS - 60_000 }));
    assert.equal(soaking.isRecent(of('a', 'well')), false);
  });

  it('say nothing of a record that moved since: it was given something, or judged and not written', async () => {
    const looks = await looksOf({ a: 60_000, b: OPENED_MS }, thousands(), 'rolling');
    assert.equal(looks.known(of('a', 'well')), undefined);
    assert.equal(looks.known(of('a', 'rolling'))?.kind, 'well');
    assert.equal(looks.known(of('b', 'rolling')), undefined, 'given after it was seen');
  });

  it('get somewhere where there is no time at all', async () => {
    const looks = await looksOf({});
    const begun = Array.from({ length: 100 }, (_, index) => of(String(index), 'rolling'));
    assert.equal(begun.filter((one) => looks.mayLook(one)).length, 32);
  });

  it('go to every cluster of a fleet that is small', async () => {
    const looks = await looksOf({}, fleetRecordOf());
    const begun = Array.from({ length: 100 }, (_, index) => of(String(index), 'rolling'));
    assert.equal(begun.filter((one) => looks.mayLook(one)).length, 100);
    assert.equal(looks.isRecent(of('a', 'well')), true);
  });
});
