/**
 * Pods that found no node: which of them does a change of a node wake, and when?
 *
 * Only pods that the changed node could take now are woken (kube-scheduler's queueing hints come to the same), no earlier
 * than their back-off of 1 s, doubling to 10 s; without any change a pod is tried again after five minutes. Pods pinned
 * to nodes are filed under those, so that a change of one node among a thousand does not touch a thousand daemon pods.
 */
import { PODS_BACKOFF_INITIAL_MS, PODS_BACKOFF_MAX_MS } from './constants.ts';
import { findFailure } from './filters/find-failure.ts';
import type { NodeState } from './state/node-state.ts';
import type { SchedulingPod } from './state/scheduling-pod.ts';

interface WaitingPod {
  readonly pod: SchedulingPod;
  readonly readyAtMs: number;
}

/** A pod to be tried again. */
export interface DuePod {
  readonly key: string;
  readonly delayMs: number;
}

/** The pods that wait. */
export class WaitingPods {
  readonly #waiting = new Map<string, WaitingPod>();
  readonly #attempts = new Map<string, number>();
  readonly #pinnedByNode = new Map<string, Set<string>>();
  readonly #unpinned = new Set<string>();

  /** Notes one more failure of a pod. */
  add(pod: SchedulingPod, nowMs: number): void {
    const { key, pinnedTo } = pod;
    const attempts = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempts);
    const backoffMs = Math.min(PODS_BACKOFF_INITIAL_MS * 2 ** (attempts - 1), PODS_BACKOFF_MAX_MS);
    this.#forgetPlaces(key);
    this.#waiting.set(key, { pod, readyAtMs: nowMs + backoffMs });
    if (pinnedTo === undefined) this.#unpinned.add(key);
    for (const nodeName of pinnedTo ?? []) {
      const keys = this.#pinnedByNode.get(nodeName) ?? new Set<string>();
      keys.add(key);
      this.#pinnedByNode.set(nodeName, keys);
    }
  }

  /** The pod is bound or gone. */
  forget(key: string): void {
    this.#forgetPlaces(key);
    this.#waiting.delete(key);
    this.#attempts.delete(key);
  }

  /** The pods that a node in this state could take. */
  dueFor(node: NodeState, nowMs: number): readonly DuePod[] {
    const due: DuePod[] = [];
    for (const keys of [this.#pinnedByNode.get(node.projection.name) ?? [], this.#unpinned]) {
      for (const key of keys) {
        const waiting = this.#waiting.get(key);
        if (waiting === undefined || findFailure(waiting.pod, node) !== undefined) continue;
        due.push({ key, delayMs: Math.max(0, waiting.readyAtMs - nowMs) });
      }
    }
    return due;
  }

  #forgetPlaces(key: string): void {
    this.#unpinned.delete(key);
    for (const nodeName of this.#waiting.get(key)?.pod.pinnedTo ?? []) {
      const keys = this.#pinnedByNode.get(nodeName);
      keys?.delete(key);
      if (keys?.size === 0) this.#pinnedByNode.delete(nodeName);
    }
  }
}
