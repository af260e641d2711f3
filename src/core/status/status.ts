/**
 * Status of a DaemonSet (spec 2.12): seven counters and the observed generation.
 *
 * Counted from the same view that the plan is made from. Conditions, collisionCount and members that
 * we do not know are preserved; only the notice that Rollcall had stopped goes (pause-notice.ts).
 * observedGeneration never falls and never leads (S7). Pods on nodes that do not exist are in no
 * counter.
 */
import { generationOf } from '../daemon-set/generation.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { View } from '../model/plan.ts';
import { NO_COUNTS, isPaused, withoutPauseNotice } from './pause-notice.ts';
import { isAvailable, isUpdated, minReadyMsOf, templateGenerationOf } from '../pod/pod-facts.ts';

const COUNTERS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
] as const;

export const OWN_MEMBERS = [...COUNTERS, 'observedGeneration'] as const;

type Counters = Record<(typeof COUNTERS)[number], number>;

interface CountedFor {
  readonly currentHash: string | undefined;
  readonly observeGeneration: boolean;
}

/** The status as the view has it. The generation is raised only by a run that was allowed to act. */
export function computeStatus(view: View, options: CountedFor): DaemonSetStatus {
  const { daemonSet } = view;
  const observed = observedGenerationOf(daemonSet, options.observeGeneration);
  return withoutPauseNotice({
    ...daemonSet.status,
    ...countNodes(view, options),
    ...(observed === undefined ? {} : { observedGeneration: observed }),
  });
}

/**
 * True if writing `next` would change nothing that we own. Differs from upstream: a run that may not
 * raise observedGeneration does not write an equal status (spec 2.12 sends a no-op then).
 */
export function hasSameStatus(
  current: DaemonSetStatus | undefined,
  next: DaemonSetStatus,
): boolean {
  if (current === undefined || isPaused(current) !== isPaused(next)) return false;
  const isCounted = COUNTERS.every((counter) => (current[counter] ?? 0) === (next[counter] ?? 0));
  return isCounted && (current.observedGeneration ?? 0) >= (next.observedGeneration ?? 0);
}

/**
 * True if two statuses agree in all that a plan rests on: the counters, the generation, and the count from
 * which the name of the current revision follows. What others keep there says nothing.
 */
export function isSameBasis(
  left: DaemonSetStatus | undefined,
  right: DaemonSetStatus | undefined,
): boolean {
  return (
    COUNTERS.every((counter) => (left?.[counter] ?? 0) === (right?.[counter] ?? 0)) &&
    (left?.observedGeneration ?? 0) === (right?.observedGeneration ?? 0) &&
    (left?.collisionCount ?? 0) === (right?.collisionCount ?? 0)
  );
}

/** `live` with what is ours of `next`: whatever others wrote there since it was seen stays (spec 2.12). */
export function withCounts(
  live: DaemonSetStatus | undefined,
  next: DaemonSetStatus,
): DaemonSetStatus {
  const merged: { [member: string]: unknown } = { ...live };
  for (const member of OWN_MEMBERS) {
    if (next[member] !== undefined) merged[member] = next[member];
  }
  return withoutPauseNotice({ ...NO_COUNTS, ...merged });
}

function observedGenerationOf(daemonSet: DaemonSetObject, isObserved: boolean): number | undefined {
  const before = daemonSet.status?.observedGeneration;
  if (!isObserved) return before;
  return Math.max(before ?? 0, generationOf(daemonSet));
}

function countNodes(view: View, { currentHash: hash }: Pick<CountedFor, 'currentHash'>): Counters {
  const counters: Counters = {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
    numberUnavailable: 0,
  };
  const at = { minReadyMs: minReadyMsOf(view.daemonSet), nowMs: view.nowMs };
  const templateGeneration = templateGenerationOf(view.daemonSet);
  const current = { hash, templateGeneration };
  for (const { placement, pods } of view.nodes) {
    const [first] = pods;
    if (placement !== 'run') {
      if (first !== undefined) counters.numberMisscheduled += 1;
      continue;
    }
    counters.desiredNumberScheduled += 1;
    if (first === undefined) continue;
    counters.currentNumberScheduled += 1;
    if (first.isReady) counters.numberReady += 1;
    if (isAvailable(first, at)) counters.numberAvailable += 1;
    if (isUpdated(first, current)) counters.updatedNumberScheduled += 1;
  }
  counters.numberUnavailable = counters.desiredNumberScheduled - counters.numberAvailable;
  return counters;
}
