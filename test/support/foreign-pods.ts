/** Pods that stand in a reconcile world before anybody reconciles: orphans, and others' pods. */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ReconcileWorld, WorldOptions } from './reconcile-world.ts';

/** Puts a running, ready pod on a node; `owner` is the UID of a DaemonSet, absent for an orphan. */
export function putPod(
  world: ReconcileWorld,
  pod: { name: string; node: string; owner?: string; labels?: Record<string, string> },
): void {
  const reference = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'agents',
    uid: pod.owner,
    controller: true,
  };
  world.cluster.put('pods', {
    metadata: {
      namespace: 'system',
      name: pod.name,
      labels: pod.labels ?? { app: 'agents' },
      ...(pod.owner === undefined ? {} : { ownerReferences: [reference] }),
    },
    spec: { nodeName: pod.node },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

/** Pods of no known revision stay as they are: a rolling update would replace them. */
export const onDelete: Pick<WorldOptions, 'daemonSet'> = {
  daemonSet: (object: DaemonSetObject): DaemonSetObject => ({
    ...object,
    spec: { ...object.spec, updateStrategy: { type: 'OnDelete' } },
  }),
};
