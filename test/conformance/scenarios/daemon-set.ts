/**
 * Small DaemonSets for scenarios.
 */
import type { KubernetesObject } from '../control-plane/api.ts';

export interface TestDaemonSet {
  readonly name: string;
  readonly namespace?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly podLabels?: Readonly<Record<string, string>>;
  readonly podAnnotations?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly unknown[];
  readonly finalizers?: readonly string[];
  readonly minReadySeconds?: number;
  readonly updateStrategy?: unknown;
  readonly image?: string;
}

/** Builds one; its selector is `app: <name>`. */
export function testDaemonSet(options: TestDaemonSet): KubernetesObject {
  const labels = { app: options.name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: options.name, namespace: options.namespace ?? 'default', labels },
    spec: {
      ...(options.minReadySeconds === undefined
        ? {}
        : { minReadySeconds: options.minReadySeconds }),
      ...(options.updateStrategy === undefined ? {} : { updateStrategy: options.updateStrategy }),
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels: { ...labels, ...options.podLabels },
          ...(options.podAnnotations === undefined ? {} : { annotations: options.podAnnotations }),
          ...(options.finalizers === undefined ? {} : { finalizers: options.finalizers }),
        },
        spec: {
          ...(options.nodeSelector === undefined ? {} : { nodeSelector: options.nodeSelector }),
          ...(options.tolerations === undefined ? {} : { tolerations: options.tolerations }),
          containers: [{ name: 'agent', image: options.image ?? 'registry.example/agent:1' }],
        },
      },
    },
  };
}

/** Path of the collection of DaemonSets in a namespace, or of one by name. */
export function daemonSetPath(options: {
  readonly namespace?: string;
  readonly name?: string;
}): string {
  const collection = `/apis/apps/v1/namespaces/${options.namespace ?? 'default'}/daemonsets`;
  return options.name === undefined ? collection : `${collection}/${options.name}`;
}

/** Path of a pod. */
export function podPath(pod: { readonly namespace: string; readonly name: string }): string {
  return `/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`;
}
