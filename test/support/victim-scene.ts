/** One node with pods of a DaemonSet, planned on as they are seen; then a test changes what is live, and confirms. */
import assert from 'node:assert/strict';
import { confirmVictims } from '../../src/app/reconcile/confirm/confirm-victims.ts';
import type {
  VictimConfirmation,
  VictimTrust,
} from '../../src/app/reconcile/confirm/confirm-victims.ts';
import { NO_OWN_PODS, type OwnPods } from '../../src/app/reconcile/confirm/live-pods.ts';
import { projectLivePod } from '../../src/core/projections/project.ts';
import { clusterUid } from '../../src/core/model/identifiers.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { PlannedDelete, View } from '../../src/core/model/plan.ts';
import { isAvailable, minReadyMsOf } from '../../src/core/pod/pod-facts.ts';
import { computeView } from '../../src/core/view/view.ts';
import { sampleDaemonSet } from './reconcile-world.ts';
import { SimulatedCluster } from './simulated-cluster.ts';
import { projectNode } from './view-mirror.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

export const CURRENT = 'current';
type Pod = { readonly hash?: string; readonly isReady?: boolean; readonly generation?: string };

/** One node `n` with pods, seen as they are; then the test changes what is live. */
export class VictimScene {
  readonly clock = new VirtualClock();
  readonly cluster = new SimulatedCluster(clusterUid('c'), this.clock);
  readonly daemonSet: DaemonSetObject;
  trust: VictimTrust = () => 'read';
  ownPods: OwnPods = NO_OWN_PODS;

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
      trust: this.trust,
      ownPods: this.ownPods,
      view,
      currentHash,
      nowMs: () => this.clock.nowMs(),
      mayContinue: () => true,
    });
  }
}
