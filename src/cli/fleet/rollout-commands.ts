/**
 * `rollcall fleet status`, and an operator's orders to the rollout of a fleet: pause, resume, approve, undo.
 *
 * They read and write tables, and ask no cluster; the function `fleet` does what an order means with its next turn, within a minute.
 * With `--watch` what comes of it is followed, by two reads a look; clusters are read once, at the end. What an order does is decided
 * in src/app/fleet/rollout.
 */
import { defined } from '@rollcall/base/defined.ts';
import { readStanding } from '../../app/why/standing.ts';
import type { FleetRefusal } from '../../app/fleet/refusals.ts';
import { findFleetRollout } from '../../app/fleet/rollout/find-fleet-rollout.ts';
import { mirrorNotes } from '../../core/fleet/told/fleet-mirror.ts';
import { fleetStatusOf } from '../../app/fleet/rollout/fleet-status.ts';
import type { FleetStatus } from '../../app/fleet/rollout/fleet-status.ts';
import { giveFleetOrder } from '../../app/fleet/rollout/give-fleet-order.ts';
import {
  isAtZero,
  listClusters,
  tallyStages,
  withNotes,
} from '../../app/fleet/rollout/list-clusters.ts';
import type { OrderAsk } from '../../app/orders/keep-order.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import { callerOf } from '../command-line/caller.ts';
import { wholeNumber } from '../command-line/cluster-arguments.ts';
import { choiceOption, defineCommand, numberOption } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
  OptionsOf,
} from '../command-line/command-module.ts';
import { followRollout } from '../command-line/follow-rollout.ts';
import type { FollowedOrder } from '../command-line/follow-rollout.ts';
import { readFreezeIn } from '../command-line/freeze-words.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import type { Stack } from '../reach/stack.ts';
import { FLEET_ARGUMENT, parseFleetKey } from './fleet-arguments.ts';
import { SHOWN_CLUSTERS_MAX, renderFleetStatus } from '../rollout/render-status.ts';
import type { ShownClusters } from '../rollout/render-status.ts';
import { nextOfFleet } from '../../app/rollout/next-of-rollout.ts';
import {
  approveRow,
  orderCommands,
  pauseRow,
  resumeRow,
  undoRow,
  watchOptions,
} from '../rollout/order-commands.ts';
import type { OrderOptions, Ordering } from '../rollout/order-commands.ts';
import { usageError } from '../process/exit-codes.ts';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { applyFleet } from '../../app/fleet/apply-fleet.ts';
import { fleetHistoryOf, readGeneration } from '../../app/fleet/rollout/fleet-generations.ts';
import type { ShownGeneration } from '../../app/fleet/rollout/fleet-generations.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import { renderAge, renderTextTable } from '../command-line/text-table.ts';

/** A day: stages soak for hours. */
const TIMEOUT_SECONDS = 86_400;

const FOLLOW = {
  ...watchOptions('done, halted, held or back', TIMEOUT_SECONDS),
  output: choiceOption('-o, --output <form>', 'wide: every cluster', ['wide']),
};
const UNDO = {
  toGeneration: numberOption(
    '--to-generation <number>',
    'apply that generation again instead: in stages, or at once if it is one of the newest two good ones',
    wholeNumber(1, 'Pass a generation, as rollcall fleet history shows it.'),
  ),
};

type FleetOptions = OrderOptions & OptionsOf<typeof FOLLOW & typeof UNDO>;

const status: CommandModule = defineCommand({
  path: ['fleet', 'status'],
  documents: ['FleetStatus'],
  summary: 'show how the rollout of a FleetDaemonSet stands: stages, gate, why it halted, clusters',
  about: [
    'It tells what the function fleet recorded with its last step, and asks no cluster.',
    'It lists clusters that are not well, the worst first; with -o wide all of them.',
  ],
  exits: {
    held: 'with --watch: the rollout is halted, paused, frozen, invalid or undone',
    timedOut: 'with --watch: the time is up',
    stopped: 'nothing acts now',
  },
  examples: ['fleet status ops/agent', 'fleet status ops/agent --watch'],
  args: [FLEET_ARGUMENT],
  options: FOLLOW,
  run: async ({ args, options }, context) => {
    const key = parseFleetKey(args[0] ?? '');
    return follow({ key, options, stack: await context.openStack(), context });
  },
});

