/**
 * Pods that found no node: which of them does a change wake, and when?
 *
 * A pod comes back no earlier than its back-off (1 s, doubling to 10 s, as kube-scheduler's) and no later than five
 * minutes after it failed. Pods pinned to a node wait for that node only, so a change of one node among a thousand does
 * not try a thousand daemon pods. Differs from upstream: what changed is not compared with what was missing, except that
 * a pod's end wakes only pods that wanted its room.
 */
import { PODS_BACKOFF_INITIAL_MS, PODS_BACKOFF_MAX_MS, PODS_FLUSH_MS } from './constants.ts';

/** A pod that waits. */
interface WaitingPod {
  readonly pinnedTo: ReadonlySet<string> | undefined;
  readonly waitsForRoom: boolean;
  readonly readyAtMs: number;
}

/** When a pod is due again. */
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

  /** Notes a failure; the delay is the longest, if nothing happens. */
  add(
    key: string,
    of: {
      readonly pinnedTo: ReadonlySet<string> | undefined;
      readonly waitsForRoom: boolean;
      readonly nowMs: number;
    },
  ): DuePod {
    const attempts = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempts);
    const backoffMs = Math.min(PODS_BACKOFF_INITIAL_MS * 2 ** (attempts - 1), PODS_BACKOFF_MAX_MS);
    this.#forgetPlaces(key);
    this.#waiting.set(key, { ...of, readyAtMs: of.nowMs + backoffMs });
    if (of.pinnedTo === undefined) this.#unpinned.add(key);
    for (const nodeName of of.pinnedTo ?? []) {
      const keys = this.#pinnedByNode.get(nodeName) ?? new Set<string>();
      keys.add(key);
      this.#pinnedByNode.set(nodeName, keys);
    }
    return { key, delayMs: PODS_FLUSH_MS };
  }

  /** The pod is bound, gone or no longer pending. */
  forget(key: string): void {
    this.#forgetPlaces(key);
    this.#waiting.delete(key);
    this.#attempts.delete(key);
  }

  /** What a change of a node wakes. */
  onNode(nodeName: string, nowMs: number): readonly DuePod[] {
    return this.#due(nodeName, { nowMs, isRoomOnly: false });
  }

  /** What the end of a pod on a node wakes. */
  onRoom(nodeName: string, nowMs: number): readonly DuePod[] {
    return this.#due(nodeName, { nowMs, isRoomOnly: true });
  }

  #due(
    nodeName: string,
    by: { readonly nowMs: number; readonly isRoomOnly: boolean },
  ): readonly DuePod[] {
    const due: DuePod[] = [];
    for (const keys of [this.#pinnedByNode.get(nodeName) ?? [], this.#unpinned]) {
      for (const key of keys) {
        const pod = this.#waiting.get(key);
        if (pod === undefined || (by.isRoomOnly && !pod.waitsForRoom)) continue;
        due.push({ key, delayMs: Math.max(0, pod.readyAtMs - by.nowMs) });
      }
    }
    return due;
  }

  #forgetPlaces(key: string): void {
    this.#unpinned.delete(key);
    for (const nodeName of this.#waiting.get(key)?.pinnedTo ?? []) {
      const keys = this.#pinnedByNode.get(nodeName);
      keys?.delete(key);
      if (keys?.size === 0) this.#pinnedByNode.delete(nodeName);
    }
  }
}
