/** Which revisions are claimed, kept and deleted, and what wakes a DaemonSet (spec 2.2, 2.4, 2.11, S10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '../../../../src/core/model/effects.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { revisionData } from '../../../../src/core/history/revisions.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';
import { controllerUid } from '../../../support/simulated-objects.ts';

const HASH = 'controller-revision-hash';

const revisionsOf = (world: ReconcileWorld): readonly KubernetesObject[] =>
  world.cluster.list('controllerrevisions');
const numbersOf = (world: ReconcileWorld): readonly number[] =>
  revisionsOf(world)
    .map((item) => Number(item['revision']))
    .sort((left, right) => left - right);
const uidsOf = (world: ReconcileWorld): readonly string[] =>
  world.pods.map(({ metadata }) => metadata.uid).sort();

function limited(limit: number, type: 'RollingUpdate' | 'OnDelete' = 'RollingUpdate') {
  return (object: DaemonSetObject): DaemonSetObject => ({
    ...object,
    spec: { ...object.spec, revisionHistoryLimit: limit, updateStrategy: { type } },
  });
}

async function roll(world: ReconcileWorld, images: readonly string[]): Promise<void> {
  for (const image of images) {
    world.setImage(image);
    await world.settle();
  }
}

describe('trimming (upstream never tests: cleanupHistory limits and live protection)', () => {
  it('keeps revisionHistoryLimit old ones and the current one, then is silent', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2, daemonSet: limited(2) });
    await roll(world, ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual(numbersOf(world), [4, 5, 6]);
    assert.deepEqual(world.cluster.violations, []);
    assert.equal((await world.step()).kind, 'skipped');
    const requests = world.cluster.requests.length;
    await world.step();
    assert.equal(world.cluster.requests.length, requests);
  });

  it('keeps none but the current one at limit 0', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2, daemonSet: limited(0) });
    await roll(world, ['a', 'b']);
    assert.deepEqual(numbersOf(world), [3]);
  });

  it('keeps what a live pod was made of, beyond the limit, until that pod is replaced (S10)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2, daemonSet: limited(1, 'OnDelete') });
    await roll(world, ['a', 'b', 'c', 'd']);
    assert.deepEqual(numbersOf(world), [1, 5], 'the pods are still those of the first revision');
    for (const { metadata } of world.pods) world.cluster.remove('pods', metadata.name, 'system');
    await roll(world, ['e']);
    assert.deepEqual(numbersOf(world), [5, 6]);
  });

  /** Two revisions, one too many from now on, and a node that lacks its pod: one run for both. */
  async function surplusAndWork(): Promise<ReconcileWorld> {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await roll(world, ['a']);
    world.edit(() => ({ revisionHistoryLimit: 0 }));
    world.addNode('node-0002');
    return world;
  }
  const trimmed = (world: ReconcileWorld): boolean =>
    world.cluster.requests.some((request) => request.startsWith('delete-revision'));

  it('is the last step of a run, after pods', async () => {
    const world = await surplusAndWork();
    await world.step();
    assert.deepEqual(numbersOf(world), [2]);
    const order = world.cluster.requests.filter((request) =>
      /^(create-pod|delete-rev)/.test(request),
    );
    assert.match(order.at(-1) ?? '', /^delete-revision/);
    assert.match(order.at(-2) ?? '', /^create-pod/);
  });

  /** One run with work, and a surplus that `change` makes otherwise than it is seen. */
  async function runAfter(change: (world: ReconcileWorld, former: string) => void) {
    const world = await surplusAndWork();
    await world.mirror.sync();
    const former = revisionsOf(world).find((item) => item['revision'] === 1);
    assert.ok(former !== undefined);
    change(world, former.metadata.name);
    return { world, result: await world.run() };
  }

  it('sends nothing for what is gone or re-made: a view may be older than the own delete (L1)', async () => {
    for (const isRemade of [false, true]) {
      const { world, result } = await runAfter(({ cluster }, name) => {
        const former = cluster.find('controllerrevisions', name, 'system');
        cluster.remove('controllerrevisions', name, 'system');
        if (!isRemade || former === undefined) return;
        const { labels = {} } = former.metadata;
        cluster.put('controllerrevisions', { metadata: { namespace: 'system', name, labels } });
      });
      assert.equal(result.kind, 'acted');
      assert.ok(!trimmed(world));
    }
  });

  it('leaves what changed since it was seen, or cannot be read, and looks again', async () => {
    const changed = await runAfter(({ cluster }, name) => {
      cluster.change('controllerrevisions', { namespace: 'system', name }, (item) => ({
        ...item,
        metadata: { ...item.metadata, labels: { ...item.metadata.labels, edited: 'yes' } },
      }));
    });
    assert.equal(changed.result.kind === 'deferred' && changed.result.code, 'outcome-open');
    const trouble = { kind: 'unavailable', message: '500', isRefused: false } as const;
    const unread = await runAfter(({ cluster }) => {
      cluster.hooks.onRead = (what) => (what === 'GET controllerrevisions' ? trouble : undefined);
    });
    assert.equal(unread.result.kind === 'deferred' && unread.result.code, 'cluster-unavailable');
    for (const { world } of [changed, unread]) {
      assert.ok(!trimmed(world));
      world.cluster.hooks = {};
      await world.settle();
      assert.deepEqual(numbersOf(world), [2]);
    }
  });

  it('waits for the run in which history has nothing left to write', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    await roll(world, ['a', 'b']);
    world.change(({ spec }) => ({ spec: { ...spec, revisionHistoryLimit: 0 } }));
    world.setImage('example/agent:1');
    await world.step();
    assert.deepEqual(numbersOf(world), [2, 3, 4], 'renumbered, not trimmed yet');
    await world.settle();
    assert.deepEqual(numbersOf(world), [4]);
  });

  it('is not done by a view of what etcd was before a restore: pods may use it again (row 71, S10)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2, daemonSet: limited(0) });
    const backup = world.cluster.backup();
    world.meet('delete-revision', {
      kind: 'answer',
      outcome: { kind: 'ambiguous', message: '500' },
    });
    await roll(world, ['a']);
    world.cluster.hooks = {};
    assert.deepEqual(numbersOf(world), [1, 2]);
    await world.clock.advance(600_000);
    await world.mirror.sync();
    world.cluster.restore(backup);
    await world.run();
    assert.deepEqual(numbersOf(world), [1], 'all pods are of it');
  });

  it('is not reached in a run in which something failed', async () => {
    for (const answer of [
      { kind: 'refused', code: 'admission', status: 403, message: 'no' },
      { kind: 'ambiguous', message: '500' },
    ] as const) {
      const world = await surplusAndWork();
      world.meet('create-pod', { kind: 'answer', outcome: answer });
      await world.step();
      assert.ok(!trimmed(world), answer.kind);
      world.cluster.hooks = {};
      await world.settle();
      assert.deepEqual(numbersOf(world), [2]);
    }
  });

  it('that fails waits and tries again; one that changed meanwhile is looked at anew', async () => {
    for (const outcome of [
      { kind: 'ambiguous', message: '500' },
      { kind: 'conflict', message: 'modified' },
      { kind: 'unsent', message: 'throttled', retryAfterMs: 2_000 },
    ] as const) {
      const world = await ReconcileWorld.settled({ nodes: 1, daemonSet: limited(0) });
      let failures = 1;
      world.cluster.hooks = {
        beforeEffect: (effect) => {
          if (effect.kind !== 'delete-revision' || failures === 0) return undefined;
          failures -= 1;
          return { kind: 'answer', outcome };
        },
      };
      await roll(world, ['a']);
      assert.equal(failures, 0);
      assert.deepEqual(numbersOf(world), [2], outcome.kind);
    }
  });

  it('stops when the cluster was frozen after pods were touched (protocol 7)', async () => {
    const world = await surplusAndWork();
    world.cluster.hooks = {
      afterEffect: ({ kind }) => {
        if (kind === 'create-pod') world.register({ isFrozen: true });
      },
    };
    assert.equal(codeOf(await world.step()), 'interrupted');
    assert.ok(!trimmed(world));
  });
});

