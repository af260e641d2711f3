/** Raw nodes and DaemonSets as users of a simulated cluster write them. */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Taint, Toleration } from '@rollcall/base/objects.ts';

/** A raw object before the API server has seen it. */
export type NewObject = {
  readonly metadata: { readonly name: string } & Record<string, unknown>;
} & Record<string, unknown>;

export interface RawNodeOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly isReady?: boolean;
}

/** A node. */
export function rawNode(name: string, options: RawNodeOptions = {}): NewObject {
  const { labels = {}, taints = [], isReady = true } = options;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { taints },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}

/** What of a DaemonSet a test varies. */
export interface RawDaemonSetOptions {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: JsonObject;
  /** `ns` unless told. */
  readonly namespace?: string;
}

/** A DaemonSet `ns/<name>` that selects app=<name>. */
export function rawDaemonSet(name: string, options: RawDaemonSetOptions = {}): NewObject {
  const { nodeSelector = {}, tolerations = [], finalizers, annotations, spec = {} } = options;
  const { namespace = 'ns', labels } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      ...{ name, namespace },
      ...(annotations === undefined ? {} : { annotations }),
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, ...(finalizers === undefined ? {} : { finalizers }) },
        spec: { containers: [{ name: 'main', image: `${name}:1` }], nodeSelector, tolerations },
      },
      updateStrategy: { type: 'OnDelete' },
      ...spec,
    },
  };
}

/** What of a pod that Rollcall did not make a test varies. */
export interface RawPodOptions {
  readonly owner?: { readonly kind: string; readonly uid: string };
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
  readonly phase?: string;
}

/** A pod on a node with the labels of a DaemonSet's pods, without an owner unless told. */
export function rawPod(
  key: { readonly name: string; readonly app: string; readonly node: string },
  options: RawPodOptions = {},
): NewObject {
  const { owner, phase = 'Pending', ...marks } = options;
  const reference = { apiVersion: 'apps/v1', name: 'owner', controller: true, ...owner };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: key.name,
      namespace: 'ns',
      labels: { app: key.app },
      ...(owner === undefined ? {} : { ownerReferences: [reference] }),
      ...marks,
    },
    spec: { nodeName: key.node, containers: [{ name: 'main', image: `${key.app}:1` }] },
    status: { phase },
  };
}
