/**
 * One reconcile for one key (design 3): the shell around its attempts.
 *
 * Two runs of one key at once do no harm: the one that loses the state's compare-and-set has sent nothing and
 * starts again here; a late request of either is refused by the API server, for its name or its precondition
 * (S1–S5). Reports each run once: one line, one metric.
 */
import type { Hint } from '../../core/model/hint.ts';
import { formatKey } from '../../core/model/identifiers.ts';
import { ClusterGate } from '../isolation/cluster-gate.ts';
import { EffectAssertions } from './run/asserted-access.ts';
import { attemptReconcile } from './attempt.ts';
import type { EndContext } from './run/context.ts';
import type { ReconcileDependencies, ReconcileRun } from './process/dependencies.ts';
import { endRun } from './end/end-run.ts';
import { writeState } from './run/record-state.ts';
import { reportRun } from './run/report.ts';
import type { ReconcileResult } from './run/result.ts';

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
  const { view, log, metrics, options } = dependencies;
  const report = { key: hint.key, log, metrics };
  const assertions = new EffectAssertions(report, options.burstPodsMax);
  const context: EndContext = {
    ...{ hint, run, dependencies, gate, assertions, note: {} },
    recordIntents: async (ref, change) => {
      const write = await writeState(change, ref, { view, report });
      if (write.kind === 'written') assertions.noteRecorded(write.state.intents);
      return write;
    },
  };
  const startedMs = dependencies.clock.monotonicMs();
  const result = await lookUntilDecided(context);
  await gate.settle();
  reportRun(result, { context, durationMs: dependencies.clock.monotonicMs() - startedMs });
  return result;
}

async function lookUntilDecided(context: EndContext): Promise<ReconcileResult> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const exit = await attemptReconcile(context);
    if (exit.kind !== 'lost') return endRun(exit, context);
    context.dependencies.metrics.count('ReconcileLostRaces');
  }
  const message = `other runs of ${formatKey(context.hint.key)} were first each time`;
  const deferral = { code: 'lost-race', message, delayMs: 1_000 } as const;
  return endRun({ kind: 'unrecorded', deferral }, context);
}
