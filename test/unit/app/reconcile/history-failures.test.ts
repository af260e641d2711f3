/**
 * History that is interrupted anywhere (spec 2.3 step 6, 2.10; faults 1, 9, 10): nothing else runs after a failure,
 * and the end is that of an undisturbed run, with no pod restarted.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Effect, Outcome } from '../../../../src/core/model/effects.ts';
import { revisionData, revisionHash } from '../../../../src/core/history/revisions.ts';
import { codeOf, ReconcileWorld } from '../../../support/reconcile-world.ts';
import { controllerUid } from '../../../support/simulated-objects.ts';

const HASH = 'controller-revision-hash';

/** Every step at once: one to release, one to adopt without hash, a duplicate whose pods are relabelled, a rollback. */
async function disorder(): Promise<ReconcileWorld> {
  const world = await ReconcileWorld.settled({ nodes: 2 });
  const owner = { ownerReferences: [{ uid: world.daemonSet.metadata.uid, controller: true }] };
  const put = (name: string, metadata: object, rest: object): void => {
    world.cluster.put('controllerrevisions', {
      metadata: { namespace: 'system', name, labels: { app: 'agents', [HASH]: name }, ...metadata },
      data: { spec: {} },
      ...rest,
    });
  };
  const data = revisionData(world.daemonSet);
  put('to-release', { ...owner, labels: { app: 'moved' } }, { revision: 90 });
  put('to-adopt', { labels: { app: 'agents' } }, { revision: 8 });
  put('to-keep', owner, { revision: 3, data });
  return world;
}

function endOf(world: ReconcileWorld): unknown {
  const revisions = world.cluster.list('controllerrevisions').map((item) => ({
    name: item.metadata.name,
    number: item['revision'],
    hash: item.metadata.labels?.[HASH],
    isOurs: controllerUid(item) === world.daemonSet.metadata.uid,
  }));
  const pods = world.pods.map(({ metadata }) => [metadata.uid, metadata.labels?.[HASH]]);
  return { revisions, pods };
}

describe('history in disorder', () => {
  it('is brought into order', async () => {
    const world = await disorder();
    const [one, two] = world.pods.map(({ metadata }) => metadata.uid);
    assert.equal(codeOf(await world.step()), 'own-writes-unseen', 'in one run');
    await world.settle();
    assert.deepEqual(endOf(world), {
      revisions: [
        { name: 'to-adopt', number: 8, hash: 'to-adopt', isOurs: true },
        { name: 'to-keep', number: 9, hash: 'to-keep', isOurs: true },
        { name: 'to-release', number: 90, hash: undefined, isOurs: false },
      ],
      pods: [
        [one, 'to-keep'],
        [two, 'to-keep'],
      ],
    });
    assert.deepEqual(world.cluster.violations, []);
  });

  const faster: readonly [string, (effect: Effect) => boolean, Outcome][] = [
    ['released', (effect) => 'purpose' in effect && effect.purpose === 'release', { kind: 'gone' }],
    [
      'released, as invalid',
      (effect) => 'purpose' in effect && effect.purpose === 'release',
      { kind: 'refused', code: 'invalid', status: 422, message: 'no such reference' },
    ],
    ['deleted', ({ kind }) => kind === 'delete-revision', { kind: 'gone' }],
    [
      'relabelled',
      (effect) => 'resource' in effect && effect.resource === 'pods',
      { kind: 'gone' },
    ],
  ];
  for (const [title, isMeant, outcome] of faster) {
    it(`goes on where somebody was faster (${title})`, async () => {
      const world = await disorder();
      let isFirst = true;
      world.cluster.hooks = {
        beforeEffect: (effect) => {
          if (!isFirst || !isMeant(effect)) return undefined;
          isFirst = false;
          return { kind: 'answer', outcome };
        },
      };
      const result = await world.step();
      assert.equal(isFirst, false);
      assert.equal(result.kind === 'deferred' && result.code, 'own-writes-unseen');
    });
  }

  const faults = {
    'lost on the way': { kind: 'answer', outcome: { kind: 'ambiguous', message: 'lost' } },
    'applied, its answer lost': { kind: 'lose-answer' },
    'not sent': { kind: 'answer', outcome: { kind: 'unsent', message: 'wait', retryAfterMs: 900 } },
    forbidden: {
      kind: 'answer',
      outcome: { kind: 'refused', code: 'forbidden', status: 403, message: 'no' },
    },
    'met by a conflict': { kind: 'answer', outcome: { kind: 'conflict', message: 'modified' } },
  } as const;
  for (const [title, fault] of Object.entries(faults)) {
    it(`with any one request ${title} ends the same`, async () => {
      const expected = await disorder();
      const clean = expected.cluster.requests.length;
      await expected.settle();
      const isEffect = (request: string): boolean => /^(patch|delete-revision) /.test(request);
      const effects = expected.cluster.requests.slice(clean).filter(isEffect).length;
      assert.equal(effects, 7);
      for (let victim = 0; victim < effects; victim += 1) {
        const world = await disorder();
        let count = 0;
        world.cluster.hooks = {
          beforeEffect: (effect) => {
            if (effect.kind !== 'patch' && effect.kind !== 'delete-revision') return undefined;
            count += 1;
            return count === victim + 1 ? fault : undefined;
          },
        };
        await world.settle();
        assert.deepEqual(endOf(world), endOf(expected), `request ${victim}`);
        assert.deepEqual(world.cluster.violations, []);
      }
    });
  }
});

