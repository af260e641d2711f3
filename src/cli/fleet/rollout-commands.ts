/**
 * `rollcall fleet status`, and an operator's orders to the rollout of a fleet: pause, resume, approve, undo.
 *
 * They read and write tables, and ask no cluster; the function `fleet` does what an order means with its next turn, within a minute.
 * With `--watch` what comes of it is followed, by two reads a look; clusters are read once, at the end. What an order does is decided
 * in src/app/fleet/rollout.
 */
import { defined } from '@rollcall/base/defined.ts';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { readStanding } from '../../app/explain/standing.ts';
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
import type { OrderAsk } from '../../app/orders/order-home.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import { callerOf } from '../command-line/caller.ts';
import { parseSeconds } from '../command-line/cluster-arguments.ts';
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
import { readFreezeIn } from '../command-line/freeze-words.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import type { Stack } from '../reach/stack.ts';
import { parseFleetKey } from './fleet-arguments.ts';
import { SHOWN_CLUSTERS_MAX, renderFleetStatus } from '../rollout/render-status.ts';
import type { ShownClusters } from '../rollout/render-status.ts';

/** Options of every command that tells how a rollout stands. */
export interface FollowOptions {
  readonly watch?: true;
  readonly timeout?: number;
  readonly output?: 'wide';
}

/** A day: stages soak for hours. */
const TIMEOUT_SECONDS = 86_400;

/** Declares argument and options. */
export function declareFollowing(command: Command): void {
  command
    .argument('<fleet>', 'namespace/name of the FleetDaemonSet')
    .option('--watch', 'go on until it is done, halted, held or back, and say what changes')
    .option(
      '--timeout <seconds>',
      `for --watch: leave with 4 after so long (default: ${String(TIMEOUT_SECONDS)})`,
      parseSeconds,
    )
    .addOption(new Option('-o, --output <form>', 'wide: every cluster').choices(['wide']));
}

const status: CommandModule = defineCommand<FollowOptions>({
  path: ['fleet', 'status'],
  summary: 'how the rollout of a FleetDaemonSet stands: stages, gate, breach, clusters',
  configure: declareFollowing,
  run: async ({ args, options }, context) => {
    const key = parseFleetKey(args[0] ?? '');
    return follow({ key, options, stack: await context.openStack(), context });
  },
});

const pause: CommandModule = defineCommand<FollowOptions>({
  path: ['fleet', 'pause'],
  summary: 'open no further stage, and give no further cluster anything',
  interruption: 'orderly',
  configure: declareFollowing,
  run: ({ args, options }, context) =>
    giveOrder({ args, options, ask: { kind: 'pause' } }, context),
});

const resume: CommandModule = defineCommand<FollowOptions & OverruleOptions>({
  path: ['fleet', 'resume'],
  summary:
    'lift a pause, take an undo back, or overrule a halt (--why, --yes): only what comes later counts',
  interruption: 'orderly',
  configure: (command) => {
    declareFollowing(command);
    declareOverrule(command);
  },
  run: ({ args, options }, context) => {
    const ask = { kind: 'resume', ...parseOverrule(options) } as const;
    return giveOrder({ args, options, ask }, context);
  },
});

const approve: CommandModule = defineCommand<FollowOptions & { readonly gate?: number }>({
  path: ['fleet', 'approve'],
  summary: 'let the stage go on that waits for approval',
  interruption: 'orderly',
  configure: (command) => {
    declareFollowing(command);
    command.option('--gate <index>', 'only if this gate waits, as status shows it', parseGate);
  },
  run: ({ args, options }, context) => {
    const { gate } = options;
    const ask = { kind: 'approve', ...defined({ stepIndex: gate }) } as const;
    return giveOrder({ args, options, ask }, context);
  },
});

function parseGate(text: string): number {
  const gate = Number(text);
  if (/^\d{1,3}$/.test(text)) return gate;
  throw new InvalidArgumentError('Pass the number of a gate, as rollcall fleet status shows it.');
}

/** `fleet status`, `pause`, `resume`, `approve`. */
export const FLEET_ROLLOUT_COMMANDS: readonly CommandModule[] = [status, pause, resume, approve];

/** What is ordered, and how to go on. */
export interface FleetOrdering {
  readonly args: readonly string[];
  readonly options: FollowOptions;
  readonly ask: OrderAsk;
}

/** Gives an order, then tells how it stands. */
export async function giveOrder(
  { args, options, ask }: FleetOrdering,
  context: CommandContext,
): Promise<CommandResult> {
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
  readonly options: FollowOptions;
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
  { output }: FollowOptions,
): Promise<ShownClusters> {
  if (record === undefined) return { shown: [], all: [] };
  const all = await listClusters(record, stack);
  const isUnwell = (line: (typeof all)[number]): boolean =>
    isAtZero(line) || !['well', 'returned', 'waiting'].includes(line.phase);
  const lines = output === 'wide' ? all : all.filter(isUnwell).slice(0, SHOWN_CLUSTERS_MAX);
  return { shown: await withNotes(lines, stack.clock.nowMs(), stack), all };
}
