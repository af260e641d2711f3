// Public incidents through the engine of each cluster, with the function `fleet` above them (issue 18): what is harmed is counted on the
// API servers. The same and more, with thousands of clusters that are a model each: fleet-incidents.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { HeldRemoval } from '../../src/core/model/state.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { ailmentOf } from '../support/simulation/ailments.ts';
import { imageOf } from '../support/simulation/look.ts';
import { rawNode } from '../support/simulation/objects.ts';
import { EngineFleet } from '../support/fleet-simulation/engine-fleet.ts';

const NAMES = ['alpha', 'beta', 'gamma'] as const;
const NODES = 12;
const BAD = 'agent:2-simulate-bad-image';

/** One node of alpha, then one more cluster, then the rest; inside of each one canary, five minutes. */
const STRATEGY: JsonObject = {
  stages: [
    { name: 'first', clusterNames: ['alpha'], nodes: 1 },
    { name: 'early', clusters: 1 },
  ],
  soak: '20m',
  maxConcurrency: '100%',
  rollout: { canary: { nodes: 1 }, soak: '5m', maxUnavailable: 2 },
};

const isDone = ({ gate }: { readonly gate: { readonly kind: string } }): boolean =>
  gate.kind === 'done';

/** Nodes of all clusters that have a pod of an image. */
function nodesWith(world: EngineFleet, image: string): Readonly<Record<string, number>> {
  return Object.fromEntries(
    NAMES.map((name) => [name, new Set(world.podsOf(name, image).map(nodeOf)).size]),
  );
}

