/**
 * `rollcall stack stop`: the brake, functions are called no more, and every message waits in its queue; and
 * `rollcall stack resume`: every function is called again, whatever had stopped it.
 *
 * It notes who stopped the stack, and why, for every status (core/status/outages.ts); resume takes that back.
 * By default what acts in clusters stops, `reconcile` and `fleet`: views stay fresh, nothing is created, deleted or changed. With `--all`
 * every function, for a restore of the registry. What runs goes on to its end, 55 s at most, and a schedule may begin one more
 * turn within the minute; queues keep what waits for four days. Either may be repeated.
 */
import { logOrder } from '../../app/log/log-order.ts';
import { stopEntry } from '../../app/log/read-log.ts';
import type { OrderEntry } from '../../core/model/log-entry.ts';
import { withStop, type StopNote } from '../../core/status/outages.ts';
import { shellWord } from '../../core/status/shell-word.ts';
import { freezeNote } from '../../core/may-act/freeze.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';
import { callerOf } from '../command-line/caller.ts';
import { defineCommand, flagOption, textOption } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { parseWhy } from '../command-line/cluster-arguments.ts';
import { plainText } from '../command-line/text-table.ts';
import { failure, refusal, usageError } from '../process/exit-codes.ts';
import { NOT_LOCAL, type Stack } from '../reach/stack.ts';
import { MAPPED_FUNCTIONS, turnTriggers, SCHEDULED_FUNCTIONS, openTriggers } from './triggers.ts';
import type { KnownTrigger, TriggerTurn } from './triggers.ts';

/** The functions that act in clusters: the one by hints, the other by its schedule. */
const ACTING: readonly string[] = ['reconcile', 'fleet'];
const ALL: readonly string[] = [...MAPPED_FUNCTIONS, ...SCHEDULED_FUNCTIONS];

/** `stack stop`. */
export const stopStackCommand: CommandModule = defineCommand({
  path: ['stack', 'stop'],
  documents: ['StackStop'],
  summary: 'stop all functions: clusters stay as they are, and messages wait in their queues',
  about: [
    'It disables the queue of reconcile and the schedule of fleet, and waits until AWS has done so; runs under way end within a minute.',
    'Queues keep messages for four days.',
    'Never set reserved concurrency to 0 instead: a function without it loses its messages.',
    'It notes who stopped the stack and why; every answer tells it until rollcall stack resume.',
  ],
  exits: { refused: '--yes is missing' },
  examples: ['stack stop --why "INC-4711" --yes'],
  interruption: 'orderly',
  options: {
    all: flagOption('--all', 'every function, as for a restore of the registry'),
    why: textOption('--why <text>', 'the reason, which every answer shows (required)'),
    yes: flagOption('--yes', 'confirm that every cluster is meant'),
  },
  run: async ({ options }, context) => {
    const why = parseWhy(options.why ?? '');
    if (why === '') {
      throw usageError('A stop says why it is there.', 'Pass --why "what happened".');
    }
    if (options.yes !== true) throw unconfirmed(why, options.all === true);
    const functions = options.all === true ? ALL : ACTING;
    const stack = await openDeployed(context);
    const note = freezeNote({
      by: await callerOf(context, stack),
      why,
      atMs: context.clock.nowMs(),
    });
    let noted: Noted = { ...note, functions };
    const onListed = async (): Promise<void> => {
      noted = await writeNote(stack.freezes, { ...note, functions });
      if ('lost' in noted) context.say(`! ${noted.lost}`);
    };
    const triggers = await turn({ functions, to: 'Disabled', onListed }, { stack, context });
    await logStack(stopEntry({ ...note, functions }), stack, context);
    return stopResult(functions, noted, triggers);
  },
});

type Noted = StopNote | { readonly lost: string };

function stopResult(
  functions: readonly string[],
  noted: Noted,
  triggers: readonly KnownTrigger[],
): CommandResult {
  return {
    document: {
      kind: 'StackStop',
      ...('lost' in noted ? {} : { note: noted }),
      ...documentOf(triggers),
    },
    lines: [
      `Stopped: ${functions.join(', ')}. What runs ends within two minutes; messages wait in their queues, four days at most.`,
      ...('lost' in noted ? [`! ${noted.lost}`] : []),
      'Go on with: rollcall stack resume',
    ],
  };
}

