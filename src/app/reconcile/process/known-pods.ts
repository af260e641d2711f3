/**
 * What a live list told this process of a DaemonSet's pods that does not change while they live: whose they are, and what they
 * were made of (ADR 0071).
 *
 * A watcher is trusted to say how its cluster is, not what may be deleted there (security.md): that a victim is ours and of another
 * revision comes from the API server, once for many pods. Never needed for correctness: a cold process reads each.
 * Keys begin with the cluster's UID (spec faults 31). Times are monotonic.
 */
import type { Uid } from '../../../core/model/identifiers.ts';
import type { PodMetadata } from '../../../ports/cluster/cluster-access.ts';

/** Labels may be changed after all: not by much, nor for long. */
const KNOWN_MS = 10 * 60_000;
const PODS_MAX = 40_000;

/** Of which cluster, and of which DaemonSet. */
export interface KnownPodsKey {
  readonly clusterUid: string;
  readonly uid: Uid;
}

interface Listed {
  readonly atMs: number;
  readonly pods: ReadonlyMap<Uid, PodMetadata>;
}

/** What a warm process knows of pods. */
export class KnownPods {
  readonly #lists = new Map<string, Listed>();

  /** A pod as it was listed; undefined: not in the last list, or that one is old. */
  find(key: KnownPodsKey, pod: Uid, monotonicMs: number): PodMetadata | undefined {
    const listed = this.#lists.get(textOf(key));
    return listed !== undefined && monotonicMs - listed.atMs < KNOWN_MS
      ? listed.pods.get(pod)
      : undefined;
  }

  /** Notes a list, in place of the one before; the oldest lists leave for it. */
  note(key: KnownPodsKey, pods: readonly PodMetadata[], monotonicMs: number): void {
    this.#lists.delete(textOf(key));
    if (pods.length === 0 || pods.length > PODS_MAX) return;
    const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
    this.#lists.set(textOf(key), { atMs: monotonicMs, pods: byUid });
    let held = 0;
    for (const [text, listed] of [...this.#lists].reverse()) {
      held += listed.pods.size;
      if (held > PODS_MAX) this.#lists.delete(text);
    }
  }
}

function textOf({ clusterUid, uid }: KnownPodsKey): string {
  return `${clusterUid}/${uid}`;
}
