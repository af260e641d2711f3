/**
 * `rollcall rollout …`: how the rollout of a DaemonSet stands, and an operator's orders to it.
 *
 * Reads and writes tables, sends one hint; asks no cluster. An order is written before anything is said, and with
 * `--watch` what comes of it is followed. What happened is decided in src/app/rollout.
 */
import { defined } from '@rollcall/base/defined.ts';
import { readStanding } from '../../app/why/standing.ts';
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
import { wholeNumber } from '../command-line/cluster-arguments.ts';
import { defineCommand, flagOption, numberOption } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { followRollout } from '../command-line/follow-rollout.ts';
import type { FollowedOrder } from '../command-line/follow-rollout.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import type { Stack } from '../reach/stack.ts';
import { nextOfRollout } from './next-lines.ts';
import { renderStatus } from './render-status.ts';
import {
  approveRow,
  orderCommands,
  pauseRow,
  resumeRow,
  undoRow,
  watchOptions,
} from './order-commands.ts';
import type { OrderOptions, Ordering } from './order-commands.ts';
import {
  findInStack,
  findSourcesOf,
  parseKey,
  requireKnown,
  sourcesOf,
} from './rollout-sources.ts';

/** An hour: longer than a canary's soak, and no pipeline hangs for ever. */
const TIMEOUT_SECONDS = 3600;

const ARGUMENTS = [
  ['<cluster>', 'id of the cluster'],
  ['<daemonset>', 'namespace/name of the DaemonSet'],
] as const;
const WATCH = watchOptions('done, halted or paused', TIMEOUT_SECONDS);

const status: CommandModule = defineCommand({
  path: ['rollout', 'status'],
  summary: 'how the rollout of a DaemonSet stands: step, gate, evidence, budget',
  args: ARGUMENTS,
  options: {
    ...WATCH,
    generation: numberOption(
      '--generation <number>',
      'of this metadata.generation, or a later one: what is told before is of another rollout',
      wholeNumber(1, 'Pass metadata.generation of the DaemonSet, a whole number from 1.'),
    ),
  },
  run: async ({ args, options }, context) => {
    const { generation } = options;
    const awaited: Awaited =
      generation === undefined ? { kind: 'latest' } : { kind: 'generation', generation };
    const key = parseKey(args);
    return follow({ key, options, awaited, stack: await context.openStack(), context });
  },
});

const BESIDE_FLEET = {
  yes: flagOption(
    '--yes',
    'also where a fleet gave it to these nodes alone, and decides what follows',
  ),
};
const STEP = numberOption(
  '--step <index>',
  'approve this next step ahead of its soak',
  wholeNumber(1, 'Pass the number of a step, as rollcall rollout status shows it.'),
);

/** The commands, in the order of --help. */
export const ROLLOUT_COMMANDS: readonly CommandModule[] = [
  status,
  ...orderCommands({ of: 'rollout', args: ARGUMENTS, options: WATCH, give: order }, [
    pauseRow('let no further step open, until it is resumed'),
    resumeRow('lift a pause, or overrule a halt (--why, --yes): only what happens later counts'),
    approveRow('let the step open that waits for approval', { step: STEP, ...BESIDE_FLEET }),
    {
      kind: 'confirm',
      summary: 'let a held mass removal of pods proceed',
      ask: () => ({ kind: 'confirm' }) as const,
    },
    undoRow(
      'go back to the last good release and refuse this one, or say the command',
      BESIDE_FLEET,
    ),
  ]),
];

async function order(
  { args, options, ask }: Ordering<OrderRequest['ask'], OrderOptions>,
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
  readonly options: OrderOptions;
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
    timeoutMs: (options.timeout ?? TIMEOUT_SECONDS) * 1000,
    clock: stack.clock,
    context,
    ...defined({ order }),
  });
  return {
    document: { kind: 'RolloutStatus', ...told, ...status, next: nextOfRollout(status) },
    lines: [...lines, ...renderStatus(status)],
    exitCode,
  };
}
