/**
 * One log line and the metrics of a run.
 *
 * Info when something changed in the cluster, warn when something was refused, debug otherwise. No
 * object body and no credential is a field (S11); metrics have no dimension per cluster or key.
 */
import { formatKey } from '../../../core/model/identifiers.ts';
import type { LogFields } from '@rollcall/base/ports/log.ts';
import type { RunContext } from './context.ts';
import type { ReconcileResult } from './result.ts';

/** Reports a run once. */
export function reportRun(
  result: ReconcileResult,
  run: { readonly context: RunContext; readonly durationMs: number },
): void {
  const { hint, dependencies } = run.context;
  const { log, metrics } = dependencies;
  metrics.count('ReconcileRuns', { outcome: result.kind });
  metrics.record('ReconcileDuration', run.durationMs, 'Milliseconds');
  const fields: LogFields = {
    key: formatKey(hint.key),
    reason: hint.reason,
    outcome: result.kind,
    epoch: run.context.note.epoch,
    seq: run.context.note.seq,
    durationMs: run.durationMs,
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
