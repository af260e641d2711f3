/**
 * What a staged rollout tells about itself as Events of its DaemonSet: steps that open, breaches, the end (issue 17).
 *
 * Only what changed since the record before is told, so a run that finds nothing new tells nothing.
 */
import type { PlannedEvent } from '../model/plan.ts';
import { NO_OTHER, describeLosses, hasNewLoss } from '../rollout/gate-words.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { SOAKS_LOST_MAX } from '../rollout/soak.ts';
import type { Gate } from '../model/staged-progress.ts';

/** Events of the change from one record to the next. */
export function tellStages(change: {
  readonly before: RolloutRecord | undefined;
  readonly after: RolloutRecord;
  readonly gate: Gate;
}): readonly PlannedEvent[] {
  const { after, gate } = change;
  const before = change.before?.hash === after.hash ? change.before : undefined;
  const held = [
    ...tellBreach(before, after),
    ...tellLosses(before, after, gate),
    ...tellSoaks(before, after),
  ];
  const isFirst = change.before === undefined;
  return isFirst || !hasOpened(before, after, gate)
    ? held
    : [...held, { type: 'Normal', ...wordsOf(after) }];
}

function tellBreach(
  before: RolloutRecord | undefined,
  { breach, hash }: RolloutRecord,
): readonly PlannedEvent[] {
  if (breach === undefined || breach.cause === before?.breach?.cause) return [];
  const message = `Rollout of revision ${hash} halted (${breach.cause}): ${breach.message}`;
  return [{ type: 'Warning', reason: 'RolloutHalted', message }];
}

/** Canary nodes that are not Ready any more, once; and again while no other node can show what they do not. */
function tellLosses(
  before: RolloutRecord | undefined,
  { hash, losses = [], step, breach }: RolloutRecord,
  gate: Gate,
): readonly PlannedEvent[] {
  if (step.kind !== 'canary' || breach !== undefined) return [];
  const isStuck = gate.kind === 'lost' && gate.addsAtMs === undefined;
  const isNew = hasNewLoss(before?.losses ?? [], losses);
  if (!isNew && !isStuck) return [];
  const about = `Rollout of revision ${hash} is held on its canary: ${describeLosses(losses)}`;
  const message = isStuck ? `${about}; ${NO_OTHER}` : about;
  const event = { type: 'Warning', reason: 'RolloutCanaryLost', message } as const;
  return [isNew ? event : { ...event, isStanding: true }];
}

/** A soak that was begun anew so often that nobody should wait for it, once a step. */
function tellSoaks(
  before: RolloutRecord | undefined,
  { hash, step, breach }: RolloutRecord,
): readonly PlannedEvent[] {
  const { soaksLost = 0 } = step;
  const isNew = (before?.step.soaksLost ?? 0) < SOAKS_LOST_MAX && soaksLost >= SOAKS_LOST_MAX;
  if (!isNew || breach !== undefined) return [];
  const which = step.kind === 'canary' ? 'its canary' : `step ${String(step.index)}`;
  const message = `Rollout of revision ${hash} gets no further: the soak of ${which} was begun anew ${String(soaksLost)} times`;
  return [{ type: 'Warning', reason: 'RolloutSoakLost', message }];
}

/** True if another step is open than before; a return to what all nodes run already is nothing to tell. */
function hasOpened(
  before: RolloutRecord | undefined,
  { step }: RolloutRecord,
  gate: Gate,
): boolean {
  if (step.kind === 'waiting') return false;
  if (before === undefined) return step.kind !== 'done' || gate.kind === 'updating';
  return before.step.kind !== step.kind || before.step.name !== step.name;
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
      const how = isReturn ? 'goes back to a good release on all nodes' : 'has passed all steps';
      return { reason: 'RolloutComplete', message: `Rollout of revision ${hash} ${how}` };
    }
  }
}
