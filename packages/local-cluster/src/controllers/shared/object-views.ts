/**
 * The fields of pods, nodes and leases that controllers and the scheduler read, as types over stored objects.
 *
 * Stored objects have passed the API server's decoding and validation, so a cast to these views is sound; a view names
 * only what is read. Nothing here writes.
 */
import type { PodSpec, Taint, TaintEffect } from '@rollcall/base/objects.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';

/** A condition of a pod, a node or a namespace. */
export interface Condition extends JsonObject {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
}

/** A node's spec and status. */
export interface NodeView {
  readonly metadata: ApiObject['metadata'];
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly TimedTaint[] };
  readonly status: {
    readonly conditions?: readonly NodeCondition[];
    readonly allocatable?: Readonly<Record<string, string>>;
  };
}

/** A taint with the time it was put on. */
export interface TimedTaint extends Taint, JsonObject {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
  readonly timeAdded?: string;
}

/** A node's condition. */
export interface NodeCondition extends Condition {
  readonly lastHeartbeatTime?: string | null;
}

/** A pod's spec and status. */
export interface PodView {
  readonly metadata: ApiObject['metadata'];
  readonly spec: PodSpec & { readonly schedulerName?: string; readonly priority?: number };
  readonly status: {
    readonly phase?: string;
    readonly reason?: string;
    readonly nominatedNodeName?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** A node as its view; absent parts are empty. */
export function viewNode(object: ApiObject): NodeView {
  return {
    metadata: object.metadata,
    spec: partOf<NodeView['spec']>(object['spec']),
    status: partOf<NodeView['status']>(object['status']),
  };
}

/** A pod as its view; absent parts are empty. */
export function viewPod(object: ApiObject): PodView {
  return {
    metadata: object.metadata,
    spec: partOf<PodView['spec']>(object['spec']),
    status: partOf<PodView['status']>(object['status']),
  };
}

/** spec.nodeName of a pod; undefined while it is unbound. */
export function nodeNameOf(pod: ApiObject): string | undefined {
  const name = partOf<PodSpec>(pod['spec']).nodeName;
  return name === '' ? undefined : name;
}

/** True for a pod that is Succeeded or Failed. */
export function isTerminal(pod: ApiObject): boolean {
  const { phase } = partOf<PodView['status']>(pod['status']);
  return phase === 'Succeeded' || phase === 'Failed';
}

/** True for a namespace that takes new objects. */
export function isNamespaceActive(namespace: ApiObject): boolean {
  const { phase } = partOf<{ readonly phase?: string }>(namespace['status']);
  return phase !== 'Terminating' && namespace.metadata.deletionTimestamp === undefined;
}

/** The condition of a type. */
export function conditionOf<Kind extends Condition>(
  conditions: readonly Kind[] | undefined,
  type: string,
): Kind | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** `namespace/name`, or the name alone. */
export function keyOf(object: ApiObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function partOf<Part>(value: Json | undefined): Part {
  return (value ?? {}) as Part;
}
