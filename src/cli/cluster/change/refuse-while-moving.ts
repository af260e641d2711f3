/**
 * What no other command may do with a cluster that is being moved: lift its freeze, change its mode, forget it.
 *
 * The move's order of writes is all that keeps two stacks from writing at once (ADR 0027), and its repeat
 * believes the labels.
 */
import { readMoveLabels } from '../../../app/clusters/move-labels.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { refusal } from '../../process/exit-codes.ts';

/** Throws CommandError (3) if a move of the cluster is under way. */
export function refuseWhileMoving(registration: ClusterRegistration): void {
  const { to, from } = readMoveLabels(registration);
  const other = to ?? from;
  if (other === undefined) return;
  const between = to === undefined ? `from ${other} to here` : `from here to ${other}`;
  throw refusal(
    `${registration.id} is being moved ${between}: freeze, mode and registration are the move’s until it ends.`,
    'Go on with it (rollcall cluster move), or call it back (--back).',
  );
}
