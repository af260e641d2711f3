/**
 * How soon a change is to be sent (ADR 0079). It only sets a time: a flush takes along whatever waits, and nothing is
 * left out.
 *
 *   urgent   a decision can be made at once: a node that may be used, an edit, a pod that another client took away
 *   awaited  a node waits for it with a taint before it takes other pods: a daemon that is ready there (ADR 0089)
 *   normal   decides, but among many of its kind, as in a rollout
 *   calm     leads to nothing by itself: a pod just made, a node that no DaemonSet may use yet, a status
 *   detail   is told to people and decides nothing: a pod that was bound where it was aimed at, a node's condition or cordon
 *   aside    sets no time at all: CrashLoopBackOff, which comes and goes with each crash (an exit decides)
 */
import type {
  DaemonSetProjection,
  NodeProjection,
  PodPhase,
  PodProjection,
  PodTrouble,
  Projection,
} from '../../core/model/projections.ts';
import { isOfKubernetes, START_UP_LABEL } from '../../core/start-up/start-up-taint.ts';
import { isSameProjection } from '../../core/projections/set-hash.ts';
import type { SlimObject } from '../project/projection.ts';
import type { FormerState, ObjectStore, Tracked } from '../project/store.ts';
import type { AffectedFinder } from './affected.ts';

/** How soon. */
export type ChangePriority = 'urgent' | 'awaited' | 'normal' | 'calm' | 'detail' | 'aside';

/** Beyond so many DaemonSets a node is not judged: that costs a placement of each. */
const DAEMON_SETS_MAX = 1_000;

/** Judges changes by what the watcher holds; in doubt a change is normal. */
export class PriorityJudge {
  readonly #store: ObjectStore;
  readonly #affected: AffectedFinder;

  constructor(store: ObjectStore, affected: AffectedFinder) {
    this.#store = store;
    this.#affected = affected;
  }

  /** Of an object that is to be sent, and that was so before the change. */
  judge(tracked: Tracked, former: FormerState): ChangePriority {
    const { slim } = tracked;
    const quiet =
      slim === null || former.slim === undefined ? undefined : quietPriority(former.slim, slim);
    if (quiet !== undefined) return quiet;
    switch (tracked.of) {
      case 'DaemonSet':
        return 'urgent';
      case 'Node':
        return this.#judgeNode(tracked);
      case 'Pod':
        return this.#judgePod(tracked, former);
      case 'ControllerRevision':
        return 'normal';
    }
  }

  #judgeNode(tracked: Tracked): ChangePriority {
    if (this.#store.count('DaemonSet') > DAEMON_SETS_MAX) return 'normal';
    const moves = this.#affected.movesPlacement(tracked);
    if (moves === undefined) return 'normal';
    return moves ? 'urgent' : 'calm';
  }

  /**
   * A rollout takes pods away by the hundred, in many steps; it waits for those that are gone, and for those that are ready.
   * Without one no run waits for a pod but where another is to be made.
   */
  #judgePod({ slim, sent, sets }: Tracked, former: FormerState): ChangePriority {
    const pod = slim?.projection;
    if (pod === undefined) return this.#judgeGone(former.slim?.projection, former);
    if (pod.kind !== 'Pod' || slim?.ownerUid === undefined) return 'normal';
    if (isOver(pod)) return this.#judgeGone(pod, { sets });
    const isJustMade = sent.length === 0 && !pod.isReady;
    if (isJustMade || pod.isTerminating) return 'calm';
    return this.#judgeLiving(pod, sets);
  }

  #judgeLiving(pod: PodProjection, sets: Tracked['sets']): ChangePriority {
    if (pod.isReady && this.#isAwaited(pod)) return 'awaited';
    return this.#store.arePodsReplaced(sets) ? 'normal' : 'calm';
  }

  /** Its node may wait for it with a start-up taint (ADR 0089), of which the watcher is not told. */
  #isAwaited(pod: PodProjection): boolean {
    const node = this.#store.findNode(pod.boundNode ?? '')?.slim?.projection;
    if (node?.kind !== 'Node' || node.taints.every(({ key }) => isOfKubernetes(key))) return false;
    return this.#isOfStartUp(pod);
  }

  #isOfStartUp({ ownerUid }: PodProjection): boolean {
    for (const { uid, slim } of this.#store.objects('DaemonSet')) {
      if (uid !== ownerUid || slim?.projection.kind !== 'DaemonSet') continue;
      return slim.projection.object.metadata.labels?.[START_UP_LABEL] === 'true';
    }
    return false;
  }

  /** Another pod is to be made in its place, unless its node went first: then its pods go one after the other. */
  #judgeGone(pod: Projection | undefined, { sets }: FormerState): ChangePriority {
    if (this.#store.arePodsReplaced(sets)) return 'normal';
    const node = pod?.kind === 'Pod' ? pod.targetNode : undefined;
    return node === undefined || this.#store.findNode(node) !== undefined ? 'urgent' : 'calm';
  }
}

