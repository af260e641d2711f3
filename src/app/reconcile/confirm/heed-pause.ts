/**
 * Is the DaemonSet paused, because somebody else wrote its status (ADR 0012)? While it is, a run only observes; once the
 * time is over, the first run that may act looks at it live: whoever wrote again meanwhile has it paused for longer.
 */
import type { Guard } from '../../../core/model/plan.ts';
import { guardOfPause } from '../../../core/status/status-writers.ts';
import type { Judgement } from '../live/guard.ts';
import type { RunContext, Subject } from '../run/context.ts';
import { confirmSubject } from './live-daemon-set.ts';

/** A judgement as it stands once the pause was looked at: who would not act anyway need not look. */
export async function heedPause(
  judgement: Judgement,
  subject: Subject,
  context: RunContext,
): Promise<Judgement> {
  const { basis, state, nowMs } = subject;
  if (judgement.kind !== 'judged' || judgement.guard.kind !== 'act') return judgement;
  if (state.paused === undefined) return judgement;
  const held = guardOfPause(state.paused, basis.registration, nowMs);
  if (held !== undefined) return observed(judgement, held);
  const access = await subject.access.get();
  if (access === undefined) return { kind: 'unavailable', message: 'no access' };
  const live = await confirmSubject({ context, subject, access });
  if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
  const again = guardOfPause(context.note.paused, basis.registration, nowMs);
  return again === undefined ? judgement : observed(judgement, again);
}

/** What waits for own writes to be seen would tell a status meanwhile: the counters are the other one's now. */
function observed(
  { waiting: _waiting, ...judgement }: Extract<Judgement, { kind: 'judged' }>,
  guard: Guard,
): Judgement {
  return { ...judgement, guard };
}
