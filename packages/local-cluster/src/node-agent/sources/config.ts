/**
 * Merges the sources of pods into one channel of updates (spec node-agent 1, 2): each source tells what it holds, the
 * channel tells the sync loop what that changes, as ADD, UPDATE, REMOVE, RECONCILE or DELETE.
 *
 * DELETE is a graceful deletion that has begun; RECONCILE means that only the status differs. Changes of one turn come as
 * one update per kind, so that additions can be sorted. Order of delivery: REMOVE, ADD, UPDATE, DELETE, RECONCILE.
 */
import { isEqualJson } from '../shared/equal-json.ts';
import { uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';

/** Where pods come from. */
export type PodSource = 'api' | 'file';

/** What an update asks of the sync loop. */
export type PodOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'RECONCILE' | 'DELETE';

/** Pods of one source for which the same is to be done. */
export interface PodUpdate {
  readonly operation: PodOperation;
  readonly source: PodSource;
  readonly pods: readonly PodObject[];
}

/** The channel. */
export interface PodConfig {
  /** The source holds this pod now. */
  readonly put: (source: PodSource, pod: PodObject) => void;
  /** The source holds this pod no longer. */
  readonly drop: (source: PodSource, podUid: string) => void;
}

const DELIVERY_ORDER: readonly PodOperation[] = ['REMOVE', 'ADD', 'UPDATE', 'DELETE', 'RECONCILE'];

type Pending = Map<string, { readonly operation: PodOperation; readonly pod: PodObject }>;

/** Makes the channel; `deliver` is called from a later microtask. */
export function createPodConfig(deliver: (update: PodUpdate) => void): PodConfig {
  const held: Record<PodSource, Map<string, PodObject>> = { api: new Map(), file: new Map() };
  const pending: Record<PodSource, Pending> = { api: new Map(), file: new Map() };
  let isFlushing = false;

  const flush = (): void => {
    isFlushing = false;
    for (const source of ['file', 'api'] as const) {
      const batch = [...pending[source].values()];
      pending[source].clear();
      for (const operation of DELIVERY_ORDER) {
        const pods = batch.filter((each) => each.operation === operation).map(({ pod }) => pod);
        if (pods.length > 0) deliver({ operation, source, pods });
      }
    }
  };
  const note = (source: PodSource, operation: PodOperation, pod: PodObject): void => {
    const uid = uidOf(pod);
    const waiting = pending[source].get(uid)?.operation;
    const combined = waiting === undefined ? operation : combine(waiting, operation);
    if (combined === undefined) pending[source].delete(uid);
    else pending[source].set(uid, { operation: combined, pod });
    if (isFlushing) return;
    isFlushing = true;
    queueMicrotask(flush);
  };

  return {
    put: (source, pod) => {
      const known = held[source].get(uidOf(pod));
      held[source].set(uidOf(pod), pod);
      const operation = known === undefined ? 'ADD' : operationOf(known, pod);
      if (operation !== undefined) note(source, operation, pod);
    },
    drop: (source, podUid) => {
      const known = held[source].get(podUid);
      if (known === undefined) return;
      held[source].delete(podUid);
      note(source, 'REMOVE', known);
    },
  };
}

/** Two changes of one pod in one turn. Undefined: they cancel out. */
function combine(earlier: PodOperation, later: PodOperation): PodOperation | undefined {
  if (earlier === 'ADD') return later === 'REMOVE' ? undefined : 'ADD';
  if (earlier === 'REMOVE') return later === 'ADD' ? 'UPDATE' : later;
  return later === 'RECONCILE' ? earlier : later;
}

function operationOf(before: PodObject, after: PodObject): PodOperation | undefined {
  const old = before.metadata;
  const { metadata } = after;
  const isSame =
    old.deletionTimestamp === metadata.deletionTimestamp &&
    old.deletionGracePeriodSeconds === metadata.deletionGracePeriodSeconds &&
    isEqualJson(old.labels, metadata.labels) &&
    isEqualJson(old.annotations, metadata.annotations) &&
    isEqualJson(before.spec, after.spec);
  if (!isSame) return metadata.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE';
  return isEqualJson(before.status, after.status) ? undefined : 'RECONCILE';
}
