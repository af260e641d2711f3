/** Why somebody freezes something, or overrules a halt: whoever meets it later reads that. */
import { FREEZE_WHY_CHARACTERS_MAX } from '../../core/model/registration.ts';
import { usageError } from '../process/exit-codes.ts';

/** A reason, as it was given. Throws CommandError (2) for one that is too long or more than a line. */
export function parseWhy(text: string): string {
  const why = text.trim();
  if (why.length <= FREEZE_WHY_CHARACTERS_MAX && !/\p{Cc}/u.test(why)) return why;
  throw usageError(
    `--why takes one line of ${String(FREEZE_WHY_CHARACTERS_MAX)} characters at most.`,
    'Say it shorter; a link to an incident does.',
  );
}
