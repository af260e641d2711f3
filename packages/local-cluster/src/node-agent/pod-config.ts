/**
 * Where pods come from: those of the API that are bound to this node, by list and watch, become updates for the sync loop:
 * ADD, UPDATE, REMOVE, RECONCILE or DELETE.
 *
 * DELETE is a graceful deletion that has begun; RECONCILE means that only the status differs. Changes of one turn come as
 * one update per kind, in this order: REMOVE, ADD (by creation), UPDATE, DELETE, RECONCILE.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { LocalClient } from '../client/local-client.ts';
import { parseTime } from '../objects/timestamps.ts';
import { isEqualJson } from './shared/equal-json.ts';
import { podName, uidOf } from './shared/pod-object.ts';
import type { PodObject } from './shared/pod-object.ts';

/** What an update asks of the sync loop. */
export type PodOperation = 'ADD' | 'UPDATE' | 'REMOVE' | 'RECONCILE' | 'DELETE';

/** Pods for which the same is to be done. */
export interface PodUpdate {
  readonly operation: PodOperation;
  readonly pods: readonly PodObject[];
}

/** The channel. */
export interface PodConfig {
  /** The source holds this pod now. */
  readonly put: (pod: PodObject) => void;
  /** The source holds this pod no longer. */
  readonly drop: (podUid: string) => void;
}

const DELIVERY_ORDER: readonly PodOperation[] = ['REMOVE', 'ADD', 'UPDATE', 'DELETE', 'RECONCILE'];

/** Feeds the sync loop from the API until stopped. */
export function startPodSource(options: {
  readonly client: LocalClient;
  readonly nodeName: string;
  readonly log: Log;
  readonly deliver: (update: PodUpdate) => void;
}): Cancel {
  const { client, nodeName, log } = options;
  const config = createPodConfig(options.deliver);
  const selection = { resource: 'pods', fieldSelector: `spec.nodeName=${nodeName}` } as const;
  const observation = client.observe(selection, ({ type, object, previous }) => {
    const pod = object as PodObject;
    log.debug('receive', { source: 'api', type, pod: podName(pod) });
    // A pod of the same name may have come in between.
    if (previous !== undefined && uidOf(previous) !== uidOf(pod)) config.drop(uidOf(previous));
    if (type === 'DELETED') config.drop(uidOf(pod));
    else config.put(pod);
  });
  return () => {
    observation.stop();
  };
}

/** Makes the channel; `deliver` is called from a later microtask. */
export function createPodConfig(deliver: (update: PodUpdate) => void): PodConfig {
  const held = new Map<string, PodObject>();
  const pending = new Map<string, { readonly operation: PodOperation; readonly pod: PodObject }>();
  let isFlushing = false;

  const flush = (): void => {
    isFlushing = false;
    const batch = [...pending.values()];
    pending.clear();
    for (const operation of DELIVERY_ORDER) {
      const pods = batch.filter((each) => each.operation === operation).map(({ pod }) => pod);
      if (operation === 'ADD') pods.sort((left, right) => createdAt(left) - createdAt(right));
      if (pods.length > 0) deliver({ operation, pods });
    }
  };
  const note = (operation: PodOperation, pod: PodObject): void => {
    const uid = uidOf(pod);
    const waiting = pending.get(uid)?.operation;
    const combined = waiting === undefined ? operation : combine(waiting, operation);
    if (combined === undefined) pending.delete(uid);
    else pending.set(uid, { operation: combined, pod });
    if (isFlushing) return;
    isFlushing = true;
    queueMicrotask(flush);
  };
  return {
    put: (pod) => {
      const known = held.get(uidOf(pod));
      held.set(uidOf(pod), pod);
      const operation = known === undefined ? 'ADD' : operationOf(known, pod);
      if (operation !== undefined) note(operation, pod);
    },
    drop: (podUid) => {
      const known = held.get(podUid);
      held.delete(podUid);
      if (known !== undefined) note('REMOVE', known);
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

function createdAt(pod: PodObject): number {
  return parseTime(pod.metadata.creationTimestamp) ?? 0;
}
