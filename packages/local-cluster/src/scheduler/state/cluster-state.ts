/**
 * All nodes with their usage, kept from the watches and from the scheduler's own bindings.
 *
 * A binding counts from the moment it is decided (`assume`), so that the next pod sees it; the watch's confirmation
 * changes nothing, and `release` takes it back when the API server refuses. Terminal pods take nothing.
 */
import { isTerminal, nodeNameOf } from '../../controllers/shared/object-views.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { NodeState } from './node-state.ts';
import { TrackedNode } from './node-state.ts';
import { footprintOf } from './scheduling-pod.ts';
import type { PodFootprint } from './scheduling-pod.ts';

/** The state. */
export class ClusterState {
  readonly #nodes = new Map<string, TrackedNode>();
  #nodeCount = 0;

  /** Nodes that exist. */
  get nodeCount(): number {
    return this.#nodeCount;
  }

  /** The node of a name, if it exists. */
  node(name: string): NodeState | undefined {
    const node = this.#nodes.get(name);
    return node === undefined ? undefined : known(node);
  }

  /** All nodes that exist. */
  *nodes(): Iterable<NodeState> {
    for (const node of this.#nodes.values()) {
      const state = known(node);
      if (state !== undefined) yield state;
    }
  }

  /** A node is there, or has changed. */
  setNode(node: ApiObject): void {
    const tracked = this.#track(node.metadata.name);
    if (tracked.projection === undefined) this.#nodeCount += 1;
    tracked.setNode(node);
  }

  /** A node is gone; what is bound to it stays counted in case it comes back. */
  removeNode(name: string): void {
    const tracked = this.#nodes.get(name);
    if (tracked?.projection === undefined) return;
    this.#nodeCount -= 1;
    tracked.setNode(undefined);
    this.#sweep(name, tracked);
  }

  /** Counts a bound pod that takes something, forgets one that is terminal; false if nothing changed on the node. */
  setPod(pod: ApiObject): boolean {
    const nodeName = nodeNameOf(pod);
    if (nodeName === undefined) return false;
    if (isTerminal(pod)) return this.release(nodeName, pod.metadata.uid);
    this.assume(nodeName, footprintOf(pod));
    return true;
  }

  /** Counts a pod on a node; once, however often it is told. */
  assume(nodeName: string, pod: PodFootprint): void {
    this.#track(nodeName).add(pod);
  }

  /** Stops counting a pod; false when it was not counted. */
  release(nodeName: string, podUid: string): boolean {
    const tracked = this.#nodes.get(nodeName);
    if (tracked?.remove(podUid) !== true) return false;
    this.#sweep(nodeName, tracked);
    return true;
  }

  #track(name: string): TrackedNode {
    let tracked = this.#nodes.get(name);
    if (tracked === undefined) {
      tracked = new TrackedNode();
      this.#nodes.set(name, tracked);
    }
    return tracked;
  }

  #sweep(name: string, tracked: TrackedNode): void {
    if (tracked.isEmpty) this.#nodes.delete(name);
  }
}

function known(node: TrackedNode): NodeState | undefined {
  // The check makes the cast true: the rest of TrackedNode is NodeState.
  return node.projection === undefined ? undefined : (node as NodeState);
}
