/** Machines follow Node objects: created, deleted, powered off, shut down, booted again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startFleet } from '../../../src/cluster/fleet.ts';
import { machineAnnotations } from '../../../src/machines/machine.ts';
import type { MachineSpec } from '../../../src/machines/machine.ts';
import { variedMachines } from '../../../src/machines/machines.ts';
import type { PodObject } from '../../../src/node-agent/shared/pod-object.ts';
import { prepareNamespace } from '../../support/agent-world.ts';
import { podObject } from '../../support/objects.ts';
import { createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const NODE = 'worker-1';
const LEASE = {
  resource: 'leases.coordination.k8s.io',
  namespace: 'kube-node-lease',
  name: NODE,
} as const;

interface FleetWorld extends LocalWorld {
  readonly setPower: (value: string | null) => Promise<void>;
  readonly pod: (name: string) => PodObject | undefined;
  /** Runs a pod on the node and waits until it runs. */
  readonly run: (name: string, image?: string) => Promise<void>;
  readonly renewedAt: () => unknown;
}

async function createFleetWorld(kernel?: string): Promise<FleetWorld> {
  const world = await createLocalWorld();
  await prepareNamespace(world);
  const fleet = startFleet(world);
  const [, varied] = variedMachines({ count: 2, network: 'preinstalled' });
  const machine = varied && (kernel === undefined ? varied : withKernel(varied, kernel));
  assert.equal(machine?.name, NODE);
  const booted = fleet.boot([machine]);
  await world.clock.advance(1000);
  await booted;
  const pod = (name: string): PodObject | undefined =>
    world.read({ resource: 'pods', namespace: 'default', name }) as PodObject | undefined;
  return {
    ...world,
    pod,
    setPower: async (value) => {
      const body = { metadata: { annotations: { 'simulate.rollcall.dev/power': value } } };
      await world.admin.patch({ resource: 'nodes', name: NODE }, { type: 'merge', body });
      await world.settle();
    },
    run: async (name, image = 'registry.example/app:1') => {
      const containers = [{ name: 'main', image }];
      await world.create('pods', podObject(name, { spec: { nodeName: NODE, containers } }));
      await world.clock.advanceUntil(() => pod(name)?.status?.phase === 'Running', {
        withinMs: 10_000,
      });
    },
    renewedAt: () =>
      (world.read(LEASE)?.['spec'] as { renewTime?: unknown } | undefined)?.renewTime,
  };
}

function withKernel(machine: MachineSpec, kernel: string): MachineSpec {
  return { ...machine, kernel, annotations: machineAnnotations({ ...machine, kernel }) };
}

describe('a machine', () => {
  it('whose power is cut falls silent, and boots again when it is given back', async () => {
    const world = await createFleetWorld();
    await world.setPower('off');
    const silentSince = world.renewedAt();
    await world.clock.advance(60_000);
    assert.equal(world.renewedAt(), silentSince, 'a machine without power renewed its Lease');
    await world.setPower(null);
    await world.clock.advance(15_000);
    assert.notEqual(world.renewedAt(), silentSince);
    await world.run('after-boot');
  });

  it('whose kernel panics goes off and stays so, boots again when somebody says so, and is another kernel to nobody', async () => {
    const world = await createFleetWorld('5.10.0-simulated');
    const kernelOf = (): unknown =>
      (world.read({ resource: 'nodes', name: NODE })?.['status'] as { nodeInfo?: unknown })
        .nodeInfo;
    assert.partialDeepStrictEqual(kernelOf(), { kernelVersion: '5.10.0-simulated' });
    await world.run('killer', 'registry.example/app:2-simulate-panic-5.10-10s');
    await world.clock.advance(11_000);
    const silentSince = world.renewedAt();
    await world.clock.advance(60_000);
    assert.equal(
      world.renewedAt(),
      silentSince,
      'a machine whose kernel panicked renewed its Lease',
    );
    await world.admin.delete({ resource: 'pods', namespace: 'default', name: 'killer' });
    await world.setPower(null);
    await world.clock.advance(15_000);
    assert.notEqual(world.renewedAt(), silentSince);
    assert.partialDeepStrictEqual(kernelOf(), { kernelVersion: '5.10.0-simulated' });
  });

  it('goes when its Node is deleted, and comes for a Node that somebody creates', async () => {
    const world = await createFleetWorld();
    await world.admin.delete({ resource: 'nodes', name: NODE });
    await world.settle();
    const silentSince = world.renewedAt();
    await world.clock.advance(60_000);
    assert.equal(world.renewedAt(), silentSince);
    assert.equal(world.read({ resource: 'nodes', name: NODE }), undefined, 'it registered again');
    await world.create('nodes', { metadata: { name: NODE } });
    await world.clock.advance(5000);
    await world.run('on-a-new-machine');
  });
});