describe('claims of revisions (spec 2.4, S10)', () => {
  const orphan = (world: ReconcileWorld, name: string, change: object = {}): void => {
    world.cluster.put('controllerrevisions', {
      metadata: {
        namespace: 'system',
        name,
        labels: { app: 'agents', [HASH]: name },
        annotations: { 'deprecated.daemonset.template.generation': '1' },
        ...change,
      },
      revision: 7,
      data: { spec: { template: { $patch: 'replace', spec: { old: true } } } },
    });
  };

  it('adopt orphans of other content: they count, and lose the mark of their former DaemonSet', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    orphan(world, 'agents-old');
    await world.settle();
    const adopted = world.cluster.find('controllerrevisions', 'agents-old', 'system');
    assert.ok(adopted !== undefined);
    assert.equal(controllerUid(adopted), world.daemonSet.metadata.uid);
    assert.deepEqual(adopted.metadata.annotations, {});
    assert.deepEqual(numbersOf(world), [7, 8]);
  });

  it('adopt orphans of the present template with their marks: they are its own again', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const data = revisionData(world.daemonSet);
    for (const [name, revision] of [
      ['same', 3],
      ['current', 4],
    ] as const) {
      const annotations = { 'deprecated.daemonset.template.generation': '6' };
      const labels = { app: 'agents', [HASH]: name };
      world.cluster.put('controllerrevisions', {
        metadata: { namespace: 'system', name, labels, annotations },
        revision,
        data,
      });
    }
    const patches: unknown[] = [];
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind === 'patch') patches.push(Object.keys(effect.body['metadata'] ?? {}));
        return undefined;
      },
    };
    await world.settle();
    assert.deepEqual(numbersOf(world), [4]);
    const adoption = ['uid', 'resourceVersion', 'ownerReferences'];
    assert.deepEqual(patches, [adoption, adoption]);
  });

  it('never touch those of another namespace, another owner, or terminating ones', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    orphan(world, 'theirs', { ownerReferences: [{ uid: 'somebody', controller: true }] });
    orphan(world, 'going', { deletionTimestamp: '2026-01-01T00:00:00Z' });
    orphan(world, 'elsewhere', { namespace: 'other' });
    orphan(world, 'unlike', { labels: { app: 'other' } });
    const before = revisionsOf(world);
    await world.settle();
    assert.deepEqual(numbersOf(world), [1, 7, 7, 7, 7]);
    for (const item of before) assert.ok(revisionsOf(world).includes(item), item.metadata.name);
  });

  it('go on without an orphan that cannot be adopted, and fail on any other answer', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    orphan(world, 'agents-odd');
    orphan(world, 'agents-old');
    const failures: Outcome[] = [
      { kind: 'ambiguous', message: '500' },
      { kind: 'refused', code: 'forbidden', status: 403, message: 'no' },
    ];
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'patch' || effect.resource === 'pods') return undefined;
        if (effect.name === 'agents-odd') {
          const outcome = { kind: 'refused', code: 'invalid', status: 422, message: '' } as const;
          return { kind: 'answer', outcome };
        }
        const outcome = failures.shift();
        return outcome === undefined ? undefined : { kind: 'answer', outcome };
      },
    };
    for (const code of ['history', 'history-refused']) {
      assert.equal(codeOf(await world.step()), code);
      assert.equal(world.pods.length, 0);
    }
    await world.settle();
    assert.equal(world.pods.length, 1);
    const odd = world.cluster.find('controllerrevisions', 'agents-odd', 'system');
    assert.ok(odd !== undefined && controllerUid(odd) === undefined);
  });

  it('confirm the DaemonSet live first: one that is being deleted adopts nothing (S5, #108372)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    orphan(world, 'agents-old');
    await world.mirror.sync();
    world.change(({ metadata }) => ({
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    assert.equal(codeOf(await world.run()), 'daemon-set-changed');
    assert.deepEqual(numbersOf(world), [7]);
    const found = world.cluster.find('controllerrevisions', 'agents-old', 'system');
    assert.ok(found !== undefined && controllerUid(found) === undefined);
  });
});

