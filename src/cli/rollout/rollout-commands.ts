/**
 * `rollcall rollout …`: how the rollout of a DaemonSet stands, and an operator's orders to it.
 *
 * Reads and writes tables, sends one hint; asks no cluster. An order is written before anything is said, and with
 * `--watch` what comes of it is followed. What happened is decided in src/app/rollout.
 */
import { defined } from '@rollcall/base/defined.ts';
import { Option } from 'commander';
import type { Command } from 'commander';
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
import { errorOf } from '../command-line/refusal-error.ts';
import type { Stack } from '../reach/stack.ts';
import { renderStatus } from './render-status.ts';
import {
  approveRow,
  declareWatch,
  numberOption,
  orderCommands,
  pauseRow,
  resumeRow,
  undoRow,
} from './order-commands.ts';
import type { FollowOptions, OrderOptions, Ordering } from './order-commands.ts';
import {
  findInStack,
  findSourcesOf,
  parseKey,
  requireKnown,
  sourcesOf,
} from './rollout-sources.ts';

interface StatusOptions extends FollowOptions {
  readonly generation?: number;
}

/** An hour: longer than a canary's soak, and no pipeline hangs for ever. */
const TIMEOUT_SECONDS = 3600;

function declareRollout(command: Command): void {
  command
    .argument('<cluster>', 'id of the cluster')
    .argument('<daemonset>', 'namespace/name of the DaemonSet');
  declareWatch(command, { until: 'done, halted or paused', timeoutSeconds: TIMEOUT_SECONDS });
}

const status: CommandModule = defineCommand<StatusOptions>({
  path: ['rollout', 'status'],
  summary: 'how the rollout of a DaemonSet stands: step, gate, evidence, budget',
  configure: (command) => {
    declareRollout(command);
    command.addOption(
      numberOption(
        '--generation <number>',
        'of this metadata.generation, or a later one: what is told before is of another rollout',
        {
          min: 1,
          otherwise: 'Pass metadata.generation of the DaemonSet, a whole number from 1.',
        },
      ),
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

const BESIDE_FLEET = new Option(
  '--yes',
  'also where a fleet gave it to these nodes alone, and decides what follows',
);
const STEP = numberOption('--step <index>', 'approve this next step ahead of its soak', {
  min: 1,
  otherwise: 'Pass the number of a step, as rollcall rollout status shows it.',
});

/** The commands, in the order of --help. */
export const ROLLOUT_COMMANDS: readonly CommandModule[] = [
  status,
  ...orderCommands({ of: 'rollout', declare: declareRollout, give: order }, [
    pauseRow('let no further step open, until it is resumed'),
    resumeRow('lift a pause, or overrule a halt (--why, --yes): only what happens later counts'),
    approveRow('let the step open that waits for approval', [STEP, BESIDE_FLEET]),
    {
      kind: 'confirm',
      summary: 'let a held mass removal of pods proceed',
      ask: () => ({ kind: 'confirm' }) as const,
    },
    undoRow('go back to the last good release and refuse this one, or say the command', [
      BESIDE_FLEET,
    ]),
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
  readonly options: FollowOptions;
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
    document: { kind: 'RolloutStatus', ...told, ...status },
    lines: [...lines, ...renderStatus(status)],
    exitCode,
  };
}
