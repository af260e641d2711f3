/**
 * The control plane that a benchmark of whole DaemonSets runs on: plain nodes, an independent watch, and
 * the steps that several benchmarks share.
 *
 * Times are those of the watch: when it saw an event. Every wait has a deadline.
 */
import { createApiClient, type ApiClient } from '../../conformance/control-plane/api.ts';
import { startControlPlane } from '../../conformance/control-plane/control-plane.ts';
import type { ControlPlane } from '../../conformance/control-plane/control-plane.ts';
import { createNodes, plainNodes } from '../../conformance/control-plane/nodes.ts';
import type { PodRecord } from '../../conformance/control-plane/observed-records.ts';
import { startObserver, type Observer } from '../../conformance/control-plane/observer.ts';
import { applyFiles } from '../../conformance/scenarios/manifests.ts';
import { daemonSetPath, testDaemonSet } from '../../conformance/scenarios/daemon-set.ts';
import { repositoryPath } from '../../conformance/scenarios/repository.ts';
import { say } from './say.ts';

/** Deadline of each wait. */
export const DEADLINE_MS = 300_000;
const QUIET_MS = 3000;

/** A running control plane with its nodes. */
export interface BenchCluster {
  readonly controlPlane: ControlPlane;
  readonly admin: ApiClient;
  readonly observer: Observer;
  readonly nodesCount: number;
  readonly stop: () => Promise<void>;
}

/** Starts one with this many plain, Ready nodes; the built-in DaemonSet loop is off. */
export async function startBenchCluster(name: string, nodesCount: number): Promise<BenchCluster> {
  say('starting a control plane …');
  const controlPlane = await startControlPlane({ name, limits: 'lifted' });
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  const observer = await startObserver(controlPlane.connectionOf('observer'));
  const stop = async (): Promise<void> => {
    await observer.stop();
    admin.close();
    await controlPlane.stop();
  };
  try {
    await applyFiles(admin, [
      repositoryPath('infra/watcher/rbac.yaml'),
      repositoryPath('infra/functions/rbac.yaml'),
    ]);
    say(`creating ${String(nodesCount)} nodes …`);
    await createNodes(admin, plainNodes(nodesCount));
    const isReady = (it: Observer): boolean => {
      const nodes = [...it.nodes.values()];
      return nodes.length === nodesCount && nodes.every(({ taintKeys }) => taintKeys.length === 0);
    };
    await observer.waitUntil(isReady, { deadlineMs: DEADLINE_MS, description: 'nodes ready' });
  } catch (error) {
    await stop();
    throw error;
  }
  return { controlPlane, admin, observer, nodesCount, stop };
}

/** Creates a DaemonSet for all nodes that is updated a tenth at a time; answers its UID. */
export async function createDaemonSet({ admin }: BenchCluster, name: string): Promise<string> {
  const daemonSet = testDaemonSet({ name });
  const { metadata } = await admin.post(daemonSetPath({}), {
    ...daemonSet,
    spec: {
      ...(daemonSet['spec'] as object),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
    },
  });
  if (metadata.uid === undefined) throw new Error(`${name} has no UID`);
  return metadata.uid;
}

/** Deletes it, and waits until its pods are gone and the cluster is quiet. */
export async function deleteDaemonSet(cluster: BenchCluster, name: string): Promise<void> {
  const { admin, observer } = cluster;
  await admin.delete(daemonSetPath({ name }));
  await observer.waitUntil((it) => it.pods.size === 0, {
    deadlineMs: DEADLINE_MS,
    description: 'no pods',
  });
  await settle(cluster);
}

/** Resolves when no pod and no DaemonSet has changed for a while, so that nobody's tail is in the next measurement. */
export async function settle({ observer }: BenchCluster): Promise<void> {
  await observer.waitUntilQuiet({
    quietMs: QUIET_MS,
    deadlineMs: DEADLINE_MS,
    isRelevant: ({ record }) => record.kind !== 'Node',
  });
}

/** The pods of a set that are wanted: those that a predicate accepts. */
export function countPods(
  { pods }: Observer,
  daemonSetUid: string,
  accepts: (pod: PodRecord) => boolean,
): number {
  let count = 0;
  for (const pod of pods.values()) {
    if (pod.daemonSetUid === daemonSetUid && accepts(pod)) count += 1;
  }
  return count;
}
