/** The whole node agent over the simulated runtime: containers that start, crash, probe and stop as a pod asks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineSpec } from '../../../src/machines/machine.ts';
import { conditionsOf } from '../../../src/node-agent/node/node-status.ts';
import { startNodeAgent } from '../../../src/node-agent/start-node-agent.ts';
import type { NodeAgent } from '../../../src/node-agent/start-node-agent.ts';
import type { PodObject } from '../../../src/node-agent/shared/pod-object.ts';
import { createSimulatedRuntime } from '../../../src/runtime/simulated-runtime.ts';
import type { ContainerRuntime } from '../../../src/runtime/cri.ts';
import { jsonMember } from '@rollcall/base/json.ts';
import { prepareNamespace, TEST_MACHINE } from '../../support/agent-world.ts';
import { podObject } from '../../support/objects.ts';
import { createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

interface WholeWorld extends LocalWorld {
  readonly agent: NodeAgent;
  readonly runtime: ContainerRuntime;
  readonly writes: string[];
  readonly run: (name: string, image: string, metadata?: PodObject['metadata']) => Promise<void>;
  readonly pod: (name: string) => PodObject | undefined;
  /** What is seen of the pod's container at each second. */
  readonly watch: (name: string, seconds: number) => Promise<readonly string[]>;
  readonly boot: (runtime?: ContainerRuntime) => NodeAgent;
}

async function createWholeWorld(machine: Partial<MachineSpec> = {}): Promise<WholeWorld> {
  const writes: string[] = [];
  const world = await createLocalWorld({
    onRequest: ({ attributes }) => {
      if (!attributes.user.name.startsWith('system:node:')) return;
      if (['get', 'list', 'watch'].includes(attributes.verb)) return;
      writes.push(`${attributes.verb} ${attributes.resource}`);
    },
  });
  await prepareNamespace(world);
  const { clock, random, log } = world;
  const spec = { ...TEST_MACHINE, ...machine };
  const runtime = createSimulatedRuntime({ machine: spec, clock, random });
  const user = { name: `system:node:${spec.name}`, groups: ['system:masters'] };
  const client = world.clients.clientFor(user);
  const boot = (over = runtime): NodeAgent =>
    startNodeAgent({ machine: spec, client, runtime: over, clock, random, log });
  const agent = boot();
  await world.settle();
  const pod = (name: string): PodObject | undefined =>
    world.read({ resource: 'pods', namespace: 'default', name }) as PodObject | undefined;
  return {
    ...world,
    agent,
    runtime,
    writes,
    boot,
    pod,
    run: async (name, image, metadata) => {
      const containers = [{ name: 'main', image }];
      const given = metadata === undefined ? {} : { metadata };
      await world.create(
        'pods',
        podObject(name, { ...given, spec: { nodeName: spec.name, containers } }),
      );
    },
    watch: async (name, seconds) => {
      const seen: string[] = [];
      for (let second = 0; second < seconds; second += 1) {
        await clock.advance(1000);
        const text = describeContainer(pod(name));
        if (seen.at(-1) !== text) seen.push(text);
      }
      return seen;
    },
  };
}

function describeContainer(pod: PodObject | undefined): string {
  const status = pod?.status?.containerStatuses?.[0];
  if (status === undefined) return 'gone';
  const { waiting, running, terminated } = status.state;
  const state =
    waiting?.reason ??
    terminated?.reason ??
    (running === undefined ? 'unknown' : `Running ready=${status.ready}`);
  return `${state} restarts=${status.restartCount}`;
}

