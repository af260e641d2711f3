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
import type { EndContext, RunContext } from './run/context.ts';
import type { ReconcileDependencies, ReconcileRun } from './process/dependencies.ts';
import { endRun } from './finish/end-run.ts';
import { noteAct, writeState } from './run/record-state.ts';
import type { ReconcileResult } from './run/result.ts';
import type { LogFields } from '@rollcall/base/ports/log.ts';

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
  const { clock, log, metrics, options } = dependencies;
  const report = { key: hint.key, log, metrics };
  const assertions = new EffectAssertions(report, options.burstPodsMax);
  const startedMs = clock.monotonicMs();
  const wallDeadlineMs = clock.nowMs() + run.deadlineMs - startedMs;
  const context: EndContext = {
    ...{ hint, run, wallDeadlineMs, dependencies, gate, assertions },
    note: { counted: { toMs: startedMs, kind: 'look', next: 'first' } },
    recordIntents: async (ref, change) => {
      noteAct(context);
      const write = await writeState(change, ref, context);
      if (write.kind === 'written') assertions.noteRecorded(write.state.intents);
      return write;
    },
  };
  const result = await lookUntilDecided(context);
  await gate.settle();
  reportRun(result, clock.monotonicMs() - startedMs, context);
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

/** One line, and metrics without a dimension per cluster or key; no object body and no credential is a field (S11). */
function reportRun(
  result: ReconcileResult,
  durationMs: number,
  { hint, note, dependencies: { log, metrics } }: RunContext,
): void {
  metrics.count('ReconcileRuns', { outcome: result.kind });
  metrics.record('ReconcileDuration', durationMs, 'Milliseconds');
  const fields: LogFields = {
    key: formatKey(hint.key),
    reason: hint.reason,
    outcome: result.kind,
    epoch: note.epoch,
    seq: note.seq,
    durationMs,
    ...fieldsOf(result),
  };
  if (result.kind === 'refused') {
    metrics.count('ReconcileRefusals', { outcome: result.reason });
    log.warn('reconcile refused', fields);
    return;
  }
  if (result.kind === 'deferred') metrics.count('ReconcileDeferrals', { outcome: result.code });
  if (!('counts' in result)) {
    log.debug('reconcile', fields);
    return;
  }
  const { creates, deletes, patches, refused, isStatusWritten } = result.counts;
  if (creates > 0) metrics.count('ReconcileCreates', { by: creates });
  if (deletes > 0) metrics.count('ReconcileDeletes', { by: deletes });
  if (refused > 0) metrics.count('ReconcileRefusedPods', { by: refused });
  const hasChanged = creates + deletes + patches > 0 || isStatusWritten;
  if (hasChanged) log.info('reconcile', fields);
  else log.debug('reconcile', fields);
}

function fieldsOf(result: ReconcileResult): LogFields {
  switch (result.kind) {
    case 'skipped':
    case 'absent':
    case 'terminating':
      return {};
    case 'refused':
      return { code: result.reason, detail: result.message };
    case 'deferred':
      return { ...result.counts, code: result.code, detail: result.message };
    case 'observed':
      return { ...result.counts, code: result.code };
    case 'settled':
    case 'acted':
      return { ...result.counts };
  }
}