function isOver({ phase }: PodProjection): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

/**
 * Of a change of a known object that moves no placement, no plan and no status; undefined: it decides. What is equal here is equal
 * for `core`, but for which of two pods on one node comes first.
 */
export function quietPriority(former: SlimObject, next: SlimObject): ChangePriority | undefined {
  const [before, after] = [decidingPart(former.projection), decidingPart(next.projection)];
  if (before === undefined || after === undefined || before.kind !== after.kind) return undefined;
  if (!isSameProjection(before, after)) return undefined;
  if (next.of === 'DaemonSet') return isCaughtUp(former, next) ? undefined : 'calm';
  return quietDetail(former.projection, next.projection);
}

/**
 * A status that reached another generation: the first one that a run writes after an edit, before which the next run makes and
 * deletes nothing (protocol 3). In a large create or rollout that one is waiting.
 */
function isCaughtUp({ projection: former }: SlimObject, { projection: next }: SlimObject): boolean {
  if (former.kind !== 'DaemonSet' || next.kind !== 'DaemonSet') return false;
  const [before, after] = [former.object.status, next.object.status];
  return (after?.observedGeneration ?? 0) > (before?.observedGeneration ?? 0);
}

/** Of two pods that differ in nothing that decides but perhaps in why a container waits. */
function quietDetail(before: Projection, after: Projection): ChangePriority | undefined {
  if (before.kind !== 'Pod' || after.kind !== 'Pod') return 'detail';
  const [former = {}, next = {}] = [before.trouble, after.trouble];
  const isStart = next.waiting !== undefined && next.waiting !== BACK_OFF;
  const isSame = next.waiting === former.waiting && next.container === former.container;
  if (isStart && !isSame) return undefined;
  return isBackOff(former, next) && isSameProjection(withoutWaiting(before), withoutWaiting(after))
    ? 'aside'
    : 'detail';
}

const BACK_OFF = 'CrashLoopBackOff';

/** A pod begins to wait for its next start, or no longer does. */
function isBackOff(former: PodTrouble, next: PodTrouble): boolean {
  if (next.waiting === BACK_OFF) return true;
  return former.waiting === BACK_OFF && next.waiting === undefined;
}

function withoutWaiting({ trouble = {}, ...pod }: PodProjection): PodProjection {
  const { waiting: _waiting, container: _container, ...rest } = trouble;
  return { ...pod, trouble: rest };
}

/** The projection without what decides nothing; undefined where everything counts. */
function decidingPart(projection: Projection): Projection | undefined {
  switch (projection.kind) {
    case 'DaemonSet':
      return withoutStatus(projection);
    case 'Pod':
      return decidingPod(projection);
    case 'Node':
      return decidingNode(projection);
    case 'ControllerRevision':
    case 'Opaque':
      return undefined;
  }
}

function withoutStatus(projection: DaemonSetProjection): DaemonSetProjection {
  const { status: _status, ...object } = projection.object;
  return { ...projection, object };
}

/** Placement reads labels and taints. A kernel and a boot are what a bad rollout is looked for in, not what starts one. */
function decidingNode({ system: _system, ...node }: NodeProjection): NodeProjection {
  return { ...node, isReady: false, unschedulable: false, isTerminating: false };
}

/** Bound or not, it stands on its target. Until it is ready, no count asks since when it is not. */
function decidingPod(pod: PodProjection): PodProjection {
  const { boundNode: _bound, readyChangedAtMs, trouble, ...rest } = pod;
  const since = pod.isReady && readyChangedAtMs !== undefined ? { readyChangedAtMs } : {};
  const exit = trouble?.lastExit && { trouble: { lastExit: trouble.lastExit } };
  return { ...rest, ...since, ...exit, phase: LIVING.has(pod.phase) ? 'Running' : pod.phase };
}

/** Phases that differ for people alone; a pod that ended is replaced. */
const LIVING: ReadonlySet<PodPhase> = new Set<PodPhase>(['Pending', 'Running', 'Unknown']);
