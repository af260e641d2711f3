/**
 * The one sentence for a write that somebody else's write came before.
 */
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { CommandError } from '../../process/exit-codes.ts';
import { failure } from '../../process/exit-codes.ts';

/** For every command that writes what it read a moment ago. */
export function changedMeanwhile({
  id,
  configVersion,
}: Pick<ClusterRegistration, 'id' | 'configVersion'>): CommandError {
  return failure(
    `${id} was changed by somebody else meanwhile (it was at version ${String(configVersion)}). Nothing was written.`,
    `See what it is now (rollcall cluster show ${id}), then repeat the command.`,
  );
}
