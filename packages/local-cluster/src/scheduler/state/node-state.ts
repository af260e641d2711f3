/**
 * A node as the scheduler sees it: what it has, and what the pods bound to it take.
 *
 * Usage is kept by addition and subtraction, so that a thousand nodes cost nothing per pod. Pods may be known of a node
 * before the node is, and after it is gone.
 */
import type { Taint } from '@rollcall/base/objects.ts';
import type { AffinityNode } from '@rollcall/base/node-affinity.ts';
import { viewNode } from '../../controllers/shared/object-views.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { nanosOf } from '../../node-agent/shared/pod-resources.ts';
import type { Amounts, HostPort } from '../../node-agent/shared/pod-resources.ts';
import type { PodFootprint } from './scheduling-pod.ts';

/** What filters read of the Node object. */
export interface NodeProjection extends AffinityNode {
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
}

/** What filters read of a node. */
export interface NodeState {
  readonly projection: NodeProjection;
  /** In billionths of the unit, `pods` included. */
  readonly allocatable: Amounts;
  readonly requested: Amounts;
  readonly podCount: number;
  readonly ports: readonly HostPort[];
}

/** The mutable state of one node; `projection` is undefined while the node is not known. */
export class TrackedNode {
  readonly requested = new Map<string, bigint>();
  ports: readonly HostPort[] = [];
  allocatable: Amounts = new Map();
  projection: NodeProjection | undefined;
  readonly #pods = new Map<string, PodFootprint>();

  get podCount(): number {
    return this.#pods.size;
  }

  /** True when nothing is left to remember. */
  get isEmpty(): boolean {
    return this.projection === undefined && this.#pods.size === 0;
  }

  /** Takes a node's newest state, or its absence. */
  setNode(node: ApiObject | undefined): void {
    if (node === undefined) {
      this.projection = undefined;
      return;
    }
    this.projection = projectNode(node);
    const { allocatable = {} } = viewNode(node).status;
    this.allocatable = new Map(
      Object.entries(allocatable).map(([name, text]) => [name, nanosOf(text)]),
    );
  }

  /** Counts a pod, once per UID. */
  add(pod: PodFootprint): void {
    if (this.#pods.has(pod.uid)) return;
    this.#pods.set(pod.uid, pod);
    for (const [name, nanos] of pod.requests) {
      this.requested.set(name, (this.requested.get(name) ?? 0n) + nanos);
    }
    if (pod.ports.length > 0) this.ports = [...this.ports, ...pod.ports];
  }

  /** Stops counting a pod; false if it was not counted. */
  remove(uid: string): boolean {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return false;
    this.#pods.delete(uid);
    for (const [name, nanos] of pod.requests) {
      this.requested.set(name, (this.requested.get(name) ?? 0n) - nanos);
    }
    if (pod.ports.length > 0) this.ports = [...this.#pods.values()].flatMap(({ ports }) => ports);
    return true;
  }
}

function projectNode(node: ApiObject): NodeProjection {
  const { metadata, spec } = viewNode(node);
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    taints: spec.taints ?? [],
    unschedulable: spec.unschedulable ?? false,
  };
}
