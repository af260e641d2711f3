/** History of a running DaemonSet (spec 2.10): undo, restart, duplicates, repair, new defaults. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { revisionData } from '../../../../src/core/history/revisions.ts';
import { codeOf, ReconcileWorld, type WorldOptions } from '../../../support/reconcile-world.ts';
import { controllerUid } from '../../../support/simulated-objects.ts';

const HASH = 'controller-revision-hash';
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const revisionsOf = (world: ReconcileWorld): readonly KubernetesObject[] =>
  world.cluster.list('controllerrevisions');
const numbersOf = (world: ReconcileWorld): Record<string, unknown> =>
  Object.fromEntries(revisionsOf(world).map((item) => [item.metadata.name, item['revision']]));
const uidsOf = (world: ReconcileWorld): readonly string[] =>
  world.pods.map(({ metadata }) => metadata.uid).sort();
const hashesOf = (world: ReconcileWorld): readonly (string | undefined)[] =>
  world.pods.map(({ metadata }) => metadata.labels?.[HASH]);

/** A user's edit of the template: generation and template generation go up, as the API server does it. */
function edit(world: ReconcileWorld, image: string, annotations: JsonObject = {}): void {
  const metadata = { labels: { app: 'agents' }, ...annotations };
  world.edit(() => ({
    template: { metadata, spec: { containers: [{ name: 'agent', image }] } },
  }));
  const mark = { [TEMPLATE_GENERATION]: String(world.daemonSet.metadata.generation) };
  world.change((set) => ({
    metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...mark } },
  }));
}

describe('kubectl rollout undo', () => {
  it('half-way reuses and renumbers the old revision; no pod is restarted that was never replaced', async () => {
    const world = await ReconcileWorld.settled({ nodes: 4 });
    const before = world.pods;
    const [first] = revisionsOf(world);
    assert.ok(first !== undefined);
    for (const node of ['node-0001', 'node-0002', 'node-0003', 'node-0004']) {
      world.idleNodes.add(node); // a bad image: the first replacement never becomes ready
    }
    edit(world, 'example/agent:bad');
    await world.settle();
    const kept = uidsOf(world).filter((uid) => before.some(({ metadata }) => metadata.uid === uid));
    assert.equal(kept.length, 3, 'maxUnavailable 1');
    assert.equal(revisionsOf(world).length, 2);
    world.idleNodes.clear();
    edit(world, 'example/agent:1');
    await world.settle();
    assert.equal(numbersOf(world)[first.metadata.name], 3);
    assert.equal(revisionsOf(world).length, 2, 'reused, not made anew');
    assert.ok(kept.every((uid) => uidsOf(world).includes(uid)));
    assert.deepEqual(new Set(hashesOf(world)), new Set([first.metadata.labels?.[HASH]]));
    const renumbered = world.cluster.find('controllerrevisions', first.metadata.name, 'system');
    assert.deepEqual(renumbered?.['data'], first['data'], 'data stay as they are');
    assert.equal(renumbered?.metadata.annotations?.[TEMPLATE_GENERATION], '3');
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('kubectl rollout undo with surge', () => {
  it('gets past a name that a released pod holds, although the old pod stands beside it', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const updateStrategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    world.change(({ spec }) => ({ spec: { ...spec, updateStrategy } }));
    await world.settle();
    const [first] = revisionsOf(world);
    const name = world.pods[0]?.metadata.name ?? '';
    world.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'debugging' } },
    }));
    edit(world, 'example/agent:2');
    await world.settle();
    assert.ok(world.cluster.find('pods', name, 'system') !== undefined, 'released, not deleted');
    edit(world, 'example/agent:1');
    await world.settle();
    const hashes = world.pods
      .filter(({ metadata }) => metadata.labels?.['app'] === 'agents')
      .map(({ metadata }) => metadata.labels?.[HASH]);
    assert.deepEqual(hashes, [first?.metadata.labels?.[HASH]]);
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('kubectl rollout restart', () => {
  it('makes a revision with the next number, and replaces every pod once', async () => {
    const world = await ReconcileWorld.settled({ nodes: 3 });
    const before = uidsOf(world);
    edit(world, 'example/agent:1', { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } });
    await world.settle();
    assert.deepEqual(Object.values(numbersOf(world)).sort(), [1, 2]);
    assert.ok(uidsOf(world).every((uid) => !before.includes(uid)));
    assert.equal(world.placed.length, 3);
    assert.equal(new Set(hashesOf(world)).size, 1);
  });
});

describe('a field that the API server newly fills in (#78633, #134773)', () => {
  const made = new Date(0).toISOString();

  function fillIn(world: ReconcileWorld): void {
    world.change(({ spec }) => {
      const podSpec = { ...spec.template.spec, newlyDefaulted: 'Yes' };
      return { spec: { ...spec, template: { ...spec.template, spec: podSpec } } };
    });
  }

  /** Settled, then read through a newer API server; no user did anything. */
  async function upgraded(): Promise<{ world: ReconcileWorld; before: readonly string[] }> {
    const world = await ReconcileWorld.settled({
      nodes: 2,
      daemonSet: (object) => ({
        ...object,
        metadata: {
          ...object.metadata,
          creationTimestamp: made,
          annotations: { [TEMPLATE_GENERATION]: '1' },
        },
      }),
    });
    const before = uidsOf(world);
    fillIn(world);
    return { world, before };
  }

  it('restarts nothing at the same generation', async () => {
    const { world, before } = await upgraded();
    await world.settle();
    assert.deepEqual(uidsOf(world), before);
    assert.deepEqual(Object.values(numbersOf(world)), [1]);
  });

  it('restarts nothing when revisions change at the same generation, without any annotation', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const before = uidsOf(world);
    fillIn(world);
    world.cluster.put('controllerrevisions', {
      metadata: { namespace: 'system', name: 'late', labels: { app: 'agents', [HASH]: 'late' } },
      revision: 1,
      data: { spec: {} },
    });
    await world.settle();
    assert.deepEqual(uidsOf(world), before);
    assert.deepEqual(Object.values(numbersOf(world)).sort(), [1, 2]);
  });

  it('restarts nothing when the generation moves for another reason', async () => {
    const { world, before } = await upgraded();
    world.edit(() => ({ minReadySeconds: 1 }));
    await world.settle();
    assert.deepEqual(uidsOf(world), before);
    assert.deepEqual(Object.values(numbersOf(world)), [1]);
    world.addNode('node-0003');
    await world.settle();
    assert.equal(new Set(hashesOf(world)).size, 1);
  });

  it('restarts nothing when the state is lost beside it', async () => {
    const { world, before } = await upgraded();
    assert.equal(world.view.lose('STATE'), 1);
    world.edit(() => ({ minReadySeconds: 1 }));
    await world.settle();
    assert.deepEqual(uidsOf(world), before);
    assert.deepEqual(Object.values(numbersOf(world)), [1]);
  });

  it('beside an edit by the user restarts all: the edit is what counts', async () => {
    const { world, before } = await upgraded();
    edit(world, 'example/agent:2');
    await world.settle();
    assert.equal(uidsOf(world).length, before.length);
    assert.ok(uidsOf(world).every((uid) => !before.includes(uid)));
    assert.deepEqual(Object.values(numbersOf(world)).sort(), [1, 2]);
  });
});

