/**
 * Observes a staged rollout's nodes: evidence on pods and nodes, each taken once. A node
 * that is not Ready says nothing of its pod; that it evicted one, or restarted under it, is the
 * node's failure. Since when a pod is not ready is told by our clock, from the first look: others'
 * clocks would make a new pod late.
 */
import { defined } from '@rollcall/base/defined.ts';
import { judgePod, type FailureSign, type PodJudging } from '../health/pod-signs.ts';
import type { WatchedPod } from '../health/flapping.ts';
import type { TrialNode } from '../health/trial.ts';
import { stratumOf } from '../health/canary-spread.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';
import type { Awaited, PodTurns, RolloutRecord } from '../model/rollout-record.ts';
import { isPending, nameOf, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';

/** A pod that came up before fails so by its node; that a new one is refused only nodes can show that get one. */
const NODE_SIGNS: ReadonlySet<FailureSign> = new Set<FailureSign>(['Evicted', 'Rebooted']);
/** Of a boot ID, which is a UUID, enough to tell two apart. */
const BOOT_CHARACTERS = 8;

/** Now, and since when exits count. */
type Moments = Required<Pick<PodJudging, 'nowMs' | 'sinceMs'>>;

/** True while a good release is on its way back to the nodes, and nothing stopped it. */
export function isWatchedReturn({ isReturn, returnedAtMs, breach }: RolloutRecord): boolean {
  return isReturn && returnedAtMs === undefined && breach === undefined;
}

export function momentsIn({ startedAtMs }: RolloutRecord, { nowMs }: StagesInput): Moments {
  return { nowMs, sinceMs: startedAtMs };
}

/** All nodes that can be evidence: those of the rollout, and those that lost their place in it. */
export function evidenceNodes({
  nodes,
  keptNodes = [],
}: Pick<StagesInput, 'nodes' | 'keptNodes'>): readonly StageNode[] {
  return keptNodes.length === 0 ? nodes : [...nodes, ...keptNodes];
}

/** The nodes as the trial sees them: those without an old pod are updated. */
export function trialNodes(nodes: readonly StageNode[], at: Moments): readonly TrialNode[] {
  return nodes.map((each) => ({
    name: nameOf(each),
    stratum: stratumOf(each.node),
    isUpdated: each.updated !== undefined || each.isMoving,
    isBad: !each.node.isReady || hasFailedPod(each, at),
    ...defined({ createdAtMs: each.node.createdAtMs }),
  }));
}

/** True if the node evicted its pod, or restarted under it and has not got it up again. */
function hasFailedPod({ node, updated, old }: StageNode, at: Moments): boolean {
  const pod = updated ?? old;
  if (pod === undefined) return false;
  const evidence = judgePod(pod, {
    ...at,
    graceMs: Number.POSITIVE_INFINITY,
    isNodeReady: node.isReady,
    demand: 'unknown',
  });
  return evidence.kind === 'failed' && NODE_SIGNS.has(evidence.sign);
}

/** A pod of the revision, as it is watched for turns and reboots. */
export function watchedPod(pod: PodProjection, { isReady, system }: NodeProjection): WatchedPod {
  const boot = system?.bootId.slice(0, BOOT_CHARACTERS);
  return { pod, isNodeReady: isReady, ...defined({ boot }) };
}

/** Whether its node restarted since a pod was first watched; undefined: not known. */
export function bootOf(
  watched: PodTurns | undefined,
  { system }: NodeProjection,
): 'same' | 'changed' | undefined {
  const now = system?.bootId.slice(0, BOOT_CHARACTERS);
  if (watched?.boot === undefined || now === undefined) return undefined;
  return watched.boot === now ? 'same' : 'changed';
}

export function countRestarts(nodes: readonly StageNode[]): number {
  return nodes.reduce((sum, { updated }) => sum + (updated?.trouble?.restarts ?? 0), 0);
}

/** 5 KB of a record at most. */
const AWAITED_MAX = 64;

/**
 * The pods that are waited for after another look: one is noted at the first, and forgotten once it is ready or gone; one whose readiness
 * changed between two looks is noted anew. Bounded: of pods beyond it nothing is known, and they are not late before there is room; the same
 * list if nothing changed.
 */
export function advanceAwaited(
  known: readonly Awaited[],
  nodes: readonly StageNode[],
  nowMs: number,
): readonly Awaited[] {
  const byUid = new Map(known.map((each) => [each.uid, each]));
  const waiting = nodes.flatMap((each) => {
    const pod = isPending(each) ? undefined : each.updated;
    if (pod === undefined || pod.isReady) return [];
    const before = byUid.get(pod.uid);
    const { uid, readyChangedAtMs: changedAtMs } = pod;
    if (before !== undefined && before.changedAtMs === changedAtMs) return [before];
    return [{ uid, sinceMs: nowMs, ...(changedAtMs === undefined ? {} : { changedAtMs }) }];
  });
  // Those that are known keep their place.
  const next = waiting
    .toSorted((left, right) => left.sinceMs - right.sinceMs)
    .slice(0, AWAITED_MAX);
  const isSame = next.length === known.length && next.every((each) => byUid.get(each.uid) === each);
  return isSame ? known : next;
}

/** Since when a pod has been seen not ready; now, where there was no room to note it; undefined: such times are not noted. */
export function awaitedSinceMs(
  awaited: readonly Awaited[] | undefined,
  uid: Awaited['uid'],
  nowMs: number,
): number | undefined {
  if (awaited === undefined) return undefined;
  return awaited.find((each) => each.uid === uid)?.sinceMs ?? nowMs;
}

/** The same of a record; nothing, before there was a pod to be noted. */
export function awaitedAfter(
  { awaited: known }: RolloutRecord,
  { nodes, nowMs }: StagesInput,
): Pick<RolloutRecord, 'awaited'> {
  const awaited = advanceAwaited(known ?? [], nodes, nowMs);
  return known === undefined && awaited.length === 0 ? {} : { awaited };
}
