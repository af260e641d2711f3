/** design 3, step 5; S3, S4: what is read live before a pod is deleted, and what keeps it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { confirmVictims } from '../../../../../src/app/reconcile/confirm/confirm-victims.ts';
import type { VictimConfirmation } from '../../../../../src/app/reconcile/confirm/confirm-victims.ts';
import { projectLivePod } from '../../../../../src/core/projections/project.ts';
import { clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { PlannedDelete, View } from '../../../../../src/core/model/plan.ts';
import { isAvailable, minReadyMsOf } from '../../../../../src/core/pod/pod-facts.ts';
import { computeView } from '../../../../../src/core/view/view.ts';
import { sampleDaemonSet } from '../../../../support/reconcile-world.ts';
import { SimulatedCluster } from '../../../../support/simulated-cluster.ts';
import { projectNode } from '../../../../support/view-mirror.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const CURRENT = 'current';
type Pod = { readonly hash?: string; readonly isReady?: boolean; readonly generation?: string };

/** One node `n` with pods, seen as they are; then the test changes what is live. */
class Scene {
  readonly clock = new VirtualClock();
  readonly cluster = new SimulatedCluster(clusterUid('c'), this.clock);
  readonly daemonSet: DaemonSetObject;

  constructor(options: { minReadySeconds?: number; templateGeneration?: string } = {}) {
    const sample = sampleDaemonSet();
    const { minReadySeconds, templateGeneration } = options;
    this.daemonSet = this.cluster.put('daemonsets', {
      ...sample,
      metadata: {
        ...sample.metadata,
        ...(templateGeneration === undefined
          ? {}
          : { annotations: { 'deprecated.daemonset.template.generation': templateGeneration } }),
      },
      spec: { ...sample.spec, ...(minReadySeconds === undefined ? {} : { minReadySeconds }) },
    }) as DaemonSetObject; // a sample is a whole DaemonSet
    this.cluster.put('nodes', { metadata: { name: 'n' } });
  }

