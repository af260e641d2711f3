/**
 * Brings the status up to date at the end of a run (spec 2.12, protocol 8).
 *
 * Decides whether it is written now, and notes what came of it; a conflict or a failure only makes
 * the run incomplete. The counts are those of the plan: nothing is counted here.
 */
import { isObserved } from '../../../core/daemon-set/generation.ts';
import { defined } from '@rollcall/base/defined.ts';
import { readCompat } from '../../../core/daemon-set/strategy.ts';
import { pauseText } from '../../../core/status/status-writers.ts';
import { isSameBasis, withCounts } from '../../../core/status/status.ts';
import type { Plan } from '../../../core/model/plan.ts';
import type { DaemonSetObject, DaemonSetStatus, KubernetesObject } from '@rollcall/base/objects.ts';
import type { NotedStep, ReconcileInput } from '../run/context.ts';
import type { RunResult } from '../run/result.ts';
import { isAsPlanned } from '../confirm/live-daemon-set.ts';
import { heldWrite } from '../../../core/retry/retry.ts';
import { noteForeignStatusWrite } from '../confirm/rival.ts';
import { writeCounts, writeStatus, type StatusFor, type StatusWrite } from './write-status.ts';

/**
 * A rollout touches pods in nearly every run: `kubectl rollout status`, and each watch, sees a
 * status no older than this (the built-in controller: 18 to 60 writes for 1,000 nodes).
 */
const POSTPONED_MAX_MS = 1_000;

/**
 * The status, unless pods were just touched, or made a moment ago and are not ready yet: their events cause another look
 * within moments, and that one writes, or the look that is sent with them (`isMoreToCome`). Differs from upstream, which writes both times; a
 * generation is never postponed, and with `rollcall.dev/compat: strict` nothing is.
 */
export async function updateStatus(step: NotedStep & { readonly plan: Plan }): Promise<void> {
  const { context, input, plan: wanted, access, result } = step;
  if (wanted.status === undefined) return;
  const isToChange = result.hasEffects || (result.isComplete && isMoreToCome(input));
  if (isToChange && mayPostpone(input)) {
    result.isStatusPostponed = true;
    return;
  }
  const held = heldWrite('status-refused', input);
  if (held !== undefined) {
    result.add(held);
    return;
  }
  const counts = countsOver(input.daemonSet, wanted.status);
  // A live read has contradicted what was seen: nothing rests on that any more (row 71).
  const isDoubted = result.problems.some(({ code }) => code === 'daemon-set-changed');
  const write = await (isDoubted ? writeStatus : writeCounts)(counts, { context, input, access });
  switch (write.kind) {
    case 'written':
      result.isStatusWritten = true;
      result.noteWritten('daemonSet', write.version);
      result.isStatusAsSeen = write.isAsSeen;
      await noteOthers(write, step);
      return;
    case 'conflict': {
      const message = 'the DaemonSet changed since it was seen; its status waits for another look';
      result.add({ code: 'status-conflict', message, pace: 'soon' });
      return;
    }
    case 'gone':
      result.add({ code: 'daemon-set-changed', message: 'the DaemonSet is gone', pace: 'backoff' });
      return;
    case 'failed':
      noteStatusFailure(write, result);
  }
}

async function noteOthers(
  { object, answeredAtMs }: Extract<StatusWrite, { kind: 'written' }>,
  step: NotedStep,
): Promise<void> {
  const written = object as unknown as KubernetesObject; // an API server's answer
  const paused = await noteForeignStatusWrite(
    { object: written, ...defined({ answeredAtMs }) },
    step,
  );
  if (paused === undefined) return;
  step.result.add({ code: 'conflict-suspected', message: pauseText(paused), pace: 'soon' });
}

/** The counts, for a DaemonSet that is still what they were counted for; what others keep there stays. */
function countsOver(daemonSet: DaemonSetObject, status: DaemonSetStatus): StatusFor {
  return (live) => {
    const isPresent = isAsPlanned(live, daemonSet) && isSameBasis(live.status, daemonSet.status);
    return isPresent ? withCounts(live.status, status) : undefined;
  };
}

function mayPostpone({ daemonSet, state, nowMs }: ReconcileInput): boolean {
  if (!isObserved(daemonSet) || readCompat(daemonSet) === 'strict') return false;
  return nowMs - (state.statusPostponedSinceMs ?? nowMs) < POSTPONED_MAX_MS;
}

function noteStatusFailure(
  { message, isRefused }: Extract<StatusWrite, { kind: 'failed' }>,
  result: RunResult,
): void {
  const code = isRefused === true ? 'status-refused' : 'cluster-unavailable';
  result.add({ code, message, pace: 'backoff' });
}

/** True while pods that this key made lately are shown and not ready, and the look after them is still to come. */
function isMoreToCome({ state, read, nowMs }: ReconcileInput): boolean {
  const { statusPostponedSinceMs: sinceMs, dueAtMs, intents } = state;
  // A clock that was ahead wrote it: no run waits for as long as clocks differ (row 14).
  if (sinceMs === undefined || sinceMs > nowMs) return false;
  if (dueAtMs === undefined || dueAtMs <= nowMs) return false;
  const made = new Set(
    intents.flatMap((intent) => (intent.kind === 'create' ? (intent.answer?.uid ?? []) : [])),
  );
  return read.pods.some((pod) => made.has(pod.uid) && !pod.isReady && !pod.isTerminating);
}