/** Nothing of AWS calls the functions of an `npm start`: a note of its stop would be untrue, and could not be taken back. */
async function openDeployed(context: CommandContext): Promise<Stack> {
  const stack = await context.openStack();
  if (stack.outputs.FleetScheduleName !== NOT_LOCAL) return stack;
  throw failure(
    'This stack runs inside npm start, where no queue and no schedule of AWS calls a function. Nothing was changed.',
    'End npm start by Ctrl-C, or hold every change: rollcall freeze --yes --why TEXT.',
  );
}

function unconfirmed(why: string, isAll: boolean): Error {
  return refusal(
    'That stops every cluster of the stack: pods of new nodes, replacements and rollouts wait until it is resumed. Nothing was changed.',
    `If that is meant: rollcall stack stop${isAll ? ' --all' : ''} --why ${shellWord(why)} --yes`,
  );
}

/**
 * Once AWS has listed what there is to turn, and before anything is turned: so a stop that is half done is told, too, and one that
 * never reached AWS is not. One that stands keeps who stopped first, and why. The brake
 * needs no table: where the note cannot be written, that is said, and it stops all the same.
 */
async function writeNote(
  freezes: Pick<FreezeStore, 'readStop' | 'writeStop'>,
  note: StopNote,
): Promise<Noted> {
  try {
    const standing = await freezes.readStop();
    const functions = [...new Set([...(standing?.functions ?? []), ...note.functions])];
    const next = { ...(standing ?? note), functions };
    await freezes.writeStop(next);
    return next;
  } catch (error) {
    const reason = plainText(error instanceof Error ? error.message : String(error));
    return {
      lost: `Who stopped it and why could not be noted, and no command will tell: ${reason}`,
    };
  }
}

/** `stack resume`. */
export const resumeStackCommand: CommandModule = defineCommand({
  path: ['stack', 'resume'],
  documents: ['StackResume'],
  summary: 'go on after stack stop',
  about: ['It enables every queue and schedule again, and removes the note of the stop.'],
  examples: ['stack resume'],
  interruption: 'orderly',
  run: async (_invocation, context) => {
    const stack = await openDeployed(context);
    const triggers = await turn({ functions: ALL, to: 'Enabled' }, { stack, context });
    const atMs = context.clock.nowMs();
    const lost = await rememberStop(stack.freezes, atMs);
    if (lost !== undefined) context.say(lost);
    await stack.freezes.writeStop(undefined);
    const by = await callerOf(context, stack);
    const entry = {
      kind: 'order',
      order: 'resume-stack',
      atMs,
      by,
    } as const;
    await logStack(entry, stack, context);
    return {
      document: { kind: 'StackResume', ...documentOf(triggers) },
      lines: [`Every function is called again: ${ALL.join(', ')}.`],
    };
  },
});

/** For coverage, which knows nothing of that time. It holds up no resume: what cannot be noted is said. */
async function rememberStop(freezes: FreezeStore, nowMs: number): Promise<string | undefined> {
  try {
    const stop = await freezes.readStop();
    if (stop === undefined) return undefined;
    await freezes.writeStops(withStop(await freezes.readStops(), [stop.atMs, nowMs]));
    return undefined;
  } catch (error) {
    const reason = plainText(error instanceof Error ? error.message : String(error));
    return `! When the stop began and ended could not be noted; rollcall coverage may count that time as known: ${reason}`;
  }
}

async function logStack(entry: OrderEntry, stack: Stack, context: CommandContext): Promise<void> {
  const lost = await logOrder(stack, { subject: { kind: 'stack' } }, entry);
  if (lost !== undefined) context.say(lost);
}

/** By what they are: queues and rules have other names. */
function documentOf(triggers: readonly KnownTrigger[]) {
  const ofKind = (kind: KnownTrigger['kind']): readonly KnownTrigger[] =>
    triggers.filter((trigger) => trigger.kind === kind);
  return {
    mappings: ofKind('queue').map(({ id, functionName, source, state }) => ({
      ...{ id, functionName, queue: source, state },
    })),
    schedules: ofKind('schedule').map(({ functionName, source, state }) => ({
      ...{ functionName, rule: source, state },
    })),
  };
}

async function turn(
  which: Omit<TriggerTurn, 'stackName'>,
  { stack, context }: { readonly stack: Stack; readonly context: CommandContext },
): Promise<readonly KnownTrigger[]> {
  const { aws, name, outputs, clock } = stack;
  const { environment } = context;
  const control = openTriggers({
    ...{ stackName: name, aws, outputs, clock, environment },
    credentials: () => stack.awsCredentials(),
  });
  try {
    return await turnTriggers(control, { stackName: name, ...which }, context);
  } finally {
    control.close();
  }
}
