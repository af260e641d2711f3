/**
 * S13 from outside: no request to create a pod bears the name of one that was known, and that went within
 * the last ten minutes.
 *
 * Known is a pod that the view held, or whose create the state has as answered, before the sender read
 * either: what nobody was told, nobody can avoid. The view holds what META covers: a slice is written before META
 * (protocol 20), and until then its message is not applied, as if it still lay in the queue. A request under a name that
 * is borne at the moment is refused, and harms nobody. Knows stored items and commits only, nothing of tombstones.
 */
import type { CreatePodEffect } from '../../../src/core/model/effects.ts';
import { compareStamps, stampOf, type Stamp } from '../../../src/core/model/position.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';
import type { ClusterMeta, Slice } from '../../../src/core/model/view-items.ts';
import type { SliceRef } from '../../../src/ports/stores/view-store.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';

/** How long a name is not used again (docs/promise.md). */
const UNUSED_MS = 600_000;

interface Untold {
  readonly stamp: Stamp;
  readonly name: string;
  readonly uid: string;
}

/** Watches the names of pods of one world. */
export class NameAudit {
  readonly #report: (text: string) => void;
  /** Pods by name: since when each is known, by UID. */
  readonly #known = new Map<string, Map<string, number>>();
  /** Pods that the view is about to tell of, by cluster. */
  readonly #untold = new Map<string, readonly Untold[]>();
  /** When a pod went, by UID; of those that are there none. */
  readonly #goneAtMs = new Map<string, number>();

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** A slice was stored; its pods are told with the META that covers it. */
  noteSlice({ clusterUid }: SliceRef, { stamp, objects }: Slice): void {
    const untold = objects.flatMap(({ object }) =>
      object.kind === 'Pod' ? [{ stamp, name: object.name, uid: object.uid }] : [],
    );
    this.#untold.set(clusterUid, [...(this.#untold.get(clusterUid) ?? []), ...untold]);
  }

  /** A META was stored. */
  noteMeta(meta: ClusterMeta, nowMs: number): void {
    const covered = stampOf(meta);
    const left: Untold[] = [];
    for (const pod of this.#untold.get(meta.clusterUid) ?? []) {
      if (compareStamps(pod.stamp, covered) > 0) left.push(pod);
      else this.#learn(pod.name, pod.uid, nowMs);
    }
    this.#untold.set(meta.clusterUid, left);
  }

  /** A state was stored. */
  noteState({ intents }: DaemonSetState, nowMs: number): void {
    for (const intent of intents) {
      if (intent.kind !== 'create' || intent.answer === undefined) continue;
      this.#learn(intent.name, intent.answer.uid, nowMs);
    }
  }

  /** A pod was made, changed or removed. */
  noteCommit({ type, object }: Commit, nowMs: number): void {
    const { uid } = object.metadata;
    if (type === 'deleted') this.#goneAtMs.set(uid, nowMs);
    else this.#goneAtMs.delete(uid);
  }

  /** An etcd was restored: some pods are gone at once, others are back. */
  noteRestore(api: SimulatedApiServer, nowMs: number): void {
    const living = new Set(api.list('pods').map(({ metadata }) => metadata.uid));
    const known = [...this.#known.values()].flatMap((uids) => [...uids.keys()]);
    const untold = [...this.#untold.values()].flatMap((pods) => pods.map(({ uid }) => uid));
    for (const uid of [...known, ...untold]) {
      if (living.has(uid)) this.#goneAtMs.delete(uid);
      else if (!this.#goneAtMs.has(uid)) this.#goneAtMs.set(uid, nowMs);
    }
  }

  /** A table was lost, and what was known with it. */
  forget(): void {
    this.#known.clear();
    this.#untold.clear();
  }

  /** A request is about to be sent by someone who read view and state at `readAtMs`. */
  check(
    { name, namespace }: CreatePodEffect,
    at: {
      readonly api: SimulatedApiServer;
      readonly readAtMs: number | undefined;
      readonly nowMs: number;
    },
  ): void {
    const { api, readAtMs, nowMs } = at;
    if (readAtMs === undefined || api.find('pods', name, namespace) !== undefined) return;
    for (const [uid, knownAtMs] of this.#known.get(name) ?? []) {
      const goneAtMs = this.#goneAtMs.get(uid);
      if (goneAtMs === undefined || nowMs - goneAtMs >= UNUSED_MS || knownAtMs >= readAtMs)
        continue;
      this.#report(`S13: ${name} again, ${nowMs - goneAtMs} ms after ${uid} went`);
    }
  }

  #learn(name: string, uid: string, nowMs: number): void {
    const uids = this.#known.get(name) ?? new Map<string, number>();
    this.#known.set(name, uids);
    if (!uids.has(uid)) uids.set(uid, nowMs);
  }
}
