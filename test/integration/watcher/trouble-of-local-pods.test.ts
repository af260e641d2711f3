/**
 * What each failure of a pod on a local machine shows in the projection, from its first second on.
 *
 * The real API, controllers, scheduler and node agent of the local cluster, on virtual time; read as a watcher reads. Runs of
 * equal trouble are one entry: their number is what a failure costs in news.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startControllers } from '@rollcall/local-cluster/controllers/start-controllers.ts';
import { startNodeAgent } from '@rollcall/local-cluster/node-agent/start-node-agent.ts';
import type { NodeAgent } from '@rollcall/local-cluster/node-agent/start-node-agent.ts';
import { createSimulatedRuntime } from '@rollcall/local-cluster/runtime/simulated-runtime.ts';
import { startScheduler } from '@rollcall/local-cluster/scheduler/start-scheduler.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  TEST_MACHINE,
  prepareNamespace,
} from '../../../packages/local-cluster/test/support/agent-world.ts';
import { podObject } from '../../../packages/local-cluster/test/support/objects.ts';
import {
  ADMINISTRATOR,
  createLocalWorld,
} from '../../../packages/local-cluster/test/support/world.ts';
import type { LocalWorld } from '../../../packages/local-cluster/test/support/world.ts';
import { projectLivePod } from '../../../src/core/projections/project.ts';
import type { PodProjection, PodTrouble } from '../../../src/core/model/projections.ts';

const MINUTE_MS = 60_000;

interface Scene {
  readonly world: LocalWorld;
  readonly agent: NodeAgent;
  readonly pod: () => PodProjection;
  /** Trouble that is not that of the second before, in order. */
  readonly watch: (durationMs: number) => Promise<readonly (PodTrouble | undefined)[]>;
  readonly stop: () => Promise<void>;
}

/** A cluster of one machine, and one pod that is bound to it unless its spec says otherwise. */
async function play(spec: JsonObject, metadata: JsonObject = {}): Promise<Scene> {
  const world = await createLocalWorld();
  const { clock, random, log, clients } = world;
  const controllers = startControllers({ clients, clock, log });
  const scheduler = startScheduler({ client: clients.clientFor(ADMINISTRATOR), clock, log });
  await prepareNamespace(world).catch(() => undefined); // a controller may be faster
  const runtime = createSimulatedRuntime({ machine: TEST_MACHINE, clock, random });
  const user = { name: 'system:node:node-1', groups: ['system:masters'] };
  const client = clients.clientFor(user);
  const agent = startNodeAgent({ machine: TEST_MACHINE, client, runtime, clock, random, log });
  await clock.advance(5000);
  const tolerations = [{ operator: 'Exists' }];
  await world.create('pods', podObject('p', { metadata, spec: { tolerations, ...spec } }));
  const pod = (): PodProjection => {
    const found = world.read({ resource: 'pods', namespace: 'default', name: 'p' });
    return projectLivePod(found ?? assert.fail('the pod is gone'));
  };
  return {
    world,
    agent,
    pod,
    watch: async (durationMs) => {
      const seen: (PodTrouble | undefined)[] = [];
      for (let passedMs = 0; passedMs < durationMs; passedMs += 1000) {
        await clock.advance(1000);
        const { trouble } = pod();
        const isNews = JSON.stringify(trouble) !== JSON.stringify(seen.at(-1));
        if (isNews) seen.push(trouble);
      }
      return seen;
    },
    stop: async () => {
      await agent.stop();
      await scheduler.stop();
      await controllers.stop();
    },
  };
}

const running = (request: string, more: JsonObject = {}): JsonObject => ({
  nodeName: 'node-1',
  containers: [{ name: 'main', image: `example/main:1-simulate-${request}`, ...more }],
});
const wordsOf = (seen: readonly (PodTrouble | undefined)[]): readonly (string | undefined)[] =>
  seen.map((trouble) => trouble?.waiting);

