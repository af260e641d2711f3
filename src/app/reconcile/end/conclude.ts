/**
 * The end of an attempt: verdicts, timers and state, then what there is to tell, and the result.
 *
 * Everything that was done is in the ledger. Events are sent beside the final write of the state: they
 * decide nothing, and nobody waits for them but the end of this invocation, which awaits them all.
 */
import type { EndContext } from '../run/context.ts';
import type { Conclusion, Judged } from '../run/exit.ts';
import { finishRun } from './finish.ts';
import type { Finish } from './finish.ts';
import type { Ledger } from '../run/ledger.ts';
import type { ReconcileResult } from '../run/result.ts';
import { storeVerdicts } from './store-verdicts.ts';
import { correlateRun, writeEvents } from './write-events.ts';

/** Records and tells; answers how the run ended. */
export async function concludeRun(
  judged: Judged,
  conclusion: Conclusion,
  context: EndContext,
): Promise<ReconcileResult> {
  const { decision, ledger } = conclusion;
  const finish = await record(judged, conclusion, context);
  forgetRefusedCredential(context, ledger);
  return resultOf(decision, ledger, { ...finish, cappedCount: decision.plan.cappedCount });
}

async function record(
  judged: Judged,
  { decision, ledger, stored, access }: Conclusion,
  context: EndContext,
): Promise<Finish> {
  const { subject, judgement, history } = judged;
  const { plan } = decision;
  const verdictsHash = ledger.hasEffects
    ? subject.state.verdictsHash
    : await storeVerdicts(plan.verdicts, { context, subject });
  const told = correlateRun(ledger.events, { context, tallies: stored.events });
  const telling =
    access === undefined
      ? undefined
      : writeEvents(told.writes, { context, daemonSet: subject.daemonSet, access });
  try {
    return await finishRun({
      context,
      subject,
      ledger,
      plan,
      intents: judgement.intents,
      found: judgement.found,
      stored,
      history,
      verdictsHash,
      ...(access === undefined || told.writes.length === 0 ? {} : { tallies: told.tallies }),
    });
  } finally {
    await telling;
  }
}

/** A 401 says that the warm credential is not good any more. */
function forgetRefusedCredential(context: EndContext, ledger: Ledger): void {
  if (!ledger.problems.some(({ code }) => code === 'no-access')) return;
  context.dependencies.connector.forget(context.hint.key.cluster);
}

function resultOf(
  { guard }: Conclusion['decision'],
  ledger: Ledger,
  end: { readonly isComplete: boolean; readonly dueAtMs: number; readonly cappedCount: number },
): ReconcileResult {
  const { counts } = ledger;
  const [problem] = ledger.problems;
  const nextLookAtMs = end.dueAtMs;
  if (problem !== undefined) {
    const { code, message } = problem;
    return { kind: 'deferred', code, message, nextLookAtMs, counts };
  }
  if (ledger.refused.length > 0) {
    const message = `${ledger.refused.length} pods were refused`;
    return { kind: 'deferred', code: 'refused', message, nextLookAtMs, counts };
  }
  if (end.cappedCount > 0) {
    const message = `${end.cappedCount} pods are left for the next run`;
    return { kind: 'deferred', code: 'capped', message, nextLookAtMs, counts };
  }
  if (guard.kind !== 'act') return { kind: 'observed', code: guard.code, counts };
  return { kind: ledger.hasEffects || counts.isStatusWritten ? 'acted' : 'settled', counts };
}
