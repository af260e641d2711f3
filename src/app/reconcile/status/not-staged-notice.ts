/**
 * Tells on a DaemonSet of a copilot cluster that its policy has no effect, because its strategy is RollingUpdate.
 *
 * One Event, remembered by the state's tallies: a state that is lost costs one more. A DaemonSet without the annotation
 * is observed like any other and gets no Event; verdicts say so (core/takeover/opt-in.ts).
 */
import { NOT_STAGED, notStagedEvent } from '../../../core/events/events.ts';
import type { Guard } from '../../../core/model/plan.ts';
import { explainNotFollowed } from '../../../core/takeover/opt-in.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { Subject } from '../run/context.ts';
import type { Ledger } from '../run/ledger.ts';

/** Adds the Event once; answers the access that it is written with, if there is one to write. */
export async function giveNotStagedNotice(input: {
  readonly guard: Guard;
  readonly subject: Pick<Subject, 'state' | 'access'>;
  readonly ledger: Ledger;
}): Promise<ClusterAccess | undefined> {
  const { guard, subject, ledger } = input;
  if (guard.kind !== 'observe' || guard.code !== 'rolling-update') return undefined;
  const isTold = (subject.state.events ?? []).some(({ reason }) => reason === NOT_STAGED);
  if (isTold) return undefined;
  const access = await subject.access.get();
  // A courtesy: without a way in nothing is put off for it, and the next run tries again.
  if (access !== undefined) ledger.events.push(notStagedEvent(explainNotFollowed(guard.code)));
  return access;
}
