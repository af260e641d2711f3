/** What is told of a rollout that looks like an end and is none: done means available, as `kubectl rollout status` has it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { RolloutStatus } from '../../src/app/rollout/rollout-status.ts';
import { POLICY_ANNOTATION } from '../../src/core/policy/rollout-policy.ts';
import { setImage } from '../support/simulation/look.ts';
import { statusOf, verdictsOf } from '../support/simulation/rollout-status.ts';
import { World } from '../support/simulation/world.ts';

const NODES = ['n1', 'n2', 'n3', 'n4'];
const MINUTE_MS = 60_000;
const POLICY = '{canary: {nodes: 1}, soak: 5s, maxUnavailable: 100%}';

/** More than a watcher sends of one object, and far less than Kubernetes takes. */
const LARGE_ENV = Array.from({ length: 160 }, (_, index) => ({
  name: `VALUE_${String(index)}`,
  value: 'x'.repeat(1_000),
}));

function addAgent(world: World, policy: string | undefined, env: JsonObject[] = []): void {
  const containers = [{ name: 'main', image: 'agent:1', env }];
  const template = { metadata: { labels: { app: 'agent' } }, spec: { containers } };
  world.addDaemonSet('agent', {
    ...(policy === undefined ? {} : { annotations: { [POLICY_ANNOTATION]: policy } }),
    spec: {
      template,
      updateStrategy: { type: 'RollingUpdate' },
      minReadySeconds: 0,
    },
  });
}

async function settled(policy: string | undefined): Promise<World> {
  const world = await World.start({ seed: 1, nodes: NODES });
  addAgent(world, policy);
  await world.settle();
  assert.equal((await statusOf(world, 'agent')).phase, 'Done');
  return world;
}

function selectNothing(world: World): void {
  world.api.editDaemonSet('agent', (spec) => {
    const template = spec['template'] as { readonly spec: object };
    const podSpec = { ...template.spec, nodeSelector: { disk: 'ssd' } };
    return { ...spec, template: { ...template, spec: podSpec } };
  });
}

function ended({ phase, summary }: RolloutStatus): readonly [string, string] {
  return [phase, summary];
}

describe('the end of a rollout', () => {
  for (const policy of [undefined, POLICY]) {
    const how = policy === undefined ? 'without a policy' : 'with one';
    it(`is not told of a first release of which no pod becomes available, ${how}`, async () => {
      const world = await World.start({ seed: 1, nodes: NODES });
      world.controllers.behaviour = () => 'stay-pending';
      addAgent(world, policy);
      await world.advance(5 * MINUTE_MS);
      const status = await statusOf(world, 'agent');
      assert.deepEqual(status.nodes, { desired: 4, updated: 4, available: 0 });
      assert.equal(status.phase, 'Progressing');
      assert.match(status.summary, /0 of 4 updated pods are available$/);
    });
  }

  it('says that no node is eligible, and how many had a pod before as long as that is known', async () => {
    const world = await settled(undefined);
    selectNothing(world);
    await world.advance(MINUTE_MS);
    assert.deepEqual(ended(await statusOf(world, 'agent')), [
      'Done',
      '0 of 4 nodes are eligible, 4 before',
    ]);
    await world.advance(30 * MINUTE_MS);
    assert.deepEqual(ended(await statusOf(world, 'agent')), ['Done', '0 of 4 nodes are eligible']);
  });

  it('is not told while a removal of its pods is held', async () => {
    const world = await settled(POLICY);
    selectNothing(world);
    await world.advance(MINUTE_MS);
    const status = await statusOf(world, 'agent');
    assert.equal(status.phase, 'Waiting');
    assert.match(status.summary, /^held: 4 of 4 pods go within ten minutes/);
    assert.equal(status.staged?.phase, 'Waiting');
  });

  it('is not told while a node that is not Ready has its old pod, and each answer says why', async () => {
    const world = await settled(POLICY);
    world.api.change('nodes', { namespace: '', name: 'n4' }, (node) => ({
      ...node,
      status: { ...(node['status'] as object), conditions: [{ type: 'Ready', status: 'False' }] },
    }));
    await world.advance(MINUTE_MS);
    setImage(world, 'agent', 2);
    await world.advance(10 * MINUTE_MS);
    const status = await statusOf(world, 'agent');
    assert.deepEqual(ended(status), [
      'Waiting',
      'all steps are done, 3 of 4 nodes updated: 1 node is not Ready and is updated when it is back',
    ]);
    const verdict = (await verdictsOf(world, 'agent'))?.find(({ node }) => node === 'n4');
    assert.match(verdict?.message ?? '', /is not Ready and is updated when it is back/);
  });
});

describe('pods that count as updated', () => {
  it('are told to be of another template where a DaemonSet of that name left them', async () => {
    const world = await World.start({ seed: 1, nodes: NODES });
    // As an API server numbers templates: from 1 on for each DaemonSet.
    const annotations = { 'deprecated.daemonset.template.generation': '1' };
    world.addDaemonSet('agent', { annotations });
    await world.settle();
    assert.deepEqual((await statusOf(world, 'agent')).notes, []);
    world.controllers.deleteDaemonSet('agent', 'orphan');
    await world.advance(MINUTE_MS);
    const tolerations = [{ key: 'other', operator: 'Exists' }] as const;
    world.addDaemonSet('agent', { annotations, tolerations });
    await world.advance(5 * MINUTE_MS);
    const { nodes, notes } = await statusOf(world, 'agent');
    assert.deepEqual(nodes, { desired: 4, updated: 4, available: 4 });
    assert.match(notes.join('\n'), /4 pods count as updated and were made of another template/);
  });
});

describe('a DaemonSet whose object is too large to be sent', () => {
  const POLICY_OF_TWO = '{canary: {nodes: 2}, soak: 1m, maxUnavailable: 2}';

  it('is told of by its record, generation and counters, with its size and the limit', async () => {
    const world = await World.start({ seed: 1, nodes: NODES });
    addAgent(world, POLICY_OF_TWO, LARGE_ENV);
    await world.advance(5 * MINUTE_MS);
    const status = await statusOf(world, 'agent');
    assert.deepEqual(ended(status), [
      'Done',
      `revision ${status.staged?.revision ?? ''} is rolled out`,
    ]);
    assert.deepEqual(status.nodes, { desired: 4, updated: 4, available: 4 });
    assert.deepEqual([status.generation, status.observedGeneration], [1, 1]);
    assert.match(status.notes.join('\n'), /has 16\d KiB, .* 150 KiB/);
    assert.equal(await verdictsOf(world, 'agent'), undefined);
  });

  it('is Halted when its rollout is', async () => {
    const world = await World.start({ seed: 1, nodes: NODES });
    addAgent(world, POLICY_OF_TWO, LARGE_ENV);
    await world.advance(5 * MINUTE_MS);
    world.api.editDaemonSet('agent', (spec) => {
      const containers = [{ name: 'main', image: 'agent:2-simulate-crash-loop', env: LARGE_ENV }];
      return {
        ...spec,
        template: { metadata: { labels: { app: 'agent' } }, spec: { containers } },
      };
    });
    await world.advance(3 * MINUTE_MS);
    const { phase, summary } = await statusOf(world, 'agent');
    assert.equal(phase, 'Halted');
    assert.match(summary, /Restarts/);
  });
});
