/**
 * All nodes with what the pods bound to them take, kept from the watches and from the scheduler's own bindings.
 *
 * A binding counts from the moment it is decided (`assume`), so that the next pod sees it; `release` takes it back. Pods may
 * be known of a node before the node is, and after it is gone. Usage is kept by addition, so that a thousand nodes cost
 * nothing per pod.
 */
import type { AffinityNode } from '@rollcall/base/node-affinity.ts';
import type { Taint } from '@rollcall/base/objects.ts';
import { isTerminal, keyOf, nodeNameOf, viewNode } from '../controllers/shared/object-views.ts';
import type { PodObject } from '../node-agent/shared/pod-object.ts';
import { hostPorts, nanosOf, podRequests } from '../node-agent/shared/pod-resources.ts';
import type { Amounts, HostPort } from '../node-agent/shared/pod-resources.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** What a pod takes on a node. */
export interface PodFootprint {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly requests: Amounts;
  readonly ports: readonly HostPort[];
}

/** What a pod takes, bound or not. */
export function footprintOf(object: ApiObject): PodFootprint {
  const { spec } = object as PodObject;
  const { uid } = object.metadata;
  return { key: keyOf(object), uid, requests: podRequests(spec), ports: hostPorts(spec) };
}

interface NodeFacts extends AffinityNode {
  readonly taints: readonly Taint[];
  readonly isCordoned: boolean;
  /** In billionths of the unit, `pods` included. */
  readonly allocatable: Amounts;
}

/** A node that exists, and what is taken of it. */
export interface NodeState extends NodeFacts {
  readonly requested: Amounts;
  readonly ports: readonly HostPort[];
  readonly podCount: number;
}

/** What the pods of one node take. */
class Usage {
  readonly pods = new Map<string, PodFootprint>();
  readonly requested = new Map<string, bigint>();

  /** Counts a pod, once however often it is told. */
  add(pod: PodFootprint): void {
    if (this.pods.has(pod.uid)) return;
    this.pods.set(pod.uid, pod);
    this.#count(pod, 1n);
  }

  /** False when it was not counted. */
  remove(uid: string): boolean {
    const pod = this.pods.get(uid);
    if (pod !== undefined) this.#count(pod, -1n);
    return this.pods.delete(uid);
  }

  ports(): readonly HostPort[] {
    return [...this.pods.values()].flatMap(({ ports }) => ports);
  }

  #count({ requests }: PodFootprint, sign: bigint): void {
    for (const [name, nanos] of requests) {
      this.requested.set(name, (this.requested.get(name) ?? 0n) + sign * nanos);
    }
  }
}

const UNUSED = new Usage();

/** The state. */
export class ClusterState {
  readonly #facts = new Map<string, NodeFacts>();
  readonly #usage = new Map<string, Usage>();

  /** Nodes that exist. */
  get nodeCount(): number {
    return this.#facts.size;
  }

  /** The node of a name, if it exists. */
  node(name: string): NodeState | undefined {
    const facts = this.#facts.get(name);
    if (facts === undefined) return undefined;
    const usage = this.#usage.get(name) ?? UNUSED;
    const { requested, pods } = usage;
    return { ...facts, requested, ports: usage.ports(), podCount: pods.size };
  }

  /** All nodes that exist. */
  *nodes(): Iterable<NodeState> {
    for (const name of this.#facts.keys()) {
      const state = this.node(name);
      if (state !== undefined) yield state;
    }
  }

  /** A node is there, or has changed. */
  setNode(object: ApiObject): void {
    const { metadata, spec, status } = viewNode(object);
    const allocatable = Object.entries(status.allocatable ?? {});
    this.#facts.set(metadata.name, {
      name: metadata.name,
      labels: metadata.labels ?? {},
      taints: spec.taints ?? [],
      isCordoned: spec.unschedulable === true,
      allocatable: new Map(allocatable.map(([name, text]) => [name, nanosOf(text)])),
    });
  }

  /** A node is gone; what is bound to it stays counted in case it comes back. */
  removeNode(name: string): void {
    this.#facts.delete(name);
  }

  /** Counts a bound pod; one that has ended takes nothing. False when nothing was released. */
  setPod(pod: ApiObject): boolean {
    const nodeName = nodeNameOf(pod);
    if (nodeName === undefined) return false;
    if (isTerminal(pod)) return this.release(nodeName, pod.metadata.uid);
    this.assume(nodeName, footprintOf(pod));
    return false;
  }

  /** Counts a pod on a node. */
  assume(nodeName: string, pod: PodFootprint): void {
    const usage = this.#usage.get(nodeName) ?? new Usage();
    this.#usage.set(nodeName, usage);
    usage.add(pod);
  }

  /** Stops counting a pod; false when it was not counted. */
  release(nodeName: string, podUid: string): boolean {
    const usage = this.#usage.get(nodeName);
    const isReleased = usage?.remove(podUid) === true;
    if (usage?.pods.size === 0) this.#usage.delete(nodeName);
    return isReleased;
  }
}