describe('duplicates', () => {
  /** A second revision of the present template, of a higher number, as the built-in controller left it. */
  async function doubled(
    nodes = 3,
    options: WorldOptions['options'] = {},
  ): Promise<{ world: ReconcileWorld; first: KubernetesObject }> {
    const world = await ReconcileWorld.settled({ nodes, options });
    const [first] = revisionsOf(world);
    assert.ok(first !== undefined);
    const data = revisionData(world.daemonSet);
    world.cluster.put('controllerrevisions', {
      ...first,
      metadata: {
        ...first.metadata,
        name: 'agents-other',
        labels: { app: 'agents', [HASH]: 'other' },
      },
      data: { ...data, extra: null },
      revision: 5,
    });
    return { world, first };
  }

  it('are removed once their pods carry the kept hash; no pod is restarted', async () => {
    const { world } = await doubled();
    const before = uidsOf(world);
    await world.settle();
    assert.deepEqual(numbersOf(world), { 'agents-other': 5 });
    assert.deepEqual(uidsOf(world), before);
    assert.deepEqual(hashesOf(world), ['other', 'other', 'other']);
    assert.deepEqual(world.cluster.violations, []);
    assert.equal((await world.step()).kind, 'skipped');
  });

  it('leave pods of really older templates to the rollout (differs from upstream), and others’ alone', async () => {
    const { world } = await doubled();
    const [old, foreign] = world.pods;
    assert.ok(old !== undefined && foreign !== undefined);
    const relabel = (name: string, change: JsonObject, hash: string): void => {
      world.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, labels: { app: 'agents', [HASH]: hash }, ...change },
      }));
    };
    relabel(old.metadata.name, {}, 'ancient');
    world.cluster.put('pods', {
      ...foreign,
      metadata: {
        ...foreign.metadata,
        name: 'foreign',
        ownerReferences: [{ uid: 'somebody', controller: true }],
      },
    });
    await world.settle();
    assert.ok(!uidsOf(world).includes(old.metadata.uid), 'replaced by the rollout');
    const theirs = world.cluster.find('pods', 'foreign', 'system');
    assert.equal(theirs?.metadata.labels?.[HASH], foreign.metadata.labels?.[HASH]);
  });

  it('stay while a pod could not be relabelled, and the next run goes on', async () => {
    const { world, first } = await doubled();
    let failures = 1;
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'patch' || effect.purpose !== 'relabel' || failures === 0) {
          return undefined;
        }
        failures -= 1;
        return { kind: 'answer', outcome: { kind: 'ambiguous', message: '500' } };
      },
    };
    const before = uidsOf(world);
    assert.equal(codeOf(await world.step()), 'history');
    assert.ok(first.metadata.name in numbersOf(world));
    await world.settle();
    assert.deepEqual(numbersOf(world), { 'agents-other': 5 });
    assert.deepEqual(uidsOf(world), before);
  });

  it('are no more than a burst of relabels in one run; nothing is deleted before the last one (S9)', async () => {
    const { world } = await doubled(12, { burstPodsMax: 5 });
    const relabels = (): number => world.sent('patch ');
    const former = relabels();
    const runs: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      assert.equal(revisionsOf(world).length, 2, 'pods still carry its hash');
      const before = relabels();
      await world.step();
      runs.push(relabels() - before);
      await world.clock.advance(2_000);
    }
    assert.deepEqual(runs, [5, 5, 2]);
    await world.settle();
    assert.equal(relabels() - former, 12);
    assert.deepEqual(numbersOf(world), { 'agents-other': 5 });
  });

  it('stop between batches when the cluster is frozen, and nothing is deleted (protocol 7)', async () => {
    const { world } = await doubled(120);
    world.cluster.hooks = {
      afterEffect: (effect) => {
        if (effect.kind === 'patch') world.register({ isFrozen: true });
      },
    };
    assert.equal(codeOf(await world.step()), 'interrupted');
    assert.equal(hashesOf(world).filter((hash) => hash === 'other').length, 50);
    assert.equal(revisionsOf(world).length, 2);
    world.cluster.hooks = {};
    world.register({ configVersion: 9 });
    const before = uidsOf(world);
    await world.settle();
    assert.deepEqual(new Set(hashesOf(world)), new Set(['other']));
    assert.deepEqual(uidsOf(world), before);
  });

  it('end the run that relabels: what it saw of pods is behind', async () => {
    const { world } = await doubled();
    await world.mirror.sync();
    const result = await world.run();
    assert.equal(result.kind === 'deferred' && result.code, 'own-writes-unseen');
    assert.equal(result.kind === 'deferred' && result.counts.deletes, 0);
    const again = await world.run();
    assert.equal(again.kind === 'deferred' && again.code, 'own-writes-unseen', 'until it is seen');
    assert.equal(world.placed.length, 3);
  });
});

describe('a revision without hash', () => {
  it('gets its own name (upstream never tests: missing-hash-label repair)', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    world.cluster.put('controllerrevisions', {
      metadata: { namespace: 'system', name: 'agents-bare', labels: { app: 'agents' } },
      revision: 4,
      data: revisionData(world.daemonSet),
    });
    await world.settle();
    const [only, ...more] = revisionsOf(world);
    assert.deepEqual(more, []);
    assert.equal(only?.metadata.labels?.[HASH], 'agents-bare');
    assert.equal(only['revision'], 4);
    assert.deepEqual(hashesOf(world), ['agents-bare', 'agents-bare']);
    assert.equal(controllerUid(only), world.daemonSet.metadata.uid);
  });
});

describe('a run on an older template', () => {
  it('writes nothing once the DaemonSet was edited', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    edit(world, 'example/agent:2');
    await world.mirror.sync();
    edit(world, 'example/agent:3');
    assert.equal(codeOf(await world.run()), 'daemon-set-changed');
    assert.equal(revisionsOf(world).length, 1);
    await world.settle();
    assert.deepEqual(Object.values(numbersOf(world)).sort(), [1, 2]);
  });
});
