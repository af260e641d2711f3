// Applying a FleetDaemonSet: which documents somebody may go back to afterwards.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { createFleetReader } from '../../../../src/adapters/policy/fleet/fleet-reader.ts';
import { applyFleet } from '../../../../src/app/fleet/apply-fleet.ts';
import { releaseOf } from '../../../../src/core/fleet/rollout/begin-rollout.ts';
import type { FleetStore, StoredFleet } from '../../../../src/ports/stores/fleet-rollout-store.ts';
import { wholeFleetRecord } from '../../../support/fleet-rollout-store-suite.ts';
import { fleetDocument, fleetOf, manifestOf } from '../../../support/fleet-samples.ts';
import { MemoryFleetRolloutStore } from '../../../support/memory-fleet-rollout-store.ts';
import { RegistryInProcess } from '../../../support/registry-in-process.ts';
import { MemoryRegistryStore } from '../../../support/memory-registry-store.ts';

const KEY = { namespace: 'monitoring', name: 'agent' };
const reader = createFleetReader();

describe('applying a FleetDaemonSet again and again', () => {
  let fleets: FleetStore;
  let rollouts: MemoryFleetRolloutStore;
  beforeEach(() => {
    ({ fleets } = new RegistryInProcess());
    rollouts = new MemoryFleetRolloutStore();
  });

  async function apply(spec: JsonObject): Promise<StoredFleet> {
    const registry = new MemoryRegistryStore();
    const application = { document: fleetDocument(spec), fleet: fleetOf(spec) };
    const outcome = await applyFleet(
      { ...application, by: 'somebody', nowMs: 1 },
      { fleets, rollouts, registry, reader, random: seededRandom(1) },
    );
    assert.notEqual(outcome.kind, 'refused');
    return (await fleets.readFleet(KEY)) ?? assert.fail();
  }

  const version = (count: number): JsonObject => ({
    template: manifestOf({}, `registry.example/agent:${String(count)}`),
  });

  it('keeps what was applied before, with the name of its content', async () => {
    const first = await apply(version(1));
    assert.deepEqual(first.head.history, []);
    const second = await apply(version(2));
    assert.deepEqual(second.head.history, [releaseOf(first.head)]);
    const document = await fleets.readDocument(KEY, first.head.documentId);
    assert.deepEqual(document, fleetDocument(version(1)));
    const same = await apply({ ...version(2), placement: { clusterNames: ['a'] } });
    assert.equal(same.head.generation, 3);
    assert.equal(same.head.contentHash, second.head.contentHash);
    assert.notEqual(same.head.contentHash, first.head.contentHash);
  });

  it('never removes what was proven, however often something else is applied', async () => {
    const first = await apply(version(1));
    const release = releaseOf(first.head);
    const good = [{ ...release, id: release.contentHash, goodAtMs: 1, isBaseline: false }];
    await rollouts.writeRecord({ ...wholeFleetRecord('agent'), ...KEY, good });
    for (let count = 2; count < 15; count += 1) await apply(version(count));
    const { head } = await apply(version(15));
    assert.equal(head.history.length, 10);
    assert.equal(head.history.at(-1)?.documentId, first.head.documentId);
    assert.deepEqual(
      await fleets.readDocument(KEY, first.head.documentId),
      fleetDocument(version(1)),
    );
  });
});
