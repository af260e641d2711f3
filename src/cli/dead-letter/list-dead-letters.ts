/**
 * `rollcall dead-letter list`: what was refused or given up, newest last, and what a redrive made of it.
 *
 * Reads records only; bodies are shown with --json alone, because they are somebody else's text.
 */
import { findLetters } from '../../app/redrive/find-letters.ts';
import { formatDeadLetterId, isSenderPartition } from '../../core/hints/dead-letter-place.ts';
import type { KeptDeadLetter } from '../../ports/stores/dead-letter-store.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { plainText, renderAge, renderTextTable } from '../command-line/text-table.ts';
import { declareLetterOptions, filterOf } from './letter-options.ts';
import type { LetterOptions } from './letter-options.ts';

interface ListOptions extends LetterOptions {
  readonly limit: string;
}

/** Of each cluster, and of each sender. */
const LIMIT_DEFAULT = 200;

/** The command. */
export const listDeadLettersCommand: CommandModule = defineCommand<ListOptions>({
  path: ['dead-letter', 'list'],
  summary: 'list messages that were refused or given up',
  configure: (command) => {
    declareLetterOptions(command);
    command
      .option('--unverified', 'only records of senders that nobody vouched for')
      .option(
        '--limit <count>',
        'records looked at of each cluster and sender',
        String(LIMIT_DEFAULT),
      );
  },
  run: async ({ options }, context) => {
    const { deadLetters } = await context.openStack();
    const nowMs = context.clock.nowMs();
    const readMax = Number(options.limit);
    const found = await findLetters(deadLetters, filterOf(options, nowMs), {
      readMax: Number.isSafeInteger(readMax) && readMax > 0 ? readMax : LIMIT_DEFAULT,
    });
    const letters = [...found.letters].sort((left, right) => left.atMs - right.atMs);
    const { unfinished } = found;
    return {
      document: { kind: 'DeadLetterList', letters: letters.map(documentOf), unfinished },
      lines: [
        ...(letters.length === 0
          ? ['No dead letters.']
          : renderTextTable(
              HEADINGS,
              letters.map((letter) => rowOf(letter, nowMs)),
            )),
        ...unfinished.map(
          (partition) =>
            `There are more of ${plainText(partition === '' ? 'nobody known' : partition)}: raise --limit, or pass --since.`,
        ),
      ],
    };
  },
});

const HEADINGS = ['AGE', 'OF', 'QUEUE', 'CODE', 'DETAIL', 'REDRIVEN', 'ID'];

function rowOf(letter: KeptDeadLetter, nowMs: number): string[] {
  const { atMs, queue, code, detail, redrive, claimedCluster, place } = letter;
  const claim = claimedCluster === undefined ? '' : ` (claims ${claimedCluster})`;
  return [
    renderAge(Math.max(0, nowMs - atMs)),
    (place.partition === '' ? '–' : place.partition) + claim,
    queue,
    code,
    detail.slice(0, 60),
    redrive === undefined ? '' : redrive.outcome,
    formatDeadLetterId(place),
  ].map(plainText);
}

function documentOf(letter: KeptDeadLetter): Readonly<Record<string, unknown>> {
  const { place, ...rest } = letter;
  return {
    id: formatDeadLetterId(place),
    isSenderVerified: !isSenderPartition(place.partition),
    ...rest,
  };
}
