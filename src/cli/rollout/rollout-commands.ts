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
import { nextOfRollout } from '../../app/rollout/next-of-rollout.ts';
import { renderStatus } from './render-status.ts';
import {
  WATCH_EXITS,
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
  documents: ['RolloutStatus'],
  summary: 'show how the rollout of a DaemonSet stands: step, gate, evidence, budget',
  about: [
    'Without a rollout policy it tells what kubectl rollout status tells.',
    'It reads tables, and asks no cluster.',
    'The watcher may not have reported a change of the last seconds.',
    'So --watch accepts an end only after a newer report, or after ten seconds; pass --generation to name the change exactly.',
    'Where the rollout is halted or waits for a person, it ends with the commands that go on.',
  ],
  exits: WATCH_EXITS,
  examples: [
    'rollout status prod-eu-1 ops/agent',
    'rollout status prod-eu-1 ops/agent --watch --generation 7',
  ],
  args: ARGUMENTS,
  options: {
    ...WATCH,
    generation: numberOption(
      '--generation <number>',
      'wait for this metadata.generation of the DaemonSet, or a later one',
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
  yes: flagOption('--yes', 'confirm the order although a fleet holds the rollout'),
};
const STEP = numberOption(
  '--step <index>',
  'approve this next step before its soak is over',
  wholeNumber(1, 'Pass the number of a step, as rollcall rollout status shows it.'),
);

/** The commands, in the order of --help. */
export const ROLLOUT_COMMANDS: readonly CommandModule[] = [
  status,
  ...orderCommands(
    {
      of: 'rollout',
      refusedIf:
        'another revision or halt stands there, the cluster is in mode observe, or a fleet holds the rollout',
      sample: 'prod-eu-1 ops/agent',
      args: ARGUMENTS,
      options: WATCH,
      give: order,
    },
    [
      pauseRow('open no further step until the rollout is resumed', [
        'Rollcall finishes what it is replacing now. The pause also holds for later revisions.',
      ]),
      resumeRow('lift a pause, take an undo back, or overrule a halt', [
        'Of a halted rollout it overrules the halt, which takes --why and --yes: only later failures count, and the soak begins anew.',
        'It does not overrule a policy that says paused: true.',
      ]),
      approveRow('open the step that waits for approval', { step: STEP, ...BESIDE_FLEET }, [
        'Window and budget still count. Two people who approve at once open one step.',
      ]),
      {
        kind: 'confirm',
        summary: 'let a held removal of many pods proceed',
        about: ['rollcall rollout status shows the removal and its cause. It needs no policy.'],
        ask: () => ({ kind: 'confirm' }) as const,
      },
      undoRow('go back to the last good release, and refuse this one', BESIDE_FLEET, [
        'In takeover Rollcall goes back by itself, also while the rollout is paused.',
        'In copilot the order holds the rollout, and the command prints the kubectl rollout undo to run.',
        'Rollcall refuses the undone revision when it is applied again, until you resume it.',
      ]),
    ],
  ),
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
