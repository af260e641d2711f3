/**
 * Which changes of an object decide nothing, so that they wait for company (ADR 0049).
 *
 * Each message costs an invocation, and each key that it concerns a run. What differs here moves no placement, no plan and
 * no status: the status of a DaemonSet, which is nearly always our own, but for the first one of a generation; that a pod was
 * bound where it was aimed at, or started without being ready; a node's condition and cordon, which explain (placement reads taints). They are
 * sent, because people are told of them and duplicates are told apart by them, with the next change or when
 * their time is over. What is equal here is equal for `core`, but for which of two pods on one node comes first. Nothing is
 * left out of projections or of their hashes.
 *
 * Of a pod's trouble an exit decides, and a word that says why a container cannot start: a staged rollout halts by them. The rest
 * explains; CrashLoopBackOff, which comes and goes with each crash between an exit that was told and a restart that will
 * be, does not even set a time. So a crash loop costs two messages a crash, its exit and its restart, one where it crashes within
 * seconds; an image that cannot be pulled costs one in all (pod-trouble.ts).
 */
import type {
  DaemonSetProjection,
  NodeProjection,
  PodPhase,
  PodProjection,
  PodTrouble,
  Projection,
} from '../../core/model/projections.ts';
import { isSameProjection } from '../../core/projections/set-hash.ts';
import type { WaitReason } from '../pace/heartbeat.ts';
import type { SlimObject } from './projection.ts';

/**
 * What changed: something that decides, what waits for so long (`awaited`: a status, nearly always of a run of ours), or what
 * only accompanies: it goes with whatever is sent next.
 */
export type ChangeWeight = 'decides' | WaitReason;

/** What the change of a known object weighs; the two are the same object and differ. */
export function weighChange(former: SlimObject, next: SlimObject): ChangeWeight {
  const [before, after] = [decidingPart(former.projection), decidingPart(next.projection)];
  if (before === undefined || after === undefined || before.kind !== after.kind) return 'decides';
  if (!isSameProjection(before, after)) return 'decides';
  if (next.of === 'DaemonSet') return isObserved(former, next) ? 'decides' : 'awaited';
  return weighWaiting(former.projection, next.projection);
}

/**
 * A status that reached another generation: the first one that a run writes after an edit, before which the next run makes and
 * deletes nothing (protocol 3). In a large create or rollout that one is waiting.
 */
function isObserved({ projection: former }: SlimObject, { projection: next }: SlimObject): boolean {
  if (former.kind !== 'DaemonSet' || next.kind !== 'DaemonSet') return false;
  const [before, after] = [former.object.status, next.object.status];
  return (after?.observedGeneration ?? 0) > (before?.observedGeneration ?? 0);
}

/** Of two pods that differ in nothing that decides but perhaps in why a container waits. */
function weighWaiting(before: Projection, after: Projection): ChangeWeight {
  if (before.kind !== 'Pod' || after.kind !== 'Pod') return 'explains';
  const [former = {}, next = {}] = [before.trouble, after.trouble];
  const isStart = next.waiting !== undefined && next.waiting !== BACK_OFF;
  const isSame = next.waiting === former.waiting && next.container === former.container;
  if (isStart && !isSame) return 'decides';
  return isBackOff(former, next) && isSameProjection(withoutWaiting(before), withoutWaiting(after))
    ? 'accompanies'
    : 'explains';
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

/** A kernel and a boot are what a bad rollout is looked for in, not what starts one. */
function decidingNode({ system: _system, ...node }: NodeProjection): NodeProjection {
  return { ...node, isReady: false, unschedulable: false, isTerminating: false };
}

/** Bound or not, it stands on its target. Until it is ready nobody counts since when it is not. */
function decidingPod(pod: PodProjection): PodProjection {
  const { boundNode: _bound, readyChangedAtMs, trouble, ...rest } = pod;
  const since = pod.isReady && readyChangedAtMs !== undefined ? { readyChangedAtMs } : {};
  const exit = trouble?.lastExit && { trouble: { lastExit: trouble.lastExit } };
  return { ...rest, ...since, ...exit, phase: LIVING.has(pod.phase) ? 'Running' : pod.phase };
}

/** Phases that differ for people alone; a pod that ended is replaced. */
const LIVING: ReadonlySet<PodPhase> = new Set<PodPhase>(['Pending', 'Running', 'Unknown']);
