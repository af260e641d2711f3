/** Names of revisions that are taken: collisionCount, lost answers, foreign content (spec 2.10, #62519, S10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import { buildRevision, revisionHash } from '../../../../src/core/history/revisions.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';

const FOREIGN_OWNER = { ownerReferences: [{ uid: 'somebody', controller: true }] };

const nameAt = (world: ReconcileWorld, count: number): string =>
  `agents-${revisionHash(world.daemonSet, count)}`;
const collisionCountOf = (world: ReconcileWorld): number | undefined =>
  world.daemonSet.status?.collisionCount;
const names = (world: ReconcileWorld): readonly string[] =>
  world.cluster.list('controllerrevisions').map(({ metadata }) => metadata.name);

/** Somebody's object under the name that our next revision would have. */
function take(world: ReconcileWorld, count: number, metadata: object = FOREIGN_OWNER): string {
  const name = nameAt(world, count);
  world.cluster.put('controllerrevisions', {
    metadata: { namespace: 'system', name, labels: { app: 'agents' }, ...metadata },
    data: { spec: { template: 'other' } },
    revision: 1,
  });
  return name;
}

describe('a name that is taken', () => {
  it('raises collisionCount through the status, and the next name is used', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    const taken = take(world, 0);
    await world.settle();
    assert.equal(collisionCountOf(world), 1);
    assert.deepEqual(names(world).toSorted(), [taken, nameAt(world, 1)].toSorted());
    const hashes = world.pods.map(({ metadata }) => metadata.labels?.['controller-revision-hash']);
    assert.deepEqual(new Set(hashes), new Set([revisionHash(world.daemonSet, 1)]));
    assert.deepEqual(world.cluster.violations, []);
    assert.equal((await world.step()).kind, 'skipped');
  });

  it('lets no run go on before the new collisionCount is seen', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    take(world, 0);
    await world.step();
    const tries = (): number => world.sent('create-revision');
    assert.equal(tries(), 1);
    assert.equal(codeOf(await world.run()), 'own-writes-unseen');
    assert.equal(tries(), 1);
    await world.step();
    assert.equal(tries(), 2);
  });

  it('is not touched, and its collision is resolved once for each name (S10, row 54)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const taken = [take(world, 0), take(world, 1)];
    const before = taken.map((name) => world.cluster.find('controllerrevisions', name, 'system'));
    await world.settle();
    assert.equal(collisionCountOf(world), 2);
    const after = taken.map((name) => world.cluster.find('controllerrevisions', name, 'system'));
    assert.deepEqual(after, before);
    assert.equal(world.pods.length, 1);
  });

  it('changes nothing else of the status: conditions and counters stand (S7)', async () => {
    const conditions = [{ type: 'Theirs', status: 'True' }];
    const status = { observedGeneration: 1, numberReady: 9, conditions } as never;
    const world = new ReconcileWorld({ daemonSet: (object) => ({ ...object, status }), nodes: 0 });
    take(world, 0);
    await world.step();
    const expected = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 9,
      observedGeneration: 1,
      conditions,
      collisionCount: 1,
    } satisfies DaemonSetStatus;
    assert.deepEqual(world.daemonSet.status, expected);
    await world.settle();
    assert.deepEqual(world.daemonSet.status?.conditions, conditions);
    assert.equal(collisionCountOf(world), 1);
  });

  it('by a count that was seen too late is looked at again, not raised twice', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    take(world, 0);
    await world.mirror.sync();
    world.change(() => ({ status: { collisionCount: 4 } }));
    assert.equal(codeOf(await world.run()), 'own-writes-unseen');
    assert.equal(collisionCountOf(world), 4);
    await world.settle();
    assert.equal(collisionCountOf(world), 4);
    assert.ok(names(world).includes(nameAt(world, 4)));
  });

  it('by a status write that meets a conflict is looked at again', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    take(world, 0);
    world.meet(
      'update-status',
      { kind: 'answer', outcome: { kind: 'conflict', message: 'modified' } },
      1,
    );
    assert.equal(codeOf(await world.step()), 'own-writes-unseen');
    await world.settle();
    assert.equal(collisionCountOf(world), 1);
    assert.equal(world.pods.length, 1);
  });
});

describe('a name that is ours already', () => {
  it('is used: the answer to its create was lost', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.meet('create-revision', { kind: 'lose-answer' });
    assert.equal(codeOf(await world.step()), 'history');
    world.cluster.hooks = {};
    await world.settle();
    assert.deepEqual(names(world), [nameAt(world, 0)]);
    assert.equal(collisionCountOf(world), undefined);
    assert.equal(world.pods.length, 1);
  });

  it('is used when another run made it after the list', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'create-revision') return undefined;
        const hash = revisionHash(world.daemonSet, 0);
        world.cluster.put(
          'controllerrevisions',
          buildRevision(world.daemonSet, { hash, revision: 1 }) as never, // raw JSON of a revision
        );
        return undefined;
      },
    };
    await world.settle();
    assert.deepEqual(names(world), [nameAt(world, 0)]);
    assert.equal(collisionCountOf(world), undefined);
    assert.equal(world.pods.length, 1);
  });

  it('is not used while it is nobody’s: it is adopted by the next look', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    let isMade = false;
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'create-revision' || isMade) return undefined;
        isMade = true;
        const hash = revisionHash(world.daemonSet, 0);
        const body = buildRevision(world.daemonSet, { hash, revision: 1 });
        const metadata = { ...(body['metadata'] as object), ownerReferences: [] };
        world.cluster.put('controllerrevisions', { ...body, metadata } as never); // as above
        return undefined;
      },
    };
    const result = await world.step();
    assert.equal(result.kind, 'deferred');
    assert.equal(world.pods.length, 0);
    const name = nameAt(world, 0);
    await world.settle();
    assert.deepEqual(names(world), [name]);
    assert.equal(world.pods.length, 1);
  });
});
