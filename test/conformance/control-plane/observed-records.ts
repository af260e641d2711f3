/**
 * What the observer keeps of each object: only what tests ask about.
 *
 * It is a reading of its own, on purpose not shared with the product's projection. Pure.
 */
import type { KubernetesObject } from './api.ts';

/** A pod as last seen. */
export interface PodRecord {
  readonly kind: 'Pod';
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Where it is bound, else the node that its required affinity names. */
  readonly node: string | undefined;
  readonly isBound: boolean;
  readonly phase: string;
  readonly isTerminal: boolean;
  readonly isReady: boolean;
  /** When it became ready, while it is: to the second, as the API server has it. */
  readonly readySinceMs: number | undefined;
  readonly isDeleting: boolean;
  /** UID of the DaemonSet that controls it. */
  readonly daemonSetUid: string | undefined;
  readonly revisionHash: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** A node as last seen. */
export interface NodeRecord {
  readonly kind: 'Node';
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly isReady: boolean;
  readonly isCordoned: boolean;
  readonly taintKeys: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** A DaemonSet as last seen. */
export interface DaemonSetRecord {
  readonly kind: 'DaemonSet';
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly isDeleting: boolean;
  /** Labels that its pods get. */
  readonly templateLabels: Readonly<Record<string, string>>;
  /** The numbers of its status, by name; absent ones are absent. */
  readonly status: Readonly<Record<string, number>>;
}

/** Any of the observed kinds. */
export type ObservedRecord = PodRecord | NodeRecord | DaemonSetRecord;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string | null;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms?: readonly {
          readonly matchFields?: readonly {
            readonly key: string;
            readonly operator: string;
            readonly values?: readonly string[];
          }[];
        }[];
      };
    };
  };
}

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly Condition[];
}

interface DaemonSetSpec {
  readonly template?: {
    readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  };
}

interface NodeSpec {
  readonly unschedulable?: boolean;
  readonly taints?: readonly { readonly key: string }[];
}

/** Reads a pod. */
export function readPod(object: KubernetesObject): PodRecord {
  const { metadata } = object;
  const spec = (object['spec'] ?? {}) as PodSpec;
  const status = (object['status'] ?? {}) as PodStatus;
  const phase = status.phase ?? 'Pending';
  const owner = metadata.ownerReferences?.find(
    (reference) => reference.controller === true && reference.kind === 'DaemonSet',
  );
  return {
    kind: 'Pod',
    ...identityOf(object),
    namespace: metadata.namespace ?? '',
    node: spec.nodeName ?? nodeInAffinity(spec),
    isBound: spec.nodeName !== undefined,
    phase,
    isTerminal: phase === 'Succeeded' || phase === 'Failed',
    isReady: isReady(status.conditions),
    readySinceMs: readySinceMs(status.conditions),
    isDeleting: metadata.deletionTimestamp !== undefined,
    daemonSetUid: owner?.uid,
    revisionHash: metadata.labels?.['controller-revision-hash'],
    labels: metadata.labels ?? {},
  };
}

/** Reads a node. */
export function readNode(object: KubernetesObject): NodeRecord {
  const spec = (object['spec'] ?? {}) as NodeSpec;
  const status = (object['status'] ?? {}) as PodStatus;
  return {
    kind: 'Node',
    ...identityOf(object),
    isReady: isReady(status.conditions),
    isCordoned: spec.unschedulable ?? false,
    taintKeys: (spec.taints ?? []).map((taint) => taint.key),
    labels: object.metadata.labels ?? {},
  };
}

/** Reads a DaemonSet. */
export function readDaemonSet(object: KubernetesObject): DaemonSetRecord {
  const status = (object['status'] ?? {}) as Readonly<Record<string, unknown>>;
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(status)) {
    if (typeof value === 'number') numbers[name] = value;
  }
  return {
    kind: 'DaemonSet',
    ...identityOf(object),
    namespace: object.metadata.namespace ?? '',
    generation: object.metadata.generation ?? 0,
    observedGeneration: numbers['observedGeneration'] ?? 0,
    isDeleting: object.metadata.deletionTimestamp !== undefined,
    templateLabels: (object['spec'] as DaemonSetSpec | undefined)?.template?.metadata?.labels ?? {},
    status: numbers,
  };
}

function identityOf({ metadata }: KubernetesObject): {
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
} {
  return {
    uid: metadata.uid ?? '',
    name: metadata.name,
    resourceVersion: metadata.resourceVersion ?? '',
  };
}

function isReady(conditions: readonly Condition[] | undefined): boolean {
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

function readySinceMs(conditions: readonly Condition[] | undefined): number | undefined {
  const ready = conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
  const since = ready?.lastTransitionTime;
  return since === undefined || since === null ? undefined : Date.parse(since);
}

function nodeInAffinity(spec: PodSpec): string | undefined {
  const required =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  for (const term of required ?? []) {
    for (const field of term.matchFields ?? []) {
      if (field.key === 'metadata.name' && field.operator === 'In') return field.values?.[0];
    }
  }
  return undefined;
}
