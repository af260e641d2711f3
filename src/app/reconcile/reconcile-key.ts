/**
 * One reconcile for one key (design 3): the shell around its attempts.
 *
 * Two runs of one key cannot hurt: the loser of the state's compare-and-set has done nothing and
 * looks again here; whoever still gets through meets names and preconditions at the API server
 * (S1–S5). Reports each run once: one line, one metric.
 */
import type { Hint } from '../../core/model/hint.ts';
import { formatKey } from '../../core/model/identifiers.ts';
import { ClusterGate } from '../isolation/cluster-gate.ts';
import { attemptReconcile } from './attempt.ts';
import type { AttemptResult } from './attempt.ts';
import type { RunContext } from './context.ts';
import { deferUnrecorded } from './defer.ts';
import type { ReconcileDependencies, ReconcileRun } from './dependencies.ts';
import { reportRun } from './report.ts';
import type { ReconcileResult } from './result.ts';

/** Looks per invocation when other runs keep winning. */
const ATTEMPTS_MAX = 3;

/**
 * Looks at one DaemonSet of one cluster and does what is left to be done, once.
 *
 * Every result is to be acknowledged: a retryable failure has its timer already. Rejects for bugs and
 * lost dependencies (table or queue) only; the hint must then be redelivered.
 */
export async function reconcileKey(
  hint: Hint,
  run: ReconcileRun,
  dependencies: ReconcileDependencies,
): Promise<ReconcileResult> {
  const gate = new ClusterGate(dependencies);
  const context: RunContext = { hint, run, dependencies, gate, note: {} };
  const startedMs = dependencies.clock.monotonicMs();
  const result = await lookUntilDecided(context);
  await gate.settle();
  reportRun(result, { context, durationMs: dependencies.clock.monotonicMs() - startedMs });
  return result;
}

async function lookUntilDecided(context: RunContext): Promise<ReconcileResult> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const result: AttemptResult = await attemptReconcile(context);
    if (result.kind !== 'lost') return result;
    context.dependencies.metrics.count('ReconcileLostRaces');
  }
  const message = `other runs of ${formatKey(context.hint.key)} were first each time`;
  return deferUnrecorded({ code: 'lost-race', message, delayMs: 1_000 }, context);
}
