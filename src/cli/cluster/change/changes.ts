/**
 * What the commands that change a registration share: their table, and the two refusals that all have.
 *
 * A move's order of writes is all that keeps two stacks from writing at once (ADR 0027), and its repeat
 * believes the labels: freeze, mode and registration are the move's until it ends.
 */
import type { FieldChange } from '../../../app/clusters/edit-registration.ts';
import { readMoveLabels } from '../../../app/clusters/move-labels.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { renderTextTable } from '../../command-line/text-table.ts';
import { failure, refusal } from '../../process/exit-codes.ts';
import type { CommandError } from '../../process/exit-codes.ts';

/** What was, or would be, changed. */
export function renderChanges(changes: readonly FieldChange[]): readonly string[] {
  const rows = changes.map(({ field, before, after }) => [field, before || '-', after || '-']);
  return renderTextTable(['FIELD', 'BEFORE', 'AFTER'], rows);
}

/** For every command that writes what it read a moment ago: somebody else's write came before. */
export function changedMeanwhile({
  id,
  configVersion,
}: Pick<ClusterRegistration, 'id' | 'configVersion'>): CommandError {
  return failure(
    `${id} was changed by somebody else meanwhile (it was at version ${String(configVersion)}). Nothing was written.`,
    `See what it is now (rollcall cluster show ${id}), then repeat the command.`,
  );
}

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
