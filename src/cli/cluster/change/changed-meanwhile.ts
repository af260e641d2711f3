/**
 * The one sentence for a write that somebody else's write came before.
 */
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { CommandError, EXIT } from '../../process/exit-codes.ts';

/** For every command that writes what it read a moment ago. */
export function changedMeanwhile({
  id,
  configVersion,
}: Pick<ClusterRegistration, 'id' | 'configVersion'>): CommandError {
  return new CommandError({
    message: `${id} was changed by somebody else meanwhile (it was at version ${String(configVersion)}). Nothing was written.`,
    remedy: `See what it is now (rollcall cluster show ${id}), then repeat the command.`,
    exitCode: EXIT.failed,
  });
}
