/**
 * Tells of a staged rollout what its Events tell, as one metric and one log line each: a step that opens, a halt, the end.
 *
 * For who has no way into the cluster, and for alarms: a halt is a warning whose code is the cause. Told by the run whose
 * record it enters, so once; a run that loses its write may tell it a second time, as with Events.
 */
import { formatKey } from '../../../core/model/identifiers.ts';
import type { Plan } from '../../../core/model/plan.ts';
import type { RunContext } from '../run/context.ts';

const OUTCOMES: Readonly<Record<string, string | undefined>> = {
  RolloutHalted: 'halted',
  RolloutStep: 'opened',
  RolloutComplete: 'complete',
};

/** Logs and counts what a plan tells of its stages. */
export function noteStages(
  { stageEvents, stages }: Pick<Plan, 'stageEvents' | 'stages'>,
  { hint, dependencies }: RunContext,
): void {
  const { metrics, log } = dependencies;
  for (const { reason, message } of stageEvents) {
    const outcome = OUTCOMES[reason];
    if (outcome === undefined || stages === undefined) continue;
    metrics.count('ReconcileStages', { outcome });
    const { hash: revision, breach } = stages.record;
    const fields = { key: formatKey(hint.key), revision, detail: message };
    if (outcome === 'halted' && breach !== undefined) {
      const { cause: code, nodes } = breach;
      log.warn('a rollout is halted', { ...fields, code, nodes: nodes.join(' ') });
    } else log.info('a rollout goes on', { ...fields, code: outcome });
  }
}
