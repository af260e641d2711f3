/**
 * Verdicts of a run whose API server cannot be used: why there is no pod on this node (L3).
 *
 * Planned without the cluster and stored once per wait; nothing of the plan is sent. The answer is the
 * subject with the hash of what was stored, so that the deferral that follows records it.
 */
import { planReconcile } from '../../../core/plan/plan.ts';
import { computeView } from '../../../core/view/view.ts';
import type { EndContext, RunContext, Subject } from '../run/context.ts';
import { breakerWaitOf } from '../process/retry.ts';
import { guessHash } from '../history/history.ts';
import type { Plan } from '../../../core/model/plan.ts';
import { hash48 } from '@rollcall/base/hash48.ts';

const MESSAGE = 'The API server of the cluster does not answer; it is tried again by itself.';

/** Stores the verdicts of an unavailable cluster, if this wait has not done so yet. */
export async function withholdVerdicts(subject: Subject, context: EndContext): Promise<Subject> {
  const { daemonSet, read, state, nowMs } = subject;
  if (isTold(state, context, nowMs) || subject.access.refusal?.kind !== 'unavailable')
    return subject;
  const { nodes, pods, gone, revisions } = read;
  const { requestTimeoutMs, burstPodsMax } = context.dependencies.options;
  const plan = planReconcile(computeView({ daemonSet, nodes, pods, gone, revisions, nowMs }), {
    guard: { kind: 'status-only', code: 'cluster-unavailable', message: MESSAGE },
    state,
    currentHash: guessHash(daemonSet, revisions),
    requestTimeoutMs,
    burstPodsMax,
  });
  const verdictsHash = await storeVerdicts(plan.verdicts, { context, subject });
  return { ...subject, state: { ...state, verdictsHash } };
}

/** A wait tells once: each hint that meets it would only store the same. */
function isTold(state: Subject['state'], context: RunContext, nowMs: number): boolean {
  if (context.gate.refusedUntilMs !== undefined) return breakerWaitOf(state, nowMs) !== undefined;
  return state.retry !== undefined && state.retry.notBeforeMs > nowMs;
}

/** Stores verdicts if they differ from those stored last; answers their hash. */
export async function storeVerdicts(
  verdicts: Plan['verdicts'],
  input: { readonly context: EndContext; readonly subject: Pick<Subject, 'basis' | 'state'> },
): Promise<string> {
  const { context, subject } = input;
  const verdictsHash = hash48(JSON.stringify(verdicts)).toString(36);
  if (verdictsHash !== subject.state.verdictsHash) {
    await context.dependencies.view.writeVerdicts(subject.basis.ref, verdicts);
  }
  return verdictsHash;
}
