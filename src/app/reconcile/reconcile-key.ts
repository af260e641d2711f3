/** One reconcile for one key (design 3). */
import type { Hint } from '../../core/model/hint.ts';
import type { ReconcileDependencies, ReconcileRun } from './dependencies.ts';
import type { ReconcileResult } from './result.ts';

/**
 * Looks at one DaemonSet of one cluster and does what is left to be done, once.
 *
 * Every result is to be acknowledged: a retryable failure has its timer already. Rejects for bugs and
 * lost dependencies (table or queue) only; the hint must then be redelivered.
 */
export async function reconcileKey(
  _hint: Hint,
  _run: ReconcileRun,
  _dependencies: ReconcileDependencies,
): Promise<ReconcileResult> {
  throw new Error('reconcileKey is being written');
}
