/** Which step of a rollout waits for a person. Steps are numbered as they open, the canary being 0. */
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { Approval } from '../policy/rollout-policy.ts';

/** The number of the step that opens next, the canary's being 0; undefined: none is left. */
export function nextStepOf({ step, groups }: RolloutRecord): number | undefined {
  const next = step.index + 1;
  return step.kind === 'done' || next > (groups ?? next) ? undefined : next;
}

/** The next step, where it does not open without an approval. */
export function awaitedApproval(record: RolloutRecord, approval: Approval): number | undefined {
  const next = nextStepOf(record);
  if (next === undefined || !needsApproval(approval, next)) return undefined;
  return (record.orders.approved?.stepIndex ?? -1) >= next ? undefined : next;
}

/** True where a person has to agree before this step opens; the canary opens by itself. */
export function needsApproval(approval: Approval, stepIndex: number): boolean {
  if (approval === 'each-step') return stepIndex > 0;
  return approval === 'after-canary' && stepIndex === 1;
}
