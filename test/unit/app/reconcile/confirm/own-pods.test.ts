/** ADR 0071: what goes as it was seen, that only a live list lets it, and that a view which lies deletes nothing more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OwnPods } from '../../../../../src/app/reconcile/confirm/live-pods.ts';
import { victimTrust } from '../../../../../src/app/reconcile/confirm/confirm-victims.ts';
import { uid } from '../../../../../src/core/model/identifiers.ts';
import type { PodMetadata } from '../../../../../src/ports/cluster/cluster-access.ts';
import { CURRENT, VictimScene } from '../../../../support/victim-scene.ts';

/** A scene in which pods were listed as they are now. */
async function listed(scene: VictimScene, change: Partial<PodMetadata> = {}): Promise<OwnPods> {
  const answer = await scene.cluster.listPodMetadata('system', 'app=agents');
  assert.ok(answer.kind === 'found');
  const pods = new Map(answer.object.map((pod) => [pod.uid, { ...pod, ...change }]));
  scene.cluster.requests.length = 0;
  return { find: (pod) => pods.get(pod), learn: () => Promise.resolve() };
}

function sceneWith(hash?: string): VictimScene {
  const scene = new VictimScene();
  scene.trust = victimTrust(undefined, { isLive: false, nowMs: 0 });
  scene.put('old', hash === undefined ? {} : { hash });
  return scene;
}

describe('an outdated pod that was planned as available', () => {
  it('goes over the version that was seen, and is not read', async () => {
    const scene = sceneWith();
    scene.ownPods = await listed(scene);
    const { resourceVersion } = scene.planned('old', 'outdated');
    const { confirmed } = await scene.confirm({ old: 'outdated' }, () => {
      scene.setReady('old', true);
    });
    const from = confirmed.map(({ from: source, effect }) => [source, effect.resourceVersion]);
    assert.deepEqual(from, [['view', resourceVersion]]);
    assert.deepEqual(scene.cluster.requests, []);
  });

  it('is read where no list told of it', async () => {
    const scene = sceneWith();
    const { confirmed } = await scene.confirm({ old: 'outdated' });
    assert.deepEqual(
      confirmed.map(({ from }) => from),
      ['read'],
    );
  });

  it('is read where it spends no budget, or goes for another reason', async () => {
    const scene = sceneWith();
    scene.put('unready', { isReady: false });
    scene.put('twice');
    scene.ownPods = await listed(scene);
    const plan = { unready: 'outdated', twice: 'duplicate' } as const;
    const { confirmed } = await scene.confirm(plan, () => {
      scene.setReady('unready', true);
      scene.terminate('twice');
    });
    assert.deepEqual(confirmed, []);
    assert.deepEqual(scene.cluster.requests.slice(0, 2), ['GET pods unready', 'GET pods twice']);
  });
});

describe('a view that lies', () => {
  const lies: Readonly<Record<string, { hash?: string; list?: Partial<PodMetadata> }>> = {
    'of whose a pod is': { list: { ownerUid: uid('another') } },
    'of what a pod was made': { hash: CURRENT },
    'of a pod that is going': { list: { isTerminating: true } },
  };
  for (const [what, { hash, list }] of Object.entries(lies)) {
    it(`${what} has that pod read`, async () => {
      const scene = sceneWith(hash);
      scene.ownPods = await listed(scene, list);
      await scene.confirm({ old: 'outdated' });
      assert.deepEqual(scene.cluster.requests, ['GET pods old']);
    });
  }
});
