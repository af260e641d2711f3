/**
 * Brings the status up to date at the end of a run (spec 2.12, protocol 8).
 *
 * Decides whether it is written now, and notes what came of it; a conflict or a failure only makes
 * the run incomplete. The counts are those of the plan: nothing is counted here.
 */
import { defined } from '@rollcall/base/defined.ts';
import { readCompat } from '../../../core/daemon-set/strategy.ts';
import { pauseText } from '../../../core/status/status-writers.ts';
import { isSameBasis, withCounts } from '../../../core/status/status.ts';
import type { Plan } from '../../../core/model/plan.ts';
import type { DaemonSetStatus, KubernetesObject } from '@rollcall/base/objects.ts';
import type { Step, Subject } from '../run/context.ts';
import type { Ledger } from '../run/ledger.ts';
import { isAsPlanned } from '../confirm/live-daemon-set.ts';
import { isMoreToCome } from './more-to-come.ts';
import { heldWrite } from '../run/refused-writes.ts';
import { noteForeignStatusWrite } from '../live/rival.ts';
import { writeCounts } from './write-counts.ts';
import { writeStatus } from './write-status.ts';
import type { StatusFor, StatusWrite } from './write-status.ts';

/**
 * A rollout touches pods in nearly every run: `kubectl rollout status`, and whoever watches, sees a
 * status no older than this (the built-in controller: 18 to 60 writes for 1,000 nodes).
 */
const POSTPONED_MAX_MS = 1_000;

/**
 * The status, unless pods were just touched, or made a moment ago and are not ready yet: their events cause another look
 * within moments, and that one writes, or the look that is sent with them (more-to-come.ts). Differs from upstream, which writes both times; a
 * generation is never postponed, and with `rollcall.dev/compat: strict` nothing is.
 */
export async function updateStatus(
  step: Step & { readonly plan: Plan; readonly ledger: Ledger },
): Promise<void> {
  const { context, subject, plan: wanted, access, ledger } = step;
  if (wanted.status === undefined) return;
  const isToChange = ledger.hasEffects || (ledger.isComplete && isMoreToCome(subject));
  if (isToChange && mayPostpone(subject)) {
    ledger.isStatusPostponed = true;
    return;
  }
  const held = heldWrite('status-refused', subject);
  if (held !== undefined) {
    ledger.add(held);
    return;
  }
  const counts = countsOver(subject, wanted.status);
  // A live read has contradicted what was seen: nothing rests on that any more (row 71).
  const isDoubted = ledger.problems.some(({ code }) => code === 'daemon-set-changed');
  const write = await (isDoubted ? writeStatus : writeCounts)(counts, { context, subject, access });
  switch (write.kind) {
    case 'written':
      ledger.isStatusWritten = true;
      ledger.noteWritten('daemonSet', write.version);
      ledger.isStatusAsSeen = write.isAsSeen;
      await noteOthers(write, step);
      return;
    case 'conflict': {
      const message = 'the DaemonSet changed since it was seen; its status waits for another look';
      ledger.add({ code: 'status-conflict', message, pace: 'soon' });
      return;
    }
    case 'gone':
      ledger.add({ code: 'daemon-set-changed', message: 'the DaemonSet is gone', pace: 'backoff' });
      return;
    case 'failed':
      noteStatusFailure(write, ledger);
  }
}

/** The answer to a write shows who else wrote. */
async function noteOthers(
  { object, answeredAtMs }: Extract<StatusWrite, { kind: 'written' }>,
  step: Step & { readonly ledger: Ledger },
): Promise<void> {
  const written = object as unknown as KubernetesObject; // an API server's answer
  const paused = await noteForeignStatusWrite(
    { object: written, ...defined({ answeredAtMs }) },
    step,
  );
  if (paused === undefined) return;
  step.ledger.add({ code: 'rival-suspected', message: pauseText(paused), pace: 'soon' });
}

/** The counts, for a DaemonSet that is still what they were counted for; what others keep there stays. */
function countsOver({ daemonSet }: Subject, status: DaemonSetStatus): StatusFor {
  return (live) => {
    const isPresent = isAsPlanned(live, daemonSet) && isSameBasis(live.status, daemonSet.status);
    return isPresent ? withCounts(live.status, status) : undefined;
  };
}

function mayPostpone({ daemonSet, state, nowMs }: Subject): boolean {
  const { metadata, status } = daemonSet;
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (!isObserved || readCompat(daemonSet) === 'strict') return false;
  return nowMs - (state.statusPostponedSinceMs ?? nowMs) < POSTPONED_MAX_MS;
}

function noteStatusFailure(
  { message, retryAfterMs, isRefused }: Extract<StatusWrite, { kind: 'failed' }>,
  ledger: Ledger,
): void {
  const code = isRefused === true ? 'status-refused' : 'cluster-unavailable';
  ledger.add({ code, message, pace: 'backoff', ...defined({ retryAfterMs }) });
}