  put(name: string, { hash = 'former', isReady = true, generation }: Pod = {}): void {
    const { name: owner, uid } = this.daemonSet.metadata;
    this.cluster.put('pods', {
      metadata: {
        namespace: 'system',
        name,
        labels: {
          app: 'agents',
          'controller-revision-hash': hash,
          ...(generation === undefined ? {} : { 'pod-template-generation': generation }),
        },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid, controller: true },
        ],
      },
      spec: { nodeName: 'n' },
      status: this.#status(isReady),
    });
  }

  #status(isReady: boolean): { phase: string; conditions: unknown } {
    const lastTransitionTime = new Date(this.clock.nowMs()).toISOString();
    return {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }],
    };
  }

  edit(name: string, change: (pod: KubernetesObject) => KubernetesObject): void {
    this.cluster.change('pods', { namespace: 'system', name }, change);
  }

  /** The node gets this taint, and none else. */
  taint(effect?: string): void {
    const taints = effect === undefined ? [] : [{ key: 'dedicated', effect }];
    this.cluster.put('nodes', { metadata: { name: 'n' }, spec: { taints } });
  }

  setReady(name: string, isReady: boolean): void {
    this.edit(name, (pod) => ({ ...pod, status: this.#status(isReady) }));
  }

  terminate(name: string): void {
    this.edit(name, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
  }

  view(): View {
    return computeView({
      daemonSet: this.daemonSet,
      nodes: this.cluster.list('nodes').map(projectNode),
      pods: this.cluster.list('pods').map(projectLivePod),
      revisions: [],
      nowMs: this.clock.nowMs(),
    });
  }

  /** A delete as it would be planned on what is seen now. */
  planned(name: string, reason: PlannedDelete['reason']): PlannedDelete {
    const raw = this.cluster.find('pods', name, 'system');
    assert.ok(raw !== undefined);
    const pod = projectLivePod(raw);
    const at = { minReadyMs: minReadyMsOf(this.daemonSet), nowMs: this.clock.nowMs() };
    const { uid, resourceVersion, targetNode } = pod;
    return {
      ...(targetNode === undefined ? {} : { node: targetNode }),
      name,
      uid,
      resourceVersion,
      reason,
      isAvailable: isAvailable(pod, at),
    };
  }

  /** Plans on the present, changes what is live, confirms. */
  async confirm(
    plan: Readonly<Record<string, PlannedDelete['reason']>>,
    change: () => void | Promise<void> = () => undefined,
    currentHash: string | undefined = CURRENT,
  ): Promise<VictimConfirmation> {
    const deletes = Object.entries(plan).map(([name, reason]) => this.planned(name, reason));
    const view = this.view();
    await change();
    return confirmVictims(deletes, {
      reader: this.cluster,
      view,
      currentHash,
      nowMs: () => this.clock.nowMs(),
      mayContinue: () => true,
    });
  }
}

const names = (deletes: readonly { readonly name: string }[]): readonly string[] =>
  deletes.map(({ name }) => name);
const confirmedNames = ({ confirmed }: VictimConfirmation): readonly string[] =>
  names(confirmed.map(({ planned }) => planned));

describe('an outdated pod (spec 2.9, S3)', () => {
  it('goes with its live version as precondition, although its status moved', async () => {
    const scene = new Scene();
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
    const scene = new Scene();
    scene.put('old');
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.put('old', { hash: CURRENT });
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('stays when its template generation is the current one, whatever its hash', async () => {
    const scene = new Scene({ templateGeneration: '7' });
    scene.put('old', { generation: '6' });
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.put('old', { generation: '7' });
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('that was planned as unavailable stays when it became available: only the budget may take it', async () => {
    const scene = new Scene();
    scene.put('old', { isReady: false });
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.setReady('old', true);
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('that was planned as unavailable goes while it is ready for less than minReadySeconds', async () => {
    const scene = new Scene({ minReadySeconds: 10 });
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
    const scene = new Scene();
    scene.put('old');
    const result = await scene.confirm({ old: 'outdated' }, () => {
      scene.setReady('old', false);
    });
    assert.deepEqual(confirmedNames(result), ['old']);
  });

  it('stays while the current revision is unknown', async () => {
    const scene = new Scene();
    scene.put('old');
    const deletes = [scene.planned('old', 'outdated')];
    const result = await confirmVictims(deletes, {
      reader: scene.cluster,
      view: scene.view(),
      currentHash: undefined,
      nowMs: () => scene.clock.nowMs(),
      mayContinue: () => true,
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });
});

describe('a replaced pod (surge, spec 2.7, 2.9, S3)', () => {
  const surged = (options: { minReadySeconds?: number } = {}): Scene => {
    const scene = new Scene(options);
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
    const changes: readonly ((scene: Scene) => void)[] = [
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
    const scene = new Scene({ templateGeneration: '7' });
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
      const scene = new Scene();
      scene.put('old');
      scene.taint(effect);
      assert.deepEqual(confirmedNames(await scene.confirm({ old: 'vacated' })), ['old'], effect);
    }
  });

  it('stays where the node wants a pod by now (S3)', async () => {
    const scene = new Scene();
    scene.put('old');
    scene.taint('NoSchedule');
    const result = await scene.confirm({ old: 'vacated' }, () => {
      scene.taint();
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });

  it('stays when it was planned as unavailable and is available by now (S3)', async () => {
    const scene = new Scene();
    scene.put('old', { isReady: false });
    const result = await scene.confirm({ old: 'vacated' }, () => {
      scene.setReady('old', true);
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });
});

describe('a pod of a node on which it does not belong (spec 2.5)', () => {
  it('goes from a node that refuses it, also from one that is gone by now', async () => {
    for (const change of ['none', 'gone'] as const) {
      const scene = new Scene();
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
      const scene = new Scene();
      scene.put('old');
      scene.taint('NoExecute');
      const result = await scene.confirm({ old: 'not-wanted' }, () => {
        scene.taint(effect);
      });
      assert.deepEqual(names(result.dropped), ['old'], effect);
    }
  });

  it('waits while the node cannot be read', async () => {
    const scene = new Scene();
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
    const scene = new Scene();
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
    const changes: readonly ((scene: Scene) => void)[] = [
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
        const scene = new Scene();
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
    const scene = new Scene();
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
    const scene = new Scene();
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
      view,
      currentHash: CURRENT,
      nowMs: () => scene.clock.nowMs(),
      mayContinue: () => true,
    });
    assert.deepEqual(names(result.dropped), ['old']);
  });
});
