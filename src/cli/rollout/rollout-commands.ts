/**
 * `rollcall rollout …`: how the rollout of a DaemonSet stands, and an operator's orders to it.
 *
 * Reads and writes tables, sends one hint; asks no cluster. An order is written before anything is said, and with
 * `--watch` what comes of it is followed. What happened is decided in src/app/rollout.
 */
import { defined } from '@rollcall/base/defined.ts';
import { readStanding } from '../../app/explain/standing.ts';
import { meantBy, statusOfAwaited } from '../../app/rollout/watch-rollout.ts';
import type { Awaited } from '../../app/rollout/watch-rollout.ts';
import { giveOrder } from '../../app/rollout/give-order.ts';
import type { OrderRequest } from '../../app/rollout/give-order.ts';
import type { RolloutRefusal } from '../../app/rollout/refusals.ts';
import { rolloutStatusOf } from '../../app/rollout/rollout-status.ts';
import type { RolloutStatus } from '../../app/rollout/rollout-status.ts';
import { undoCommand } from '../../app/rollout/undo-command.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import { callerOf } from '../command-line/caller.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { followRollout } from '../command-line/follow-rollout.ts';
import type { FollowedOrder } from '../command-line/follow-rollout.ts';
import { declareOverrule, parseOverrule } from '../command-line/parse-why.ts';
import type { OverruleOptions } from '../command-line/parse-why.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import type { Stack } from '../reach/stack.ts';
import { renderStatus } from './render-status.ts';
import {
  declareRollout,
  parseGeneration,
  parseKey,
  parseStep,
  timeoutMsOf,
} from './rollout-arguments.ts';
import type { RolloutOptions } from './rollout-arguments.ts';
import { findInStack, findSourcesOf, requireKnown, sourcesOf } from './rollout-sources.ts';

/** Of orders that a fleet may have to give. */
interface SureOptions extends RolloutOptions {
  readonly yes?: true;
}

interface ApproveOptions extends SureOptions {
  readonly step?: number;
}

interface StatusOptions extends RolloutOptions {
  readonly generation?: number;
}

const status: CommandModule = defineCommand<StatusOptions>({
  path: ['rollout', 'status'],
  summary: 'how the rollout of a DaemonSet stands: step, gate, evidence, budget',
  configure: (command) => {
    declareRollout(command);
    command.option(
      '--generation <number>',
      'of this metadata.generation, or a later one: what is told before is of another rollout',
      parseGeneration,
    );
  },
  run: async ({ args, options }, context) => {
    const { generation } = options;
    const awaited: Awaited =
      generation === undefined ? { kind: 'latest' } : { kind: 'generation', generation };
    const key = parseKey(args);
    return follow({ key, options, awaited, stack: await context.openStack(), context });
  },
});

const BESIDE_FLEET = 'also where a fleet gave it to these nodes alone, and decides what follows';

const pause = orderCommand('pause', 'let no further step open, until it is resumed');
const resume: CommandModule = defineCommand<RolloutOptions & OverruleOptions>({
  path: ['rollout', 'resume'],
  summary: 'lift a pause, or overrule a halt (--why, --yes): only what happens later counts',
  interruption: 'orderly',
  configure: (command) => {
    declareRollout(command);
    declareOverrule(command);
  },
  run: ({ args, options }, context) => {
    const ask = { kind: 'resume', ...parseOverrule(options) } as const;
    return order({ args, options, ask }, context);
  },
});

const approve: CommandModule = defineCommand<ApproveOptions>({
  path: ['rollout', 'approve'],
  summary: 'let the step open that waits for approval',
  interruption: 'orderly',
  configure: (command) => {
    declareRollout(command);
    command.option('--step <index>', 'approve this next step ahead of its soak', parseStep);
    command.option('--yes', BESIDE_FLEET);
  },
  run: ({ args, options }, context) => {
    const { step: stepIndex } = options;
    const ask = { kind: 'approve', ...(stepIndex === undefined ? {} : { stepIndex }) } as const;
    return order({ args, options, ask }, context);
  },
});

const confirm = orderCommand('confirm', 'let a held mass removal of pods proceed');

const undo: CommandModule = defineCommand<SureOptions>({
  path: ['rollout', 'undo'],
  summary: 'go back to the last good release and refuse this one, or say the command',
  interruption: 'orderly',
  configure: (command) => {
    declareRollout(command);
    command.option('--yes', BESIDE_FLEET);
  },
  run: ({ args, options }, context) => order({ args, options, ask: { kind: 'undo' } }, context),
});

/** The commands, in the order of --help. */
export const ROLLOUT_COMMANDS: readonly CommandModule[] = [
  status,
  pause,
  resume,
  approve,
  confirm,
  undo,
];

function orderCommand(kind: 'pause' | 'confirm', summary: string): CommandModule {
  return defineCommand<RolloutOptions>({
    path: ['rollout', kind],
    summary,
    interruption: 'orderly',
    configure: declareRollout,
    run: ({ args, options }, context) => order({ args, options, ask: { kind } }, context),
  });
}

interface Ordering {
  readonly args: readonly string[];
  readonly options: SureOptions;
  readonly ask: OrderRequest['ask'];
}

async function order(
  { args, options, ask }: Ordering,
  context: CommandContext,
): Promise<CommandResult> {
  const key = parseKey(args);
  const stack = await context.openStack();
  const isSure = options.yes === true;
  const sources = findSourcesOf(stack);
  const request: OrderRequest = {
    key,
    by: await callerOf(context, stack),
    ask,
    isSure,
    undoCommand: (found) => undoCommand(found, { ...sources, ...sourcesOf(stack) }),
  };
  const outcome = await giveOrder(request, { ...stack, ...sources, view: stack.view });
  await requireKnown(outcome, key, stack);
  if (outcome.kind === 'refused') throw errorOf(outcome);
  const given = 'The order stands; the DaemonSet is looked at now.';
  const order = { outcome, given, isUndo: ask.kind === 'undo' };
  return follow({ key, options, awaited: { kind: 'any' }, stack, context, order });
}

interface Following {
  readonly key: DaemonSetKey;
  readonly options: RolloutOptions;
  /** Which rollout is meant. */
  readonly awaited: Awaited;
  readonly stack: Stack;
  readonly context: CommandContext;
  readonly order?: FollowedOrder;
}

/** Tells how it stands: at once, or with --watch at the end. */
async function follow(following: Following): Promise<CommandResult> {
  const { key, options, awaited, stack, context, order } = following;
  const look = async (): Promise<RolloutStatus | RolloutRefusal> => {
    const found = await findInStack(key, stack);
    if (found.kind === 'refused') return found;
    const standing = await readStanding(stack);
    return statusOfAwaited(
      await rolloutStatusOf(found, { ...sourcesOf(stack), standing }),
      awaited,
    );
  };
  const { status, exitCode, told, lines } = await followRollout({
    look,
    isMeant: meantBy(awaited),
    isWatched: options.watch === true,
    timeoutMs: timeoutMsOf(options),
    clock: stack.clock,
    context,
    ...defined({ order }),
  });
  return {
    document: { kind: 'RolloutStatus', ...told, ...status },
    lines: [...lines, ...renderStatus(status)],
    exitCode,
  };
}
