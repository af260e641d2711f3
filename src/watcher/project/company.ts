/**
 * Which changes of an object decide nothing, so that they wait for company (ADR 0049).
 *
 * Each message costs an invocation, and each key that it concerns a run. What differs here moves no placement, no plan and
 * no status: the status of a DaemonSet, which is nearly always our own; that a pod was bound where it was aimed at,
 * or started without being ready; a node's condition and cordon, which explain (placement reads taints). They are
 * sent, because people are told of them and duplicates are told apart by them, with the next change or when
 * their time is over. What is equal here is equal for `core`, but for which of two pods on one node comes first. Nothing is
 * left out of projections or of their hashes.
 */
import type {
  DaemonSetProjection,
  PodPhase,
  PodProjection,
  Projection,
} from '../../core/model/projections.ts';
import { projectionText } from '../../core/projections/set-hash.ts';
import type { WaitReason } from '../pace/heartbeat.ts';
import type { SlimObject } from './projection.ts';

/** What changed: something that decides, or what waits (`awaited`: a status, nearly always of a run of ours). */
export type ChangeWeight = 'decides' | WaitReason;

/** What the change of a known object weighs; the two are the same object and differ. */
export function weighChange(former: SlimObject, next: SlimObject): ChangeWeight {
  const [before, after] = [decidingPart(former.projection), decidingPart(next.projection)];
  if (before === undefined || after === undefined || before.kind !== after.kind) return 'decides';
  if (projectionText(before) !== projectionText(after)) return 'decides';
  return next.of === 'DaemonSet' ? 'awaited' : 'explains';
}

/** The projection without what decides nothing; undefined where everything counts. */
function decidingPart(projection: Projection): Projection | undefined {
  switch (projection.kind) {
    case 'DaemonSet':
      return withoutStatus(projection);
    case 'Pod':
      return decidingPod(projection);
    case 'Node':
      return { ...projection, isReady: false, unschedulable: false, isTerminating: false };
    case 'ControllerRevision':
    case 'Opaque':
      return undefined;
  }
}

function withoutStatus(projection: DaemonSetProjection): DaemonSetProjection {
  const { status: _status, ...object } = projection.object;
  return { ...projection, object };
}

/** Bound or not, it stands on its target. Until it is ready nobody counts since when it is not. */
function decidingPod(pod: PodProjection): PodProjection {
  const { boundNode: _bound, readyChangedAtMs, ...rest } = pod;
  const since = pod.isReady && readyChangedAtMs !== undefined ? { readyChangedAtMs } : {};
  return { ...rest, ...since, phase: LIVING.has(pod.phase) ? 'Running' : pod.phase };
}

/** Phases that differ for people alone; a pod that ended is replaced. */
const LIVING: ReadonlySet<PodPhase> = new Set<PodPhase>(['Pending', 'Running', 'Unknown']);
