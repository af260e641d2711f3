/**
 * The live DaemonSet before pods go for the sake of its template: is that still the one that the plan was made for?
 *
 * After an edit or an undo that the view does not show yet, what the plan calls outdated may be current
 * again: an undo half-way must restart no pod that was never replaced (spec 2.10), and where no pod belonged
 * one may belong by now (S3: the view may show new nodes beside the old DaemonSet). It is asked after the
 * victims were read, and again before each later batch, so that as little as possible lies between the
 * answer and the deletes; an edit committed after the answer comes too late for the batch under way. If it
 * cannot be answered, none of these pods is deleted. Equal generations are not enough: after a restore etcd
 * gives the same generations out again (faults row 71).
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { DeleteReason } from '../../../core/model/plan.ts';
import type { ConfirmedDelete, VictimConfirmation } from './confirm-victims.ts';
import { isEdited } from './live-daemon-set.ts';
import type { DaemonSetConfirmation } from './live-daemon-set.ts';

/** Deletes that are wanted only for the sake of the template. */
const TEMPLATE_REASONS: ReadonlySet<DeleteReason> = new Set([
  'outdated',
  'replaced',
  'vacated',
  'not-wanted',
]);

/** Keeps what goes for the template only if the live DaemonSet has the spec that was planned for. */
export function confirmEdit(
  victims: VictimConfirmation,
  live: DaemonSetConfirmation,
  planned: DaemonSetObject,
): VictimConfirmation {
  if (live.kind === 'confirmed' && !isEdited(live.object, planned)) return victims;
  const held = victims.confirmed.filter(isForTemplate).map((victim) => victim.planned);
  const confirmed = victims.confirmed.filter((victim) => !isForTemplate(victim));
  return live.kind === 'unavailable'
    ? { ...victims, confirmed, unreadable: [...victims.unreadable, ...held] }
    : { ...victims, confirmed, dropped: [...victims.dropped, ...held] };
}

/** True if only the template wants this pod gone: its content, or where it places pods. */
export function isForTemplate({ planned }: ConfirmedDelete): boolean {
  return TEMPLATE_REASONS.has(planned.repeats ?? planned.reason);
}
