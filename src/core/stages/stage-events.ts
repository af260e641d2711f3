/**
 * What a staged rollout tells about itself as Events of its DaemonSet: steps that open, breaches, the end (issue 17).
 *
 * Only what changed since the record before is told, so a run that finds nothing new tells nothing.
 */
import type { PlannedEvent } from '../model/plan.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { Gate } from '../model/staged-progress.ts';

/** Events of the change from one record to the next. */
export function tellStages(change: {
  readonly before: RolloutRecord | undefined;
  readonly after: RolloutRecord;
  readonly gate: Gate;
}): readonly PlannedEvent[] {
  const { after } = change;
  const before = change.before?.hash === after.hash ? change.before : undefined;
  const events: PlannedEvent[] = [];
  if (after.breach !== undefined && after.breach.cause !== before?.breach?.cause) {
    const { cause, message } = after.breach;
    const text = `Rollout of revision ${after.hash} halted (${cause}): ${message}`;
    events.push({ type: 'Warning', reason: 'RolloutHalted', message: text });
  }
  if (change.before === undefined) return events;
  const { step } = after;
  // A return to what all nodes run already is nothing to tell.
  if (before === undefined && step.kind === 'done' && change.gate.kind !== 'updating')
    return events;
  const isSame = before?.step.kind === step.kind && before.step.name === step.name;
  if (isSame || step.kind === 'waiting') return events;
  events.push({ type: 'Normal', ...wordsOf(after) });
  return events;
}

function wordsOf({
  step,
  hash,
  canary,
  isReturn,
}: RolloutRecord): Pick<PlannedEvent, 'reason' | 'message'> {
  switch (step.kind) {
    case 'waiting':
    case 'canary': {
      const message = `Rollout of revision ${hash} begins with ${canary.length} canary node(s)`;
      return { reason: 'RolloutStep', message };
    }
    case 'group': {
      const name = step.name === '' ? '' : ` ${step.name}`;
      return {
        reason: 'RolloutStep',
        message: `Rollout of revision ${hash} opens step ${step.index}${name}`,
      };
    }
    case 'done': {
      const how = isReturn ? 'goes back to a proven revision on all nodes' : 'has passed all steps';
      return { reason: 'RolloutComplete', message: `Rollout of revision ${hash} ${how}` };
    }
  }
}
