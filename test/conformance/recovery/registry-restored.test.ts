/**
 * The registry comes back from an older backup: what it says is followed as far as that is safe. No pod
 * restarts, none is doubled, and a cluster that the backup does not know is left alone until it is registered.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { handBackFrom } from '../handover/hand-back.ts';
import { edit } from '../rollouts/rolled.ts';
import { stageCluster } from '../scenarios/stage.ts';
import {
  addNode,
  expectPodsOn,
  expectRolled,
  expectStatuses,
  expectView,
  openFleet,
  podsOf,
  withoutPodChange,
} from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { openTables, type OperatorTables } from './tables.ts';

const CLUSTER = clusterId('conformance');
const NODES = 20;
const DEADLINE_MS = 300_000;

const skip = skipWithoutTools([TOOLS.go]);

describe('the registry restored from an older backup', { timeout: 1_700_000, skip }, () => {
  let fleet: Fleet;
  let tables: OperatorTables;

  before(async () => {
    fleet = await openFleet('registry-restored', { nodes: NODES, daemonSets: 3 });
    tables = openTables(fleet.stage.engine().aws);
  });
  after(async () => {
    (tables as OperatorTables | undefined)?.close();
    await (fleet as Fleet | undefined)?.stage.close();
  });

  it('row 34: from before a freeze: nothing restarts, and what was held back goes on', async () => {
    const backup = await tables.copy('RegistryTable');
    const [set] = fleet.sets;
    assert.ok(set !== undefined);
    const others = podsOf(fleet);
    await change(fleet, { isFrozen: true });
    await withoutPodChange(fleet, () => edit(fleet.stage, set, { version: 'b' }));
    await withoutPodChange(fleet, () => tables.restore('RegistryTable', backup));
    await addNode(fleet, 'after-freeze');
    await expectRolled(fleet, set, { version: 'b', nodes: NODES + 1 });
    await expectPodsOn(fleet, 'after-freeze');
    assertKept(fleet, others, set.name);
  });

  it('row 34: from before the cluster was added: its watcher is refused, and comes back when it is registered', async () => {
    const registration = await registrationOf(fleet);
    const former = podsOf(fleet);
    const refusedBefore = fleet.stage.activity.counted('IngestRefusals');
    await withoutPodChange(fleet, async () => {
      await tables.restore('RegistryTable', []);
      await addNode(fleet, 'while-unknown');
      await pollUntil({ deadlineMs: DEADLINE_MS, description: 'a refusal' }, () =>
        fleet.stage.activity.counted('IngestRefusals') > refusedBefore ? true : undefined,
      );
    });
    const written = await fleet.stage.engine().registry.writeCluster(registration, 0);
    assert.equal(written, 'written');
    await addNode(fleet, 'while-known');
    await expectView(fleet, true);
    await expectPodsOn(fleet, 'while-unknown');
    await expectPodsOn(fleet, 'while-known');
    assertKept(fleet, former);
    await expectStatuses(fleet, NODES + 3);
  });

  it('row 34: from before the takeover: it only observes, until the takeover is entered again', async () => {
    await handBackFrom(fleet.stage.engine(), stageCluster(fleet.stage.cluster));
    const observing = await tables.copy('RegistryTable');
    await fleet.stage.restartEngine();
    reopenTables();
    assert.equal((await registrationOf(fleet)).mode, 'takeover');
    const former = podsOf(fleet);
    await withoutPodChange(fleet, async () => {
      await tables.restore('RegistryTable', observing);
      await addNode(fleet, 'while-observed');
    });
    await fleet.stage.restartEngine();
    reopenTables();
    await expectPodsOn(fleet, 'while-observed');
    assertKept(fleet, former);
  });

  it('row 34: from before it was handed back: its sentinel is gone, so nothing is done there (S1)', async () => {
    const takenOver = await tables.copy('RegistryTable');
    const former = podsOf(fleet);
    await handBackFrom(fleet.stage.engine(), stageCluster(fleet.stage.cluster));
    const { controlPlane } = fleet.stage.cluster;
    assert.ok(controlPlane !== undefined);
    await controlPlane.setDaemonSetController('on');
    await addNode(fleet, 'built-in');
    await expectPodsOn(fleet, 'built-in');
    await withoutPodChange(fleet, () => tables.restore('RegistryTable', takenOver));
    await addNode(fleet, 'contested');
    await expectPodsOn(fleet, 'contested');
    assertKept(fleet, former);
    assert.deepEqual(fleet.stage.observer.violations, []);
  });

  function reopenTables(): void {
    tables.close();
    tables = openTables(fleet.stage.engine().aws);
  }
});

async function registrationOf({ stage }: Fleet): Promise<ClusterRegistration> {
  const registration = await stage.engine().registry.readCluster(CLUSTER);
  assert.ok(registration !== undefined);
  return registration;
}

async function change(fleet: Fleet, changes: Partial<ClusterRegistration>): Promise<void> {
  const stored = await registrationOf(fleet);
  const { registry } = fleet.stage.engine();
  const written = await registry.writeCluster({ ...stored, ...changes }, stored.configVersion);
  assert.equal(written, 'written');
}

/** Every pod that was there is there, but for those of one DaemonSet that was rolled. */
function assertKept(
  fleet: Fleet,
  former: ReturnType<typeof podsOf>,
  rolledName: string | undefined = undefined,
): void {
  const now = podsOf(fleet);
  for (const [name, pods] of former) {
    if (name === rolledName) continue;
    for (const [node, uid] of pods) assert.equal(now.get(name)?.get(node), uid, `${name} ${node}`);
  }
  assert.deepEqual(fleet.stage.observer.violations, []);
}
