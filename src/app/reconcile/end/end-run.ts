/**
 * The one place that ends a run: from here alone timers are sent and the state is written (design 3; protocol 4, 12).
 *
 * Order: verdicts are stored, timers are sent, then the state records that they were sent. A crash in between costs
 * one look more and never one less. The only other write of the state is the record of intents before effects
 * (act.ts).
 */
import { concludeRun } from './conclude.ts';
import type { EndContext } from '../run/context.ts';
import { backOffRun, deferRun, deferUnrecorded, waitForBreaker } from './defer.ts';
import { endUnavailable } from './end-unavailable.ts';
import type { Exit } from '../run/exit.ts';
import type { ReconcileResult } from '../run/result.ts';
import { keepLook } from './schedule.ts';
import { refuseSelectingAll } from './selecting-all.ts';
import { storeVerdicts } from './store-verdicts.ts';
import { withholdVerdicts } from './withhold-verdicts.ts';

/** Arranges what the end of a run needs, records it, and answers what came of the run. */
export async function endRun(
  exit: Exclude<Exit, { kind: 'lost' }>,
  context: EndContext,
): Promise<ReconcileResult> {
  switch (exit.kind) {
    case 'over':
      return exit.result;
    case 'skipped':
      return skip(exit, context);
    case 'unrecorded':
      return deferUnrecorded(exit.deferral, context);
    case 'deferral':
      return defer(exit, context);
    case 'back-off':
      return backOffRun(exit.reason, { context, subject: exit.subject });
    case 'breaker-wait':
      return waitForBreaker(exit, { context, subject: exit.subject });
    case 'unavailable':
      return endUnavailable(exit.message, context, exit.subject);
    case 'withheld':
      return endUnavailable(exit.message, context, await withholdVerdicts(exit.subject, context));
    case 'selecting-all':
      return refuseSelectingAll(exit.daemonSet, { context, subject: exit.subject });
    case 'carried-out':
      return concludeRun(exit.judged, exit.conclusion, context);
  }
}

/** A due time that is near is sent once more (protocol 12). */
async function skip(
  { nowMs, resendDueAtMs }: Extract<Exit, { kind: 'skipped' }>,
  context: EndContext,
): Promise<ReconcileResult> {
  if (resendDueAtMs !== undefined) await keepLook(resendDueAtMs, context, nowMs);
  return { kind: 'skipped' };
}

async function defer(
  { deferral, subject, verdicts }: Extract<Exit, { kind: 'deferral' }>,
  context: EndContext,
): Promise<ReconcileResult> {
  if (verdicts !== undefined) await storeVerdicts(verdicts, { context, subject });
  return deferRun(deferral, { context, subject });
}
