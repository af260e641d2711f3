/**
 * Tells of a staged rollout what its Events tell, as one metric and one log line each: a step that opens, a halt, a canary that was lost,
 * a soak that does not end, the end, a policy that cannot be read.
 *
 * For who has no way into the cluster, and for alarms: a halt is a warning whose code is the cause. Told by the run whose
 * record it enters, so once; a run that loses its write may tell it a second time, as with Events. An invalid policy enters no
 * record: each run that plans says it, which those do not that find nothing new.
 */
import { formatKey } from '../../../core/model/identifiers.ts';
import type { Plan } from '../../../core/model/plan.ts';
import type { RunContext } from '../run/context.ts';

const OUTCOMES: Readonly<Record<string, string | undefined>> = {
  RolloutHalted: 'halted',
  RolloutStep: 'opened',
  RolloutCanaryLost: 'lost',
  RolloutSoakLost: 'soak-lost',
  RolloutComplete: 'complete',
  InvalidRolloutPolicy: 'invalid',
};

/** Logs and counts what a plan tells of its stages. */
export function noteStages(
  { stageEvents, stages }: Pick<Plan, 'stageEvents' | 'stages'>,
  { hint, dependencies }: RunContext,
): void {
  const { metrics, log } = dependencies;
  for (const { reason, message, isStanding } of stageEvents) {
    const outcome = OUTCOMES[reason];
    // What stands was told when it came; only of a policy no record says whether it was.
    if (outcome === undefined || (isStanding === true && stages !== undefined)) continue;
    metrics.count('ReconcileStages', { outcome });
    const told = { key: formatKey(hint.key), detail: message };
    if (stages === undefined) {
      log.warn('a rollout is held by its policy', { ...told, code: 'policy-invalid' });
      continue;
    }
    const { hash: revision, breach } = stages.record;
    const fields = { ...told, revision };
    if (outcome === 'halted' && breach !== undefined) {
      const { cause: code, nodes } = breach;
      log.warn('a rollout is halted', { ...fields, code, nodes: nodes.join(' ') });
    } else if (outcome === 'lost')
      log.warn('a rollout is held by its canary', { ...fields, code: outcome });
    else log.info('a rollout goes on', { ...fields, code: outcome });
  }
}
