/**
 * `rollcall dead-letter redrive`: does for dead letters what can be done, and notes it on their records.
 *
 * What that is, src/app/redrive decides; a body is never sent again. With `--waiting` it moves messages
 * that still stand in a dead-letter queue instead, because the function that takes them is down.
 */
import { counted } from '@rollcall/base/counted.ts';
import { findLetters } from '../../app/redrive/find-letters.ts';
import { isSettled, redriveLetter } from '../../app/redrive/redrive-letter.ts';
import type { RedriveOptions, RedriveOutcome } from '../../app/redrive/redrive-letter.ts';
import { moveDeadLetters } from '../../adapters/sqs/dead-letter-mover.ts';
import { readLostKey } from '../../adapters/sqs/schema/hint-codec.ts';
import { formatDeadLetterId, parseDeadLetterId } from '../../core/hints/dead-letter-place.ts';
import type { KeptDeadLetter } from '../../ports/stores/dead-letter-store.ts';
import type { DeadLetterMove } from '../../adapters/sqs/dead-letter-mover.ts';
import { callerOf } from '../command-line/caller.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { plainText } from '../command-line/text-table.ts';
import { EXIT, failure, usageError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { declareLetterOptions, filterOf } from './letter-options.ts';
import type { LetterOptions } from './letter-options.ts';

interface RedriveCommandOptions extends LetterOptions {
  readonly all?: true;
  readonly again?: true;
  readonly delete?: true;
  readonly waiting?: string;
}

/** More in one go have to share a few lanes, so that they take no room from other clusters (L3). */
const CROWD_LETTERS_MIN = 51;
/** Of each partition, in one go. */
const READ_MAX = 10_000;

/** The command. */
export const redriveDeadLettersCommand: CommandModule = defineCommand<RedriveCommandOptions>({
  path: ['dead-letter', 'redrive'],
  summary: 'look again at what dead letters were about, or move what waits in a dead-letter queue',
  interruption: 'orderly',
  configure: (command) => {
    command.argument('[id]', 'one record, as dead-letter list shows it');
    declareLetterOptions(command);
    command
      .option('--all', 'records of all clusters')
      .option('--again', 'also records that were redriven before')
      .option('--delete', 'remove the records instead of noting it on them')
      .option(
        '--waiting <queue>',
        'move what waits in the dead-letter queue of reconcile or delay',
      );
  },
  run: async ({ args: [id], options }, context) => {
    const stack = await context.openStack();
    if (options.waiting !== undefined) return moveWaiting(stack, options.waiting);
    const letters = await chooseLetters({ id, options }, { stack, context });
    return redriveAll(letters, { stack, context, options });
  },
});

async function chooseLetters(
  { id, options }: { readonly id: string | undefined; readonly options: RedriveCommandOptions },
  { stack, context }: { readonly stack: Stack; readonly context: CommandContext },
): Promise<readonly KeptDeadLetter[]> {
  const { deadLetters } = stack;
  if (id !== undefined) {
    const place = parseDeadLetterId(id);
    const letter = place === undefined ? undefined : await deadLetters.read(place);
    if (letter !== undefined) return [letter];
    throw failure(
      `There is no dead letter ${plainText(id)}.`,
      'List them with: rollcall dead-letter list. Ids may need quotes.',
    );
  }
  const isNarrowed = [options.cluster, options.code, options.queue].some(
    (one) => one !== undefined,
  );
  if (!isNarrowed && options.all !== true) {
    throw usageError(
      'Nothing says which dead letters are meant.',
      'Pass an id, --cluster, --code or --queue, or --all.',
    );
  }
  const filter = filterOf(options, context.clock.nowMs());
  const of = filter.of === 'all' ? 'verified' : filter.of;
  const found = await findLetters(deadLetters, { ...filter, of }, { readMax: READ_MAX });
  for (const partition of found.unfinished) {
    context.say(`${plainText(partition)} has more than ${READ_MAX} records: run this again.`);
  }
  return found.letters.filter(({ redrive }) => redrive === undefined || options.again === true);
}

interface Redriven {
  readonly id: string;
  readonly outcome: RedriveOutcome;
}

async function redriveAll(
  letters: readonly KeptDeadLetter[],
  scope: {
    readonly stack: Stack;
    readonly context: CommandContext;
    readonly options: RedriveCommandOptions;
  },
): Promise<CommandResult> {
  const { stack, context, options } = scope;
  const { registry, view, clock, deadLetters, hints: queue } = stack;
  const how: RedriveOptions = {
    by: await callerOf(context, stack),
    redriveId: stack.random.uniqueId(),
    afterwards: options.delete === true ? 'remove' : 'note',
    pace: letters.length >= CROWD_LETTERS_MIN ? 'suspect' : 'usual',
  };
  const redriven: Redriven[] = [];
  for (const letter of letters) {
    if (context.signal.aborted) break;
    const dependencies = { letters: deadLetters, registry, view, queue, clock, readLostKey };
    const outcome = await redriveLetter(letter, how, dependencies);
    redriven.push({ id: formatDeadLetterId(letter.place), outcome });
  }
  return present(redriven, letters.length);
}

function present(redriven: readonly Redriven[], chosen: number): CommandResult {
  const counts = new Map<RedriveOutcome, number>();
  for (const { outcome } of redriven) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const isAllSettled = redriven.every(({ outcome }) => isSettled(outcome));
  const isWhole = redriven.length === chosen;
  return {
    document: { kind: 'DeadLetterRedrive', chosen, redriven },
    lines: [
      ...(chosen === 0 ? ['No dead letters to redrive.'] : []),
      ...[...counts].map(([outcome, count]) => `${count} × ${outcome}: ${MEANINGS[outcome]}`),
      ...(isWhole ? [] : [`Interrupted: ${chosen - redriven.length} were not looked at.`]),
    ],
    exitCode: isAllSettled && isWhole ? EXIT.ok : EXIT.failed,
  };
}

const MEANINGS: Readonly<Record<RedriveOutcome, string>> = {
  'hint-sent': 'the DaemonSet is looked at now',
  'snapshot-needed': 'the view waits for a snapshot; resync asks for one within a minute',
  'unverified-sender': 'never: nobody vouched for the sender',
  unreadable: 'what it was about cannot be read; look at it with dead-letter list --json',
  'unknown-cluster': 'its cluster is not registered any more',
  'other-cluster-uid': 'it is of another incarnation of the cluster; see rollcall cluster doctor',
  repaired: 'a later snapshot has repaired the view; nothing to do',
  'never-heard': 'nothing was ever heard of the cluster; its first message leads to a snapshot',
  'snapshot-awaited': 'the view waits for a snapshot already; nothing more to do',
  'renewed-by-cluster': 'the CronJob of the cluster sends a new token at its next run',
};

async function moveWaiting({ sqs, outputs }: Stack, queue: string): Promise<CommandResult> {
  const result = await moveDeadLetters(sqs, movableQueue(queue, outputs));
  const lines = {
    started: () =>
      `SQS moves about ${counted('waiting' in result ? result.waiting : 0, 'message')} now.`,
    moved: () => `Moved ${counted('moved' in result ? result.moved : 0, 'message')}.`,
    empty: () => 'Nothing waits there.',
  };
  return {
    document: { ...result, kind: 'DeadLetterMove', queue, result: result.kind },
    lines: [lines[result.kind]()],
  };
}

function movableQueue(name: string, outputs: Stack['outputs']): DeadLetterMove {
  if (name === 'reconcile') {
    const deadLetterUrl = outputs.ReconcileDeadLetterQueueUrl;
    return { deadLetterUrl, sourceUrl: outputs.ReconcileQueueUrl };
  }
  if (name === 'delay') {
    return { deadLetterUrl: outputs.DelayDeadLetterQueueUrl, sourceUrl: outputs.DelayQueueUrl };
  }
  throw usageError(
    `What waits for ${plainText(name)} cannot be moved.`,
    'Only reconcile and delay can. Events and tokens would come from another sender: the function dead-letter takes them when it runs again.',
  );
}