describe('trouble of pods on a local machine', () => {
  it('is none of one that obeys', async () => {
    const { watch, pod, stop } = await play(running('pull-2s'));
    assert.deepEqual(await watch(MINUTE_MS), []);
    assert.equal(pod().isReady, true);
    await stop();
  });

  it('bad image: one word, whatever its kubelet says in turns', async () => {
    const { watch, stop } = await play(running('pull-fails'));
    const seen = await watch(20 * MINUTE_MS);
    assert.deepEqual(seen, [{ waiting: 'ImagePullBackOff', container: 'main' }]);
    await stop();
  });

  it('missing ConfigMap: CreateContainerConfigError', async () => {
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'missing', key: 'a' } } }];
    const { watch, stop } = await play(running('pull-1s', { env }));
    const seen = await watch(5 * MINUTE_MS);
    const cause = 'ConfigMap missing is missing';
    assert.deepEqual(seen, [{ waiting: 'CreateContainerConfigError', cause, container: 'main' }]);
    await stop();
  });

  it('missing binary: StartError', async () => {
    const { watch, pod, stop } = await play(running('start-fails'));
    await watch(MINUTE_MS);
    const { trouble } = pod();
    assert.equal(trouble?.lastExit?.reason, 'StartError');
    assert.equal(trouble.lastExit.exitCode, 128);
    assert.ok((trouble.restarts ?? 0) >= 1);
    await stop();
  });

  it('crash loop: each exit, and its restart', async () => {
    const { watch, pod, stop } = await play(running('exit-1-1s'));
    const seen = await watch(10 * MINUTE_MS);
    assert.ok(wordsOf(seen).includes('CrashLoopBackOff'));
    const exits = new Set(seen.map((trouble) => trouble?.lastExit?.finishedAtMs));
    const { restarts = 0, lastExit } = pod().trouble ?? {};
    assert.ok(restarts >= 5 && exits.size >= restarts, `${restarts} restarts`);
    assert.equal(lastExit?.exitCode, 1);
    await stop();
  });

  it('slow leak: killed each eleven minutes, and never a CrashLoopBackOff', async () => {
    const { watch, pod, stop } = await play(running('oom-11m'));
    const seen = await watch(50 * MINUTE_MS);
    assert.deepEqual([...new Set(wordsOf(seen))], [undefined]);
    assert.equal(pod().trouble?.restarts, 4);
    assert.equal(pod().trouble?.lastExit?.reason, 'OOMKilled');
    await stop();
  });

  it('flapping readiness: no trouble of a container, and a pod that is ready by turns', async () => {
    const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 1, failureThreshold: 1 };
    const { watch, pod, world, stop } = await play(running('flap-10s', { readinessProbe }));
    const turns: boolean[] = [];
    for (let second = 0; second < 60; second += 1) {
      await world.clock.advance(1000);
      if (turns.at(-1) !== pod().isReady) turns.push(pod().isReady);
    }
    assert.ok(turns.length >= 5, String(turns));
    assert.deepEqual(await watch(10_000), []);
    await stop();
  });

  it('failing init container: its exit, by its name', async () => {
    const { watch, pod, stop } = await play({
      ...running('pull-1s'),
      initContainers: [{ name: 'init', image: 'example/init:1-simulate-exit-3-1s' }],
    });
    await watch(MINUTE_MS);
    const { trouble } = pod();
    assert.equal(trouble?.container, 'init');
    assert.equal(trouble.lastExit?.exitCode, 3);
    assert.equal(pod().phase, 'Pending');
    await stop();
  });

  it('no room: Unschedulable, or refused by the kubelet of the node that was named', async () => {
    const resources = { requests: { cpu: '100' } };
    const containers = [{ name: 'main', image: 'example/main:1', resources }];
    const unbound = await play({ containers });
    const cause = 'Insufficient cpu';
    assert.deepEqual(await unbound.watch(MINUTE_MS), [{ unscheduled: 'Unschedulable', cause }]);
    await unbound.stop();
    const bound = await play({ nodeName: 'node-1', containers });
    await bound.world.clock.advance(5000);
    assert.deepEqual([bound.pod().phase, bound.pod().reason], ['Failed', 'OutOfcpu']);
    await bound.stop();
  });

  it('lost node: Ready is withheld though the containers are', async () => {
    const { watch, pod, agent, stop } = await play(running('pull-1s'));
    await watch(5000);
    agent.powerOff();
    const seen = await watch(2 * MINUTE_MS);
    assert.deepEqual(seen, [{ isReadyWithheld: true }]);
    assert.equal(pod().isReady, false);
    await stop();
  });
});