describe('a failure', () => {
  const outcomes: readonly [string, Outcome][] = [
    ['history', { kind: 'ambiguous', message: '500' }],
    ['history', { kind: 'unsent', message: 'throttled', retryAfterMs: 3_000 }],
    ['history-refused', { kind: 'refused', code: 'forbidden', status: 403, message: 'no' }],
    [
      'namespace-terminating',
      { kind: 'refused', code: 'namespace-terminating', status: 403, message: 'no' },
    ],
    ['history', { kind: 'gone' }],
  ];
  for (const [code, outcome] of outcomes) {
    it(`to create (${outcome.kind}) stops everything else, with back-off`, async () => {
      const world = new ReconcileWorld({ nodes: 1 });
      world.meet('create-revision', { kind: 'answer', outcome });
      const first = await world.step();
      assert.ok(first.kind === 'deferred');
      assert.equal(first.code, code);
      const { retry } = await world.state();
      assert.equal(retry?.holdsCreates, code === 'namespace-terminating');
      const askedMs = outcome.kind === 'unsent' ? (outcome.retryAfterMs ?? 0) : 0;
      assert.ok(retry.delayMs >= askedMs);
      await world.clock.advance(60_000);
      const second = await world.step();
      assert.ok(second.kind === 'deferred');
      const firstWaitMs = first.nextLookAtMs - (world.clock.nowMs() - 60_000);
      assert.ok(second.nextLookAtMs - world.clock.nowMs() > firstWaitMs, 'it waits longer');
      assert.equal(world.pods.length, 0);
      world.cluster.hooks = {};
      await world.settle();
      assert.equal(world.pods.length, 1);
    });
  }

  it('of the live read of the DaemonSet before the first write stops everything else', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    world.cluster.hooks = {
      onRead: (what) =>
        what === 'LIST daemonsets'
          ? { kind: 'unavailable', message: '500', isRefused: false, retryAfterMs: 100 }
          : undefined,
    };
    assert.equal(codeOf(await world.step()), 'history');
    assert.deepEqual(world.cluster.list('controllerrevisions'), []);
  });

  it('of a live read while a name is taken changes nothing', async () => {
    for (const failing of ['GET controllerrevisions', 'LIST daemonsets']) {
      const world = new ReconcileWorld({ nodes: 1 });
      const name = `agents-${revisionHash(world.daemonSet, 0)}`;
      world.cluster.put('controllerrevisions', { metadata: { namespace: 'system', name } });
      let isCreated = false;
      world.cluster.hooks = {
        beforeEffect: ({ kind }) => {
          isCreated ||= kind === 'create-revision';
          return undefined;
        },
        onRead: (what) =>
          isCreated && what === failing
            ? { kind: 'unavailable', message: '500', isRefused: false }
            : undefined,
      };
      assert.equal(codeOf(await world.step()), 'history');
      assert.equal(world.daemonSet.status?.collisionCount, undefined);
      world.cluster.hooks = {};
      await world.settle();
      assert.equal(world.daemonSet.status?.collisionCount, 1);
    }
  });

  it('of the DaemonSet itself while a name is taken: one that is gone is left alone', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const name = `agents-${revisionHash(world.daemonSet, 0)}`;
    world.cluster.put('controllerrevisions', { metadata: { namespace: 'system', name } });
    world.cluster.hooks = {
      beforeEffect: ({ kind }) => {
        if (kind === 'create-revision') world.cluster.remove('daemonsets', 'agents', 'system');
        return undefined;
      },
    };
    assert.equal(codeOf(await world.step()), 'daemon-set-changed');
    assert.deepEqual(world.cluster.list('daemonsets'), []);
  });

  it('of a status write that is lost while a name is taken is tried again', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const name = `agents-${revisionHash(world.daemonSet, 0)}`;
    world.cluster.put('controllerrevisions', { metadata: { namespace: 'system', name } });
    world.meet('update-status', { kind: 'lose-answer' }, 1);
    assert.equal(codeOf(await world.step()), 'history');
    await world.settle();
    assert.equal(world.daemonSet.status?.collisionCount, 1, 'raised once');
    assert.equal(world.pods.length, 1);
  });

  it('of a list of pods keeps the duplicates', async () => {
    const world = await disorder();
    world.cluster.hooks = {
      onRead: (what) =>
        what === 'LIST pods'
          ? { kind: 'unavailable', message: '500', isRefused: false }
          : undefined,
    };
    const before = world.cluster.list('controllerrevisions').length;
    assert.equal(codeOf(await world.step()), 'history');
    assert.equal(world.cluster.list('controllerrevisions').length, before);
  });

  it('of a live read of an owned revision that the selector does not match stops everything', async () => {
    const world = await disorder();
    world.cluster.hooks = {
      onRead: (what, name) =>
        what === 'GET controllerrevisions' && name === 'to-release'
          ? { kind: 'unavailable', message: '500', isRefused: false }
          : undefined,
    };
    assert.equal(codeOf(await world.step()), 'history');
    world.cluster.hooks = {};
    world.cluster.remove('controllerrevisions', 'to-release', 'system');
    await world.run(); // seen, but gone
    await world.settle();
    assert.equal(world.cluster.list('controllerrevisions').length, 2);
  });
});

describe('without the right to act', () => {
  it('the current revision is known from the state, else guessed: the newest owned one', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.edit(() => ({}));
    world.register({ isFrozen: true });
    const reads = world.sent('LIST');
    await world.settle();
    assert.equal(world.daemonSet.status?.updatedNumberScheduled, 2);
    assert.equal(world.sent('LIST'), reads);
  });
});