const APPROVE = {
  gate: numberOption(
    '--gate <index>',
    'only if this gate waits, as status shows it',
    wholeNumber(0, 'Pass the number of a gate, as rollcall fleet status shows it.'),
  ),
};

/** `fleet status`, `pause`, `resume`, `approve`, `undo`, in the order of --help. */
export const FLEET_ROLLOUT_COMMANDS: readonly CommandModule[] = [
  status,
  ...orderCommands(
    {
      of: 'fleet',
      refusedIf: 'another generation or halt stands there',
      sample: 'ops/agent',
      args: [FLEET_ARGUMENT],
      options: FOLLOW,
      give: giveOrder,
    },
    [
      pauseRow('open no further stage, and give no further cluster the release', [
        'The pause also holds for later releases. Clusters that have the release go on rolling it out.',
        'The function fleet acts on an order within a minute.',
      ]),
      resumeRow('lift a pause, take an undo back, or overrule a halt', [
        'After an undo it begins with the first stage.',
        'Of a halted rollout it overrules the halt, which takes --why and --yes: clusters that failed before count no more.',
      ]),
      approveRow('let the stage go on that waits for approval', APPROVE, [
        'Windows and budgets still count. Two people who approve at once open one gate.',
      ]),
      undoRow('send every cluster that has this release back to the last good one', UNDO, [
        'All clusters go back at once, and Rollcall refuses the content when it is applied again.',
        'An offline cluster goes back when it returns.',
        'After ReturnFailed, give the order once more to go on.',
      ]),
    ],
  ),
];

async function giveOrder(
  { args, options, ask }: Ordering<OrderAsk, FleetOptions>,
  context: CommandContext,
): Promise<CommandResult> {
  const { toGeneration, watch, output } = options;
  if (toGeneration !== undefined) {
    if (watch !== undefined || output !== undefined) {
      throw usageError(
        '--to-generation applies a generation, and follows nothing.',
        'Leave the other options out, and follow it with: rollcall fleet status --watch',
      );
    }
    return applyGeneration(args, toGeneration, context);
  }
  const key = parseFleetKey(args[0] ?? '');
  const stack = await context.openStack();
  const request = { key, by: await callerOf(context, stack), ask };
  const outcome = await giveFleetOrder(request, stack);
  if (outcome.kind === 'refused') throw errorOf(outcome);
  const given = 'The order stands; the function fleet acts on it within a minute.';
  const order = { outcome, given, isUndo: ask.kind === 'undo' };
  return follow({ key, options, stack, context, order });
}

interface Following {
  readonly key: FleetKey;
  readonly options: FleetOptions;
  readonly stack: Stack;
  readonly context: CommandContext;
  readonly order?: FollowedOrder;
}

/** Tells how it stands: at once, or with --watch at the end. */
async function follow(following: Following): Promise<CommandResult> {
  const { key, options, stack, context, order } = following;
  const look = async (): Promise<FleetStatus | FleetRefusal> => {
    const found = await findFleetRollout(key, stack);
    if (found.kind === 'refused') return found;
    const [standing, freeze] = await Promise.all([readStanding(stack), readFreezeIn(stack)]);
    return fleetStatusOf(found, { standing, freeze, nowMs: stack.clock.nowMs() });
  };
  const { status, exitCode, told, lines } = await followRollout({
    look,
    isWatched: options.watch === true,
    timeoutMs: (options.timeout ?? TIMEOUT_SECONDS) * 1000,
    clock: stack.clock,
    context,
    ...defined({ order }),
  });
  const nowMs = stack.clock.nowMs();
  const seen = { ...status, notes: [...status.notes, ...(await readMirrorNotes(key, stack))] };
  const { shown, all } = await readClusters(seen, stack, options);
  return {
    document: {
      kind: 'FleetStatus',
      ...told,
      ...seen,
      next: nextOfFleet(seen),
      stages: tallyStages(seen.stages, all),
      clusters: [...shown, ...all.slice(shown.length)],
    },
    lines: [...lines, ...renderFleetStatus(seen, { shown, all }, nowMs)],
    exitCode,
  };
}