describe('a node agent over the simulated runtime', () => {
  it('brings a pod to Ready and tells of it as the kubelet does', async () => {
    const world = await createWholeWorld();
    await world.run('p', 'example/main:1');
    assert.deepEqual(await world.watch('p', 5), ['Running ready=true restarts=0']);
    assert.deepEqual(
      world.eventsAbout('p').map((text) => text.split(':')[0]),
      ['Normal Pulling', 'Normal Pulled', 'Normal Created', 'Normal Started'],
    );
    assert.equal(world.writes.filter((write) => write === 'patch pods').length, 2);
    const podIp = world.pod('p')?.status?.['podIP'];
    assert.ok(typeof podIp === 'string' && podIp.startsWith('10.'));
    await world.agent.stop();
  });

  it('says each stage in the log, in order', async () => {
    const world = await createWholeWorld();
    const since = world.log.lines.length;
    await world.run('p', 'example/main:1');
    await world.watch('p', 5);
    const messages = world.log.lines.slice(since).map(({ message }) => message);
    const stages = [
      ...['receive', 'SyncLoop ADD', 'admission', 'syncPod', 'generated status', 'cgroup'],
      ...['waiting for volumes', 'volumes mounted', 'runtime sync', 'sandbox created', 'CNI'],
      ...['pod IP', 'event', 'container created', 'SyncLoop (PLEG)', 'status PATCH'],
    ];
    let from = 0;
    for (const stage of stages) {
      const at = messages.indexOf(stage, from);
      assert.ok(at >= from, `"${stage}" is missing after ${from} in ${messages.join(', ')}`);
      from = at + 1;
    }
    await world.agent.stop();
  });

  it('restarts a crashing container with back-off and shows each step', async () => {
    const world = await createWholeWorld();
    await world.run('p', 'example/crash-loop:1');
    const seen = await world.watch('p', 20);
    assert.deepEqual(seen.slice(1, 6), [
      'Running ready=true restarts=1',
      'Error restarts=1',
      'CrashLoopBackOff restarts=1',
      'Running ready=true restarts=2',
      'Error restarts=2',
    ]);
    assert.equal(world.pod('p')?.status?.phase, 'Running');
    await world.agent.stop();
  });

  it('turns ready and not ready by turns where readiness flaps', async () => {
    const world = await createWholeWorld();
    const probe = { exec: { command: ['true'] }, periodSeconds: 1, failureThreshold: 1 };
    const image = 'example/main:1-simulate-flap-5s';
    const containers = [{ name: 'main', image, readinessProbe: probe }];
    await world.create('pods', podObject('p', { spec: { nodeName: 'node-1', containers } }));
    assert.deepEqual((await world.watch('p', 20)).slice(-4), [
      'Running ready=true restarts=0',
      'Running ready=false restarts=0',
      'Running ready=true restarts=0',
      'Running ready=false restarts=0',
    ]);
    await world.agent.stop();
  });

  it('shows an image that cannot be pulled, first the error, then the back-off', async () => {
    const world = await createWholeWorld();
    await world.run('p', 'example/cannot-pull:1');
    const seen = await world.watch('p', 8);
    assert.deepEqual(seen, [
      'ContainerCreating restarts=0',
      'ErrImagePull restarts=0',
      'ImagePullBackOff restarts=0',
    ]);
    await world.agent.stop();
  });

  it('leaves nothing of a deleted pod in the runtime', async () => {
    const world = await createWholeWorld();
    await world.run('p', 'example/main:1');
    await world.watch('p', 5);
    await world.admin.delete({ resource: 'pods', namespace: 'default', name: 'p' });
    assert.equal((await world.watch('p', 35)).at(-1), 'gone');
    assert.deepEqual(world.runtime.listPodSandboxes(), []);
    assert.deepEqual(world.runtime.listContainers(), []);
    await world.agent.stop();
  });

  it('starts its pods again after the machine was off, and counts that as a restart', async () => {
    const world = await createWholeWorld();
    await world.run('p', 'example/main:1');
    await world.watch('p', 5);
    world.agent.powerOff();
    const { clock, random } = world;
    const bootId = (): unknown => {
      const status = world.read({ resource: 'nodes', name: 'node-1' })?.['status'];
      return jsonMember(jsonMember(status, 'nodeInfo'), 'bootID');
    };
    const before = bootId();
    const again = world.boot(createSimulatedRuntime({ machine: TEST_MACHINE, clock, random }));
    assert.equal((await world.watch('p', 5)).at(-1), 'Running ready=true restarts=1');
    assert.notEqual(bootId(), before, 'its kernel tells of another boot');
    assert.equal(world.pod('p')?.status?.phase, 'Running');
    await again.stop();
  });

  it('makes a cold node Ready once its network pod runs, and starts what waited', async () => {
    const world = await createWholeWorld({ network: 'daemon' });
    const ready = (): string | undefined =>
      conditionsOf(world.read({ resource: 'nodes', name: 'node-1' })?.['status']).at(-1)?.status;
    assert.equal(ready(), 'False');
    await world.run('p', 'example/main:1');
    await world.clock.advance(3000);
    assert.equal(world.pod('p')?.status?.phase, 'Pending');
    await world.create(
      'pods',
      podObject('cni', {
        metadata: { annotations: { 'rollcall.dev/provides': 'pod-network' } },
        spec: { nodeName: 'node-1', hostNetwork: true },
      }),
    );
    await world.clock.advance(10_000);
    assert.equal(ready(), 'True');
    assert.equal(world.pod('p')?.status?.phase, 'Running');
    assert.ok(world.eventsAbout('node-1').some((text) => text.startsWith('Normal NodeReady')));
    await world.agent.stop();
  });

  it('writes nothing any more when its machine loses power', async () => {
    const world = await createWholeWorld();
    await world.run('p', 'example/main:1');
    await world.clock.advance(100);
    world.agent.powerOff();
    const before = world.writes.length;
    await world.clock.advance(600_000);
    assert.equal(world.writes.length, before);
    assert.equal(world.clock.pendingTimers, 0);
  });
});