describe('a change of revisions wakes its DaemonSet (upstream never tests: revision event handlers)', () => {
  const settled = async (): Promise<ReconcileWorld> => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    assert.equal((await world.step()).kind, 'skipped');
    return world;
  };

  it('an orphan that appears is adopted', async () => {
    const world = await settled();
    world.cluster.put('controllerrevisions', {
      metadata: { namespace: 'system', name: 'late', labels: { app: 'agents', [HASH]: 'late' } },
      revision: 1,
      data: { spec: {} },
    });
    await world.settle();
    const late = world.cluster.find('controllerrevisions', 'late', 'system');
    assert.ok(late !== undefined && controllerUid(late) === world.daemonSet.metadata.uid);
    assert.deepEqual(numbersOf(world), [1, 2], 'the current one stays the newest');
  });

  it('the current one deleted by a user is made again under its name; no pod is restarted', async () => {
    const world = await settled();
    const before = uidsOf(world);
    const [current] = revisionsOf(world);
    assert.ok(current !== undefined);
    world.cluster.remove('controllerrevisions', current.metadata.name, 'system');
    await world.settle();
    assert.deepEqual(
      revisionsOf(world).map(({ metadata }) => metadata.name),
      [current.metadata.name],
    );
    assert.deepEqual(uidsOf(world), before);
  });

  it('one whose labels move away is released, and the template gets another', async () => {
    const world = await settled();
    const [current] = revisionsOf(world);
    assert.ok(current !== undefined);
    world.cluster.change(
      'controllerrevisions',
      { namespace: 'system', name: current.metadata.name },
      (item) => ({ ...item, metadata: { ...item.metadata, labels: { app: 'elsewhere' } } }),
    );
    await world.settle();
    const released = world.cluster.find('controllerrevisions', current.metadata.name, 'system');
    assert.ok(released !== undefined && controllerUid(released) === undefined);
    assert.equal(world.daemonSet.status?.collisionCount, 1, 'its name is taken now');
    assert.equal(revisionsOf(world).length, 2);
    assert.deepEqual(released['data'], revisionData(world.daemonSet));
    assert.equal((await world.step()).kind, 'skipped');
  });
});