/** A rollout does not wait for its mirror, nor does its status. */
async function readMirrorNotes(key: FleetKey, { mirrors }: Stack): Promise<readonly string[]> {
  try {
    return mirrorNotes(await mirrors.readMirror(), key);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown error';
    return [`Where it is mirrored cannot be read: ${why}.`];
  }
}

/** All clusters; shown are all of them where that is asked for, else those that are not well, the worst of them. */
async function readClusters(
  { record }: FleetStatus,
  stack: Stack,
  { output }: FleetOptions,
): Promise<ShownClusters> {
  if (record === undefined) return { shown: [], all: [] };
  const all = await listClusters(record, stack);
  const isUnwell = (line: (typeof all)[number]): boolean =>
    isAtZero(line) || !['well', 'returned', 'waiting'].includes(line.phase);
  const lines = output === 'wide' ? all : all.filter(isUnwell).slice(0, SHOWN_CLUSTERS_MAX);
  return { shown: await withNotes(lines, stack.clock.nowMs(), stack), all };
}

/** Applies the document of a generation anew: a generation of its own. */
async function applyGeneration(
  args: readonly string[],
  generation: number,
  context: CommandContext,
): Promise<CommandResult> {
  const key = parseFleetKey(args[0] ?? '');
  const stack = await context.openStack();
  const reader = createFleetReader();
  const found = await readGeneration(key, generation, { ...stack, reader });
  if (found.kind === 'refused') throw errorOf(found);
  const { fleet, document } = found;
  const by = await callerOf(context, stack);
  const application = { fleet, document, by, nowMs: stack.clock.nowMs() };
  const outcome = await applyFleet(application, { ...stack, reader });
  if (outcome.kind === 'refused') throw errorOf(outcome);
  const { kind: result, generation: applied, placedClusters } = outcome;
  const what = `${formatFleetKey(key)} ${
    result === 'unchanged' ? 'is already what' : 'is again what'
  } generation ${String(generation)} was: generation ${String(applied)}.`;
  return {
    document: {
      kind: 'FleetApplied',
      ...key,
      result,
      generation: applied,
      ofGeneration: generation,
      placedClusters,
      leftOut: [],
    },
    lines: [what, `How it goes: rollcall fleet status ${formatFleetKey(key)} --watch`],
  };
}

export const fleetHistoryCommand: CommandModule = defineCommand({
  path: ['fleet', 'history'],
  documents: ['FleetHistory'],
  summary: 'list the kept generations of a FleetDaemonSet, the newest first',
  about: ['Rollcall keeps the last ten, and those that are good or were restored, however old.'],
  examples: ['fleet history ops/agent'],
  args: [FLEET_ARGUMENT],
  run: async ({ args }, context) => {
    const key = parseFleetKey(args[0] ?? '');
    const stack = await context.openStack();
    const found = await findFleetRollout(key, stack);
    if (found.kind === 'refused') throw errorOf(found);
    const generations = fleetHistoryOf(found);
    const nowMs = stack.clock.nowMs();
    return {
      document: { kind: 'FleetHistory', ...key, generations },
      lines: renderTextTable(
        HEADINGS,
        generations.map((one) => rowOf(one, nowMs)),
      ),
    };
  },
});

const HEADINGS = ['GENERATION', 'APPLIED', 'BY', 'CONTENT', 'IS'];

function rowOf(shown: ShownGeneration, nowMs: number): readonly string[] {
  const { generation, appliedAtMs, appliedBy, contentHash, is } = shown;
  const age = `${renderAge(Math.max(0, nowMs - appliedAtMs))} ago`;
  return [String(generation), age, appliedBy, contentHash, is.join(', ')];
}
