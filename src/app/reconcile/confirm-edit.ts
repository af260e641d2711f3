/**
 * The live DaemonSet before a rollout deletes: is the template still the one that the plan was made for?
 *
 * After an edit or an undo that the view does not show yet, what the plan calls outdated may be current
 * again: an undo half-way must restart no pod that was never replaced (spec 2.10). It is asked after the
 * victims were read, and again before each later batch, so that as little as possible lies between the
 * answer and the deletes; an edit committed after it still meets the batch that is on its way. In doubt
 * nothing of the rollout goes. The generation alone does not tell: an etcd that is restored gives its
 * generations out again (faults row 71).
 */
import { contradictsTemplate } from '../../core/history-match.ts';
import type { DaemonSetObject } from '../../core/model/kubernetes.ts';
import type { DeleteReason } from '../../core/model/plan.ts';
import { revisionData } from '../../core/revisions.ts';
import type { ConfirmedDelete, VictimConfirmation } from './confirm-victims.ts';
import type { DaemonSetConfirmation } from './live-daemon-set.ts';

/** Deletes that are wanted only for the sake of the template. */
const ROLLOUT_REASONS: ReadonlySet<DeleteReason> = new Set(['outdated', 'replaced', 'vacated']);

/** Keeps a rollout's deletes only if the live DaemonSet has the spec that was planned for. */
export function confirmEdit(
  victims: VictimConfirmation,
  live: DaemonSetConfirmation,
  planned: DaemonSetObject,
): VictimConfirmation {
  if (live.kind === 'confirmed' && !isEdited(live.object, planned)) return victims;
  const held = victims.confirmed.filter(isOfRollout).map((victim) => victim.planned);
  const confirmed = victims.confirmed.filter((victim) => !isOfRollout(victim));
  return live.kind === 'unavailable'
    ? { ...victims, confirmed, unreadable: [...victims.unreadable, ...held] }
    : { ...victims, confirmed, dropped: [...victims.dropped, ...held] };
}

/** True if the spec is not the one that was planned for; what one API server alone fills in is no edit. */
export function isEdited(live: DaemonSetObject, planned: DaemonSetObject): boolean {
  if (live.metadata.generation !== planned.metadata.generation) return true;
  return contradictsTemplate(live, revisionData(planned));
}

/** True if only the rollout wants this pod gone. */
export function isOfRollout({ planned }: ConfirmedDelete): boolean {
  return ROLLOUT_REASONS.has(planned.repeats ?? planned.reason);
}
