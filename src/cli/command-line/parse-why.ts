/** Why somebody freezes something, or overrules a halt: whoever meets it later reads that. */
import { defined } from '@rollcall/base/defined.ts';
import type { Command } from 'commander';
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

/** Options of a resume, which overrules a halt with both. */
export interface OverruleOptions {
  readonly why?: string;
  readonly yes?: true;
}

/** Declares them. */
export function declareOverrule(command: Command): void {
  command
    .option('--why <text>', 'of a halt: why it may go on (required there)')
    .option(
      '--yes',
      'confirm: of a halt that it is overruled, of a rollout that a fleet holds (required there)',
    );
}

/** What a resume may overrule, and why. Throws CommandError (2). */
export function parseOverrule({ why, yes }: OverruleOptions): { readonly overrules?: string } {
  const reason = parseWhy(why ?? '');
  return defined({ overrules: yes === true && reason !== '' ? reason : undefined });
}