interface Resting {
  readonly nodeSelector?: JsonObject;
  readonly overrides?: readonly JsonObject[];
  /** Of each node. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Three clusters whose first release is out. */
async function resting(
  { labels, ...template }: Resting = {},
  copilots: readonly string[] = [],
): Promise<EngineFleet> {
  const clusters = NAMES.map((name) => ({
    name,
    nodes: NODES,
    ...(labels === undefined ? {} : { nodeLabels: labels }),
  }));
  const world = await EngineFleet.start({ strategy: STRATEGY, ...template }, clusters);
  for (const name of copilots) await world.enterCopilot(name);
  await world.release('agent:1');
  await world.until('the first release is out', isDone);
  for (const name of NAMES) assert.equal(world.runningNodes(name, 'agent:1'), NODES, name);
  return world;
}

const uidOf = ({ metadata }: KubernetesObject): string => metadata.uid;

describe('a fleet over the engine', () => {
  it('takes a good release through all stages, each by its own staged rollout, and nobody ahead of its stage', async () => {
    const world = await resting();
    await world.release('agent:2');
    await world.until('alpha soaks', ({ gate }) => gate.kind === 'soaking');
    assert.deepEqual(nodesWith(world, 'agent:2'), { alpha: 1, beta: 0, gamma: 0 });
    await world.until('the second stage is open', ({ stage }) => stage === 1);
    const early = await world.until('it soaks', ({ gate }) => gate.kind === 'soaking');
    assert.equal(early.stage, 1);
    const nodes = Object.values(nodesWith(world, 'agent:2')).toSorted((a, b) => a - b);
    // Alpha is finished in the second stage, beside the one cluster that it has.
    assert.deepEqual(nodes, [0, NODES, NODES]);
    await world.until('it is out', isDone);
    for (const name of NAMES) assert.equal(world.runningNodes(name, 'agent:2'), NODES, name);
  });

  it('halts a bad image at one node of one cluster, names the cause, and no other cluster hears of it', async () => {
    const world = await resting();
    const generations = NAMES.map((name) => generationOf(world, name));
    await world.release(BAD);
    const sinceMs = world.clock.nowMs();
    const { breach, stage } = await world.until(
      'it is halted',
      (record) => record.breach !== undefined,
    );
    assert.equal(stage, 0);
    assert.equal(breach?.cause, 'ClustersFailed');
    assert.match(
      breach.message,
      /alpha: Halted\/StartFailure: 1 of 1 updated nodes .*ImagePullBackOff/,
    );
    assert.ok(world.clock.nowMs() - sinceMs <= 10 * 60_000);
    await world.minutes(180);
    assert.deepEqual(nodesWith(world, BAD), { alpha: 1, beta: 0, gamma: 0 }, 'of 36 nodes');
    assert.equal(world.runningNodes('alpha'), NODES - 1);
    const after = NAMES.map((name) => generationOf(world, name));
    assert.deepEqual(
      after.map((generation, index) => generation - (generations[index] ?? 0)),
      [1, 0, 0],
    );
  });

  it('goes back by itself where it is told to: within minutes every node runs what was proven', async () => {
    const world = await resting();
    await world.release(BAD, { onHalt: 'rollback' });
    await world.until('it is back', ({ gate }) => gate.kind === 'returned');
    await world.minutes(5);
    assert.deepEqual(nodesWith(world, BAD), { alpha: 0, beta: 0, gamma: 0 });
    for (const name of NAMES) assert.equal(world.runningNodes(name, 'agent:1'), NODES, name);
  });
});

describe('a first release of which no pod serves', () => {
  const quick: JsonObject = {
    stages: [{ name: 'first', clusterNames: ['alpha'], nodes: 2 }],
    soak: '10s',
    rollout: { canary: { nodes: 1 }, soak: '5s' },
  };
  const AILING = ['bad-image', 'crash-loop'] as const;
  for (const ailment of AILING) {
    it(`${ailment}: is made in its first cluster at once, never well there, and given to no other`, async () => {
      const clusters = NAMES.map((name) => ({ name, nodes: 8 }));
      const world = await EngineFleet.start({ strategy: quick }, clusters);
      await world.release(`agent:1-simulate-${ailment}`);
      await world.minutes(180);
      const { stage, good, counts } = await world.record();
      assert.deepEqual(
        NAMES.map((name) => world.podsOf(name).length),
        [8, 0, 0],
      );
      assert.deepEqual([stage, counts.well, good], [0, 0, []]);
    });
  }
});

function generationOf(world: EngineFleet, name: string): number {
  const found = world.member(name).site.api.find('daemonsets', 'agent', 'ns');
  return found?.metadata.generation ?? 0;
}

describe('clusters of two nodes, of which the release fells one wherever it comes', () => {
  const EDGES = Array.from({ length: 20 }, (_, index) => `edge-${String(index).padStart(2, '0')}`);
  const rest: JsonObject = {
    stages: [{ name: 'first', clusterNames: ['edge-00'] }],
    soak: '20m',
    maxConcurrency: 3,
    rollout: { canary: { nodes: 1 }, soak: '5m' },
  };
  const nodeInfo = { kubeletVersion: 'v1.33.1', osImage: 'Ubuntu 22.04 LTS' };

  /** Writes the status of a node, as its kubelet and the node controller do. */
  function setReady(world: EngineFleet, name: string, isReady: boolean): void {
    const { api } = world.member(name.slice(0, -2)).site;
    const { status } = rawNode(name, { isReady });
    api.change('nodes', { namespace: '', name }, (node) => ({
      ...node,
      status: { ...(status as object), nodeInfo },
    }));
  }

  it('are halted by what they show together, where none could show it alone', async () => {
    const world = await EngineFleet.start(
      { strategy: rest },
      EDGES.map((name) => ({ name, nodes: 2 })),
    );
    for (const name of EDGES)
      for (const node of [0, 1]) setReady(world, `${name}-${String(node)}`, true);
    await world.release('agent:1');
    await world.until('the first release is out', isDone);
    for (const name of EDGES.slice(1)) {
      const { api } = world.member(name).site;
      api.subscribe((commit) => {
        if (commit?.kind !== 'pods' || commit.type !== 'added') return;
        if (imageOf(commit.object) !== 'agent:2') return;
        world.clock.after(180_000, () => {
          setReady(world, nodeOf(commit.object) ?? '', false);
        });
      });
    }
    await world.release('agent:2');
    const { breach } = await world.until('it is halted', (record) => record.breach !== undefined);
    assert.equal(breach?.cause, 'NodesFailed');
    assert.match(
      breach.message,
      /over [23] clusters, 20 halts; [23] of 6 nodes of clusters that were given it are bad, 0 of 32 of others \(19 clusters/,
    );
    await world.minutes(120);
    const given = EDGES.filter((name) => world.podsOf(name, 'agent:2').length > 0);
    assert.equal(
      given.length,
      4,
      'of twenty: the first, and the three that rolled at the same time',
    );
  });
});

describe('CrowdStrike 2024-07-19: content that crashes is pushed everywhere at once', () => {
  /** Programs crash whose content is bad by the time they start. */
  async function withContent(
    isBad: (pod: KubernetesObject) => boolean,
    settings?: string,
  ): Promise<EngineFleet> {
    const clusters = NAMES.map((name) => ({ name, nodes: NODES }));
    const world = await EngineFleet.start({ strategy: STRATEGY }, clusters);
    for (const name of NAMES) {
      world.member(name).site.controllers.illnessOf = (pod) =>
        isBad(pod) ? 'crash-loop' : ailmentOf(pod);
    }
    await world.release('agent:1', {}, settings);
    await world.until('the first release is out', isDone);
    await world.minutes(5);
    return world;
  }

  it('under a name with a hash it reaches one node of the first cluster, and 35 of 36 never restart', async () => {
    const isBad = ({ spec }: KubernetesObject): boolean => JSON.stringify(spec).includes('bad');
    const world = await withContent(isBad, 'settings-good');
    const before = new Set(NAMES.flatMap((name) => world.podsOf(name).map(uidOf)));
    await world.release('agent:1', {}, 'settings-bad');
    const { breach, stage } = await world.until(
      'it is halted',
      (record) => record.breach !== undefined,
    );
    assert.deepEqual([breach?.cause, breach?.clusters, stage], ['ClustersFailed', ['alpha'], 0]);
    await world.minutes(120);
    const fresh = NAMES.map((name) => world.podsOf(name).filter((pod) => !before.has(uidOf(pod))));
    assert.deepEqual(
      fresh.map(({ length }) => length),
      [1, 0, 0],
    );
  });

  it('under a name that stays it reaches pods as they start: a rollout halts on one node of the next cluster', async () => {
    let level = 'good';
    // Whoever starts reads what stands there by then.
    const world = await withContent(() => level === 'bad');
    await world.release('agent:2');
    await world.until('it soaks', ({ gate }) => gate.kind === 'soaking');
    level = 'bad';
    const { breach, stage } = await world.until(
      'it is halted',
      (record) => record.breach !== undefined,
    );
    assert.deepEqual([breach?.cause, stage], ['ClustersFailed', 1]);
    // Alpha is finished in this stage, at once or when its view is fresh, and halts as well.
    assert.ok(breach?.clusters.some((each) => each === 'gamma'));
    await world.minutes(120);
    const after = await world.record();
    assert.deepEqual(after.breach?.clusters.toSorted(), ['alpha', 'gamma']);
    const { gamma, beta } = nodesWith(world, 'agent:2');
    assert.deepEqual({ gamma, beta }, { gamma: 1, beta: 0 });
  });
});

describe('Deckhouse: all pods of the ingress go at once when kubelets restart', () => {
  const ROLE = { 'node-role/ingress': 'yes' };
  const ingress = (): Promise<EngineFleet> => resting({ nodeSelector: ROLE, labels: ROLE });

  /** A release of the platform forgets the label, on every node of every cluster. */
  function relabel(world: EngineFleet, labels: Readonly<Record<string, string>>): void {
    for (const name of NAMES) {
      for (let node = 0; node < NODES; node += 1) {
        world.member(name).site.api.put('nodes', rawNode(`${name}-${String(node)}`, { labels }));
      }
    }
  }

  /** What the removal guard holds there (ADR 0057). */
  function heldShrink(world: EngineFleet, name: string): HeldRemoval | undefined {
    const { api } = world.member(name).site;
    const owner = api.find('daemonsets', 'agent', 'ns')?.metadata.uid ?? '';
    return world.view.peekState(api.clusterUid, owner)?.shrink?.held;
  }

  /** A kubelet that starts admits its pods anew, by what it knows of its node: pods that ran are Failed (k8s#123980, #124586). */
  function restartKubelets(world: EngineFleet, name: string): void {
    const { api } = world.member(name).site;
    for (const { metadata } of world.podsOf(name)) {
      api.change('pods', { namespace: 'ns', name: metadata.name }, (pod) => ({
        ...pod,
        status: {
          phase: 'Failed',
          reason: 'NodeAffinity',
          message: 'Predicate NodeAffinity failed',
        },
      }));
    }
  }

  it('the label that vanished takes no pod of 36, for hours; nor when it comes back', async () => {
    const world = await ingress();
    const deleted = NAMES.map((name) => world.watchDeletes(name));
    relabel(world, {});
    await world.minutes(6 * 60);
    assert.deepEqual(deleted.flat(), []);
    for (const name of NAMES) {
      assert.equal(world.runningNodes(name), NODES, name);
      assert.equal(heldShrink(world, name)?.pods, NODES, name);
    }
    relabel(world, ROLE);
    await world.minutes(60);
    assert.deepEqual(deleted.flat(), []);
  });

  it('pods that kubelets refused are back within two minutes, in the middle of a rollout, and none with what is not proven', async () => {
    const world = await ingress();
    await world.release('agent:2');
    await world.until('it soaks', ({ gate }) => gate.kind === 'soaking');
    assert.deepEqual(nodesWith(world, 'agent:2'), { alpha: 1, beta: 0, gamma: 0 });
    const before = new Set(NAMES.flatMap((name) => world.podsOf(name).map(uidOf)));
    for (const name of NAMES) restartKubelets(world, name);
    await world.minutes(2);
    for (const name of NAMES) assert.equal(world.runningNodes(name), NODES, name);
    // The built-in controller would have made all of alpha anew from the newest template.
    assert.deepEqual(nodesWith(world, 'agent:2'), { alpha: 1, beta: 0, gamma: 0 });
    const kept = NAMES.flatMap((name) =>
      world.podsOf(name).filter((pod) => before.has(uidOf(pod))),
    );
    assert.deepEqual(kept, [], 'each of 36 was made anew');
  });

  it('under the built-in controller they come back with the newest template, in the first ring and nowhere else', async () => {
    const onDelete = { op: 'replace', path: '/spec/updateStrategy', value: { type: 'OnDelete' } };
    const overrides = [{ name: 'copilot', clusterNames: ['alpha', 'beta'], jsonPatch: [onDelete] }];
    const world = await resting({ nodeSelector: ROLE, labels: ROLE, overrides }, ['alpha', 'beta']);
    await world.release('agent:2');
    await world.until('it soaks', ({ gate }) => gate.kind === 'soaking');
    for (const name of NAMES) restartKubelets(world, name);
    await world.minutes(5);
    for (const name of NAMES) assert.equal(world.runningNodes(name), NODES, name);
    // Beta's template is the proven one until its stage opens.
    assert.deepEqual(nodesWith(world, 'agent:2'), { alpha: NODES, beta: 0, gamma: 0 });
  });

  it('the label gone and every kubelet restarted: what kubelets ended is lost until it is back, and nothing else is', async () => {
    const world = await ingress();
    relabel(world, {});
    await world.minutes(5);
    const deleted = world.watchDeletes('beta');
    restartKubelets(world, 'alpha');
    await world.minutes(120);
    assert.equal(world.runningNodes('alpha'), 0, 'by its kubelets');
    assert.equal(world.runningNodes('beta'), NODES);
    assert.deepEqual(deleted, []);
    relabel(world, ROLE);
    await world.minutes(2);
    for (const name of NAMES) assert.equal(world.runningNodes(name, 'agent:1'), NODES, name);
  });
});
