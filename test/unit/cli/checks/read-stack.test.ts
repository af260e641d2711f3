/** What the doctor knows of the FleetDaemonSets of a stack: where they are placed, and whose step is overdue. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStackWide, readFleets } from '../../../../src/cli/checks/read-stack.ts';
import type { FleetsFact } from '../../../../src/app/checks/needs.ts';
import { fleetDocument } from '../../../support/fleet-samples.ts';
import { fleetRecordOf } from '../../../support/fleet-records.ts';
import { MemoryFleetRolloutStore } from '../../../support/memory-fleet-rollout-store.ts';
import { RegistryInProcess } from '../../../support/registry-in-process.ts';
import { MemoryFreezeStore } from '../../../support/memory-freeze-store.ts';
import { MemoryRegistryStore } from '../../../support/memory-registry-store.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { registrationOf } from '../../../support/store-suite.ts';

const APPLIED_MS = 1_000_000;
const MINUTE_MS = 60_000;
const KEY = { namespace: 'monitoring', name: 'agent' };

async function worldOf() {
  const { fleets } = new RegistryInProcess();
  const rollouts = new MemoryFleetRolloutStore();
  const placement = { clusterSelector: { matchLabels: { ring: 'one' } } };
  const head = { ...KEY, uid: 'u', generation: 1, appliedAtMs: APPLIED_MS, appliedBy: 'ann' };
  const document = fleetDocument({ placement });
  await fleets.writeFleet({ ...head, history: [], contentHash: 'h', document }, undefined);
  const stores = { registry: new MemoryRegistryStore(), freezes: new MemoryFreezeStore() };
  const wide = openStackWide({ fleets, rollouts, view: new MemoryViewStore(), ...stores });
  const look = async (minutes: number, ring = 'one'): Promise<FleetsFact> => {
    const registration = { ...registrationOf('a'), labels: { ring } };
    const found = await readFleets(registration, wide, APPLIED_MS + minutes * MINUTE_MS);
    assert.ok(found.kind === 'checked');
    return found.value;
  };
  return {
    rollouts,
    look,
    reads: () => fleets.calls.filter(({ operation }) => operation === 'listFleets').length,
  };
}

describe('readFleets', () => {
  it('finds those that are placed on a cluster, and reads once for all', async () => {
    const { look, reads } = await worldOf();
    assert.deepEqual((await look(0)).placed, ['monitoring/agent']);
    assert.deepEqual(await look(60, 'two'), { placed: [], unreadable: [], late: [] });
    assert.equal(reads(), 1);
  });

  it('tells of one that was applied and not begun, once some turns are lost', async () => {
    const { look } = await worldOf();
    assert.deepEqual((await look(5)).late, []);
    assert.deepEqual((await look(6)).late, [{ fleet: 'monitoring/agent', sinceMs: APPLIED_MS }]);
  });

  it('goes by when the next step is due, where that is of what was applied last', async () => {
    const dueAtMs = APPLIED_MS + 10 * MINUTE_MS;
    for (const [generation, lateAfter] of [
      [1, 16],
      [0, 6],
    ] as const) {
      const { look, rollouts } = await worldOf();
      const release = { ...fleetRecordOf().release, generation };
      const record = { ...fleetRecordOf(), uid: 'u', release, dueAtMs, version: 0 };
      assert.equal(await rollouts.writeRecord(record), 'written');
      assert.equal((await look(lateAfter - 1)).late.length, 0, String(generation));
      assert.equal((await look(lateAfter)).late.length, 1, String(generation));
    }
  });
});
