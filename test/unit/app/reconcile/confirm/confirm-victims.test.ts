/** design 3, step 5; S3, S4: what is read live before a pod is deleted, and what keeps it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { confirmVictims } from '../../../../../src/app/reconcile/confirm/confirm-victims.ts';
import type { VictimConfirmation } from '../../../../../src/app/reconcile/confirm/confirm-victims.ts';
import type { PlannedDelete } from '../../../../../src/core/model/plan.ts';
import { CURRENT, VictimScene } from '../../../../support/victim-scene.ts';

const names = (deletes: readonly { readonly name: string }[]): readonly string[] =>
  deletes.map(({ name }) => name);
const confirmedNames = ({ confirmed }: VictimConfirmation): readonly string[] =>
  names(confirmed.map(({ planned }) => planned));

describe('an outdated pod (spec 2.9, S3)', () => {
  it('goes with its live version as precondition, although its status moved', async () => {
    const scene = new VictimScene();
    scene.put('old');
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.setReady('old', true);
    });
    const live = scene.cluster.find('pods', 'old', 'system')?.metadata.resourceVersion;
    assert.deepEqual(
      result.confirmed.map(({ effect }) => effect.resourceVersion),
      [live],
    );
  });

  it('stays when it carries the current revision by now (history relabelled it)', async () => {
    const scene = new VictimScene();
    scene.put('old');
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.put('old', { hash: CURRENT });
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('stays when its template generation is the current one, whatever its hash', async () => {
    const scene = new VictimScene({ templateGeneration: '7' });
    scene.put('old', { generation: '6' });
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.put('old', { generation: '7' });
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('that was planned as unavailable stays when it became available: only the budget may take it', async () => {
    const scene = new VictimScene();
    scene.put('old', { isReady: false });
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.setReady('old', true);
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('that was planned as unavailable goes while it is ready for less than minReadySeconds', async () => {
    const scene = new VictimScene({ minReadySeconds: 10 });
    scene.put('old', { isReady: false });
    const change = async (waitMs: number): Promise<void> => {
      scene.setReady('old', true);
      await scene.clock.advance(waitMs);
    };
    const early = await scene.confirm({ old: 'outdated' }, () => change(9_999));
    assert.deepEqual(confirmedNames(early), ['old']);
    scene.setReady('old', false);
    const late = await scene.confirm({ old: 'outdated' }, () => change(10_000));
    assert.deepEqual(names(late.dropped), ['old']);
  });

  it('that was planned within the budget goes also when it is unavailable by now', async () => {
    const scene = new VictimScene();
    scene.put('old');
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.setReady('old', false);
    });
    assert.deepEqual(confirmedNames(result), ['old']);
  });

  it('stays while the current revision is unknown', async () => {
    const scene = new VictimScene();
    scene.put('old');
    const deletes = [scene.planned('old', 'outdated')];
    const result = await confirmVictims(deletes, {
      reader: scene.cluster,
      trust: scene.trust,
      ownPods: scene.ownPods,
      view: scene.view(),
      currentHash: undefined,
      nowMs: () => scene.clock.nowMs(),
      mayContinue: () => true,
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });
});

describe('a replaced pod (surge, spec 2.7, 2.9, S3)', () => {
  const surged = (options: { minReadySeconds?: number } = {}): VictimScene => {
    const scene = new VictimScene(options);
    scene.put('old');
    scene.put('new', { hash: CURRENT });
    return scene;
  };

  it('goes once the pod of the current revision is live and available', async () => {
    assert.deepEqual(confirmedNames(await surged().confirm({ old: 'replaced' })), ['old']);
  });

  it('goes on a vanished node, too: strict plans that, as upstream', async () => {
    const scene = surged();
    scene.cluster.remove('nodes', 'n');
    assert.deepEqual(confirmedNames(await scene.confirm({ old: 'replaced' })), ['old']);
    scene.setReady('new', false);
    assert.deepEqual(names((await scene.confirm({ old: 'replaced' })).dropped), ['old']);
  });

  it('stays when the new pod is not ready any more', async () => {
    const scene = surged();
    const result = await scene.confirm({ old: 'replaced' }, () => {
      scene.setReady('new', false);
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('stays until minReadySeconds are over by the run’s clock', async () => {
    const scene = surged({ minReadySeconds: 10 });
    const early = await scene.confirm({ old: 'replaced' }, () => scene.clock.advance(9_999));
    assert.deepEqual(names(early.dropped), ['old']);
    const late = await scene.confirm({ old: 'replaced' }, () => scene.clock.advance(1));
    assert.deepEqual(confirmedNames(late), ['old']);
  });

  it('goes when it is itself not ready, whatever the new pod does', async () => {
    const scene = surged();
    const result = await scene.confirm({ old: 'replaced' }, () => {
      scene.setReady('old', false);
      scene.setReady('new', false);
    });
    assert.deepEqual(confirmedNames(result), ['old']);
  });

  it('stays when the new pod is gone, re-made, terminating, finished or of another revision', async () => {
    const changes: readonly ((scene: VictimScene) => void)[] = [
      (scene) => {
        scene.cluster.remove('pods', 'new', 'system');
      },
      (scene) => {
        scene.cluster.remove('pods', 'new', 'system');
        scene.put('new', { hash: CURRENT });
      },
      (scene) => {
        scene.terminate('new');
      },
      (scene) => {
        scene.edit('new', (pod) => ({ ...pod, status: { phase: 'Failed' } }));
      },
      (scene) => {
        scene.put('new', { hash: 'other' });
      },
    ];
    for (const change of changes) {
      const scene = surged();
      const result = await scene.confirm({ old: 'replaced' }, () => {
        change(scene);
      });
      assert.deepEqual(names(result.dropped), ['old']);
    }
  });

  it('goes when the new pod is current by its template generation only', async () => {
    const scene = new VictimScene({ templateGeneration: '7' });
    scene.put('old', { generation: '6' });
    scene.put('new', { hash: 'another', generation: '7' });
    assert.deepEqual(confirmedNames(await scene.confirm({ old: 'replaced' })), ['old']);
  });

  it('stays when it is of the current revision itself', async () => {
    const scene = surged();
    const result = await scene.confirm({ old: 'replaced' }, () => {
      scene.put('old', { hash: CURRENT });
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('waits while the new pod cannot be read', async () => {
    const scene = surged();
    scene.cluster.hooks = {
      onRead: (_what, name) =>
        name === 'new' ? { kind: 'unavailable', message: '500', isRefused: false } : undefined,
    };
    assert.deepEqual(names((await scene.confirm({ old: 'replaced' })).unreadable), ['old']);
  });
});

describe('a pod of a node that is vacated (surge, spec 2.9)', () => {
  it('goes from a node that refuses it, or only keeps it', async () => {
    for (const effect of ['NoExecute', 'NoSchedule']) {
      const scene = new VictimScene();
      scene.put('old');
      scene.taint(effect);
      assert.deepEqual(confirmedNames(await scene.confirm({ old: 'vacated' })), ['old'], effect);
    }
  });

  it('stays where the node wants a pod by now (S3)', async () => {
    const scene = new VictimScene();
    scene.put('old');
    scene.taint('NoSchedule');
    const result = await scene.confirm({ old: 'vacated' }, () => {
      scene.taint();
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('stays when it was planned as unavailable and is available by now (S3)', async () => {
    const scene = new VictimScene();
    scene.put('old', { isReady: false });
    scene.taint('NoSchedule');
    assert.deepEqual(confirmedNames(await scene.confirm({ old: 'vacated' })), ['old']);
    const result = await scene.confirm({ old: 'vacated' }, () => {
      scene.setReady('old', true);
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });
});

describe('a pod of a node on which it does not belong (spec 2.5)', () => {
  it('goes from a node that refuses it, also from one that is gone by now', async () => {
    for (const change of ['none', 'gone'] as const) {
      const scene = new VictimScene();
      scene.put('old');
      scene.taint('NoExecute');
      const result = await scene.confirm({ old: 'not-wanted' }, () => {
        if (change === 'gone') scene.cluster.remove('nodes', 'n');
      });
      assert.deepEqual(confirmedNames(result), ['old'], change);
    }
  });

  it('stays where the node takes it by now, or may keep it: two watches are never at one moment (S3)', async () => {
    for (const effect of [undefined, 'NoSchedule']) {
      const scene = new VictimScene();
      scene.put('old');
      scene.taint('NoExecute');
      const result = await scene.confirm({ old: 'not-wanted' }, () => {
        scene.taint(effect);
      });
      assert.deepEqual(names(result.dropped), ['old'], effect);
    }
  });

  it('waits while the node cannot be read', async () => {
    const scene = new VictimScene();
    scene.put('old');
    scene.taint('NoExecute');
    scene.cluster.hooks = {
      onRead: (what) =>
        what === 'GET nodes'
          ? { kind: 'unavailable', message: '500', isRefused: false }
          : undefined,
    };
    assert.deepEqual(names((await scene.confirm({ old: 'not-wanted' })).unreadable), ['old']);
  });

  it('stays when it is aimed at another node than was planned on', async () => {
    const scene = new VictimScene();
    scene.put('old');
    scene.taint('NoExecute');
    const result = await scene.confirm({ old: 'not-wanted' }, () => {
      scene.edit('old', (pod) => ({ ...pod, spec: { nodeName: 'other' } }));
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });
});

describe('every victim (S4)', () => {
  it('stays when it is gone, re-made, terminating, released or another owner’s', async () => {
    const changes: readonly ((scene: VictimScene) => void)[] = [
      (scene) => {
        scene.cluster.remove('pods', 'old', 'system');
      },
      (scene) => {
        scene.cluster.remove('pods', 'old', 'system');
        scene.put('old');
      },
      (scene) => {
        scene.terminate('old');
      },
      (scene) => {
        scene.edit('old', (pod) => ({
          ...pod,
          metadata: { ...pod.metadata, ownerReferences: [] },
        }));
      },
    ];
    for (const reason of ['outdated', 'replaced', 'vacated', 'duplicate', 'not-wanted'] as const) {
      for (const change of changes) {
        const scene = new VictimScene();
        scene.put('old');
        scene.put('new', { hash: CURRENT });
        const result = await scene.confirm({ old: reason }, () => {
          change(scene);
        });
        assert.deepEqual(names(result.dropped), ['old'], reason);
      }
    }
  });

  it('is read once, and so is the pod for whose sake several go', async () => {
    const scene = new VictimScene();
    for (const name of ['keeper', 'second', 'third', 'fourth']) scene.put(name, { hash: CURRENT });
    const before = scene.cluster.requests.length;
    const result = await scene.confirm({
      second: 'duplicate',
      third: 'duplicate',
      fourth: 'duplicate',
    });
    assert.deepEqual(confirmedNames(result), ['second', 'third', 'fourth']);
    assert.equal(scene.cluster.requests.length - before, 4);
  });

  it('of a repeated delete is confirmed for what it is still wanted', async () => {
    const scene = new VictimScene();
    scene.put('old', { isReady: false });
    const planned: PlannedDelete = {
      ...scene.planned('old', 'outdated'),
      reason: 'repeat',
      repeats: 'outdated',
    };
    const view = scene.view();
    scene.setReady('old', true);
    const result = await confirmVictims([planned], {
      reader: scene.cluster,
      trust: scene.trust,
      ownPods: scene.ownPods,
      view,
      currentHash: CURRENT,
      nowMs: () => scene.clock.nowMs(),
      mayContinue: () => true,
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });
});
