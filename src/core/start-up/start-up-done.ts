/**
 * Whether a node's daemons serve, so that its start-up taint may go (ADR 0089, S19). In doubt it waits.
 *
 * A DaemonSet counts on a node where its pod belongs once the taint is gone. Of `all`, one that does not tolerate the taint
 * does not count: its pod comes only later. Of `labelled` it counts, and the node waits until a person repairs that.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';
import type { StartUp } from '../model/registration.ts';
import { decidePlacement, preparePlacement } from '../placement/placement.ts';
import type { PreparedPlacement } from '../placement/placement.ts';
import { isStartUpTaint, START_UP_LABEL } from './start-up-taint.ts';

/** A DaemonSet that nodes may wait for. */
export interface StartUpSet {
  readonly namespace: string;
  readonly name: string;
  /** Undefined: nothing is known of it, so each node waits for it. */
  readonly placing: PreparedPlacement | undefined;
  readonly counts: StartUp['counts'];
}

/** Its pods by the node that they are bound to. */
export type PodsByNode = ReadonlyMap<NodeName, readonly PodProjection[]>;

export type StartUpWaitCode =
  /** It has no pod there. */
  | 'no-pod'
  /** Its pod is not ready. */
  | 'not-ready'
  /** Its pod is older than the node, and may have served on a former one of that name. */
  | 'older-than-node'
  /** Its template does not tolerate the start-up taint, so that no pod comes. */
  | 'not-tolerated'
  /** Nothing can be told of it now. */
  | 'unknown';

/** One DaemonSet that a node waits for. */
export interface StartUpWait {
  readonly namespace: string;
  readonly name: string;
  readonly code: StartUpWaitCode;
}

/** The decision on one node; `waits` for nothing: no DaemonSet counts there, and the taint stays. */
export type StartUpDecision =
  /** With a serving pod of each that counts. */
  | { readonly kind: 'done'; readonly pods: readonly PodProjection[] }
  | { readonly kind: 'waits'; readonly waitsFor: readonly StartUpWait[] };

/** A DaemonSet as nodes may wait for it; undefined: it does not count. Null: there is one, and nothing is known of it. */
export function startUpSetOf(
  { namespace, name }: Pick<StartUpSet, 'namespace' | 'name'>,
  object: DaemonSetObject | null,
  { counts }: Pick<StartUp, 'counts'>,
): StartUpSet | undefined {
  if (object === null) return { namespace, name, placing: undefined, counts };
  const { labels = {}, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return undefined;
  if (counts === 'labelled' && labels[START_UP_LABEL] !== 'true') return undefined;
  return { namespace, name, placing: preparePlacement(object), counts };
}

/** The nodes that have the start-up taint. */
export function nodesStartingUp(
  nodes: readonly NodeProjection[],
  startUp: StartUp,
): readonly NodeProjection[] {
  return nodes.filter(
    ({ taints, isTerminating }) =>
      !isTerminating && taints.some((taint) => isStartUpTaint(taint, startUp)),
  );
}

/** True if a node waits for that DaemonSet. */
export function countsOn(
  { placing, counts }: StartUpSet,
  node: NodeProjection,
  startUp: StartUp,
): boolean {
  if (placing === undefined) return true;
  const taints = node.taints.filter((taint) => !isStartUpTaint(taint, startUp));
  if (decidePlacement(placing, { ...node, taints }).placement !== 'run') return false;
  return counts === 'labelled' || toleratesStart(placing, node);
}

function toleratesStart(placing: PreparedPlacement, node: NodeProjection): boolean {
  return decidePlacement(placing, node).placement === 'run';
}

/** Pods by node, for one DaemonSet. */
export function podsByNode(pods: readonly PodProjection[], uid: string): PodsByNode {
  const own = pods.filter(({ ownerUid, boundNode }) => ownerUid === uid && boundNode !== undefined);
  const byNode = new Map<NodeName, PodProjection[]>();
  for (const pod of own) {
    if (pod.boundNode === undefined) continue;
    const known = byNode.get(pod.boundNode);
    if (known === undefined) byNode.set(pod.boundNode, [pod]);
    else known.push(pod);
  }
  return byNode;
}

/** The pod of a DaemonSet that counts there, if it serves; else why the node waits for it. */
export function servingPod(
  { placing }: StartUpSet,
  node: NodeProjection,
  pods: PodsByNode | undefined,
): PodProjection | StartUpWaitCode {
  if (placing === undefined || pods === undefined) return 'unknown';
  const own = (pods.get(node.name) ?? []).filter(({ isTerminating }) => !isTerminating);
  const ready = own.filter(isServing);
  const serving = ready.find((pod) => isOfNode(pod, node));
  if (serving !== undefined) return serving;
  if (ready.length > 0) return 'older-than-node';
  if (own.length > 0) return 'not-ready';
  return toleratesStart(placing, node) ? 'no-pod' : 'not-tolerated';
}

/** True of a pod that serves now, wherever it is. */
export function isServing({ isReady, phase, isTerminating }: PodProjection): boolean {
  return isReady && phase === 'Running' && !isTerminating;
}

/**
 * A pod that is older than its node was bound to a former node of that name, and what it says of itself may be of there. Both times
 * are the API server's.
 */
function isOfNode({ createdAtMs }: PodProjection, node: NodeProjection): boolean {
  return node.createdAtMs !== undefined && createdAtMs >= node.createdAtMs;
}

/** Decides one node that has the start-up taint, by all DaemonSets that may count and their pods (undefined: not readable now). */
export function startUpDone(
  node: NodeProjection,
  sets: readonly { readonly set: StartUpSet; readonly pods: PodsByNode | undefined }[],
  startUp: StartUp,
): StartUpDecision {
  const counted = sets.filter(({ set }) => countsOn(set, node, startUp));
  const serving: PodProjection[] = [];
  const waitsFor: StartUpWait[] = [];
  for (const { set, pods } of counted) {
    const found = servingPod(set, node, pods);
    if (typeof found !== 'string') serving.push(found);
    else waitsFor.push({ namespace: set.namespace, name: set.name, code: found });
  }
  const isDone = counted.length > 0 && waitsFor.length === 0;
  return isDone ? { kind: 'done', pods: serving } : { kind: 'waits', waitsFor };
}
