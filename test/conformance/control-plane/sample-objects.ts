/**
 * Small valid objects for tests of the test control plane itself.
 *
 * Suites of the product bring their own.
 */
import type { DaemonSetRecord } from './observed-records.ts';

/** What distinguishes one sample from another. */
export interface SampleOptions {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly image?: string;
}

/** Where samples live. */
export const SAMPLE_NAMESPACE_PATH = '/api/v1/namespaces/default';

/** Where DaemonSets and Deployments of the samples' namespace live. */
export const SAMPLE_APPS_PATH = '/apis/apps/v1/namespaces/default';

/** A pod that is bound to a node from the start: only its fake kubelet acts on it. */
export function boundPod(node: string, options: SampleOptions): unknown {
  const { name, labels, annotations } = options;
  return {
    metadata: { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
    spec: { ...podSpec(options), nodeName: node },
  };
}

/** A pod that looks as if a DaemonSet had made it. */
export function daemonPod(node: string, name: string, owner: DaemonSetRecord): unknown {
  const ownerReference = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: owner.name,
    uid: owner.uid,
    controller: true,
  };
  return {
    metadata: { name, ownerReferences: [ownerReference], labels: { app: owner.name } },
    spec: { ...podSpec({ name }), nodeName: node },
  };
}

/** A DaemonSet for every node that has no taint of its own. */
export function sampleDaemonSet(options: SampleOptions): unknown {
  return { metadata: { name: options.name }, spec: workloadSpec(options) };
}

/** A Deployment of one pod. */
export function sampleDeployment(options: SampleOptions): unknown {
  return { metadata: { name: options.name }, spec: { ...workloadSpec(options), replicas: 1 } };
}

function workloadSpec(options: SampleOptions): object {
  const labels = { app: options.name, ...options.labels };
  const annotations = options.annotations ?? {};
  return {
    selector: { matchLabels: { app: options.name } },
    template: { metadata: { labels, annotations }, spec: podSpec(options) },
  };
}

function podSpec(options: SampleOptions): object {
  const image = options.image ?? 'registry.example/agent:1';
  return { containers: [{ name: 'agent', image }], terminationGracePeriodSeconds: 30 };
}
