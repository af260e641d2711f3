/**
 * The live DaemonSet before a rollout deletes: is the template still the one that the plan was made for?
 *
 * After an edit or an undo that the view does not show yet, what the plan calls outdated may be current
 * again: an undo half-way must restart no pod that was never replaced (spec 2.10). It is asked after the
 * victims were read, so that as little as possible lies between the answer and the deletes; an edit
 * committed after it still meets the batch that is on its way. In doubt nothing of the rollout goes.
 */
import type { DeleteReason } from '../../core/model/plan.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import type { ConfirmedDelete, VictimConfirmation } from './confirm-victims.ts';
import type { RunContext, ViewedSubject } from './context.ts';
import type { Ledger } from './ledger.ts';
import { confirmSubject } from './live-daemon-set.ts';

/** Deletes that are wanted only for the sake of the template. */
const ROLLOUT_REASONS: ReadonlySet<DeleteReason> = new Set(['outdated', 'replaced', 'vacated']);

/** What confirming works with. */
export interface EditInput {
  readonly context: RunContext;
  readonly subject: ViewedSubject;
  readonly access: ClusterAccess;
  readonly ledger: Ledger;
}

/** Drops a rollout's deletes unless the live DaemonSet has the generation that was planned for. */
export async function confirmEdit(
  victims: VictimConfirmation,
  input: EditInput,
): Promise<VictimConfirmation> {
  const rolling = victims.confirmed.filter(isOfRollout);
  if (rolling.length === 0) return victims;
  const { subject, ledger } = input;
  const live = await confirmSubject(input);
  const planned = subject.view.daemonSet.metadata.generation;
  if (live.kind === 'confirmed' && live.object.metadata.generation === planned) return victims;
  const held = rolling.map((victim) => victim.planned);
  const confirmed = victims.confirmed.filter((victim) => !isOfRollout(victim));
  if (live.kind === 'unavailable') {
    const { message, retryAfterMs } = live;
    const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
    ledger.add({ code: 'cluster-unavailable', message, pace: 'backoff', ...asked });
    return { ...victims, confirmed, unreadable: [...victims.unreadable, ...held] };
  }
  const message = live.kind === 'changed' ? live.message : 'the DaemonSet was edited meanwhile';
  ledger.add({ code: 'daemon-set-changed', message, pace: 'backoff' });
  return { ...victims, confirmed, dropped: [...victims.dropped, ...held] };
}

function isOfRollout({ planned }: ConfirmedDelete): boolean {
  return ROLLOUT_REASONS.has(planned.repeats ?? planned.reason);
}
