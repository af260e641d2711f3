/**
 * `rollcall dead-letter prune`: removes old records.
 *
 * Nothing removes them otherwise: they are for people, and a person decides when they were looked at.
 */
import { counted } from '@rollcall/base/counted.ts';
import { findLetters } from '../../app/redrive/find-letters.ts';
import type { KeptDeadLetter } from '../../ports/stores/dead-letter-store.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { declareLetterOptions, filterOf, parseDuration } from './letter-options.ts';
import type { LetterOptions } from './letter-options.ts';

interface PruneOptions extends Omit<LetterOptions, 'since'> {
  readonly olderThan: number;
}

const READ_MAX = 100_000;
const AT_ONCE = 16;

/** The command. */
export const pruneDeadLettersCommand: CommandModule = defineCommand<PruneOptions>({
  path: ['dead-letter', 'prune'],
  summary: 'remove old records of dead letters',
  interruption: 'orderly',
  configure: (command) => {
    command.requiredOption('--older-than <duration>', 'e.g. 30d', parseDuration);
    declareLetterOptions(command);
    command.option('--unverified', 'only records of senders that nobody vouched for');
  },
  run: async ({ options }, context) => {
    const { deadLetters } = await context.openStack();
    const nowMs = context.clock.nowMs();
    const found = await findLetters(deadLetters, filterOf(options, nowMs), { readMax: READ_MAX });
    const old = found.letters.filter(({ atMs }) => nowMs - atMs > options.olderThan);
    let removed = 0;
    for (let start = 0; start < old.length && !context.signal.aborted; start += AT_ONCE) {
      const batch: readonly KeptDeadLetter[] = old.slice(start, start + AT_ONCE);
      await Promise.all(batch.map(({ place }) => deadLetters.remove(place)));
      removed += batch.length;
    }
    if (found.unfinished.length > 0) context.say('There are more records than one run looks at.');
    return {
      document: { kind: 'DeadLetterPrune', removed, kept: found.letters.length - removed },
      lines: [
        `Removed ${counted(removed, 'record')}; ${counted(found.letters.length - removed, 'is', 'are')} kept.`,
      ],
    };
  },
});
