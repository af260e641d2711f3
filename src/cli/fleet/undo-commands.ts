/**
 * `rollcall fleet undo` and `rollcall fleet history`: back to what was proven, or to a generation that is kept.
 *
 * Without a generation it is an order: clusters that have this release go back to the proven one, at once. With one the document of that
 * generation is applied anew: a generation of its own, checked for every cluster and rolled in stages like any other.
 */
import { InvalidArgumentError, Option } from 'commander';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { applyFleet } from '../../app/fleet/apply-fleet.ts';
import { findFleetRollout } from '../../app/fleet/rollout/find-fleet-rollout.ts';
import { fleetHistoryOf, readGeneration } from '../../app/fleet/rollout/fleet-generations.ts';
import type { ShownGeneration } from '../../app/fleet/rollout/fleet-generations.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import { callerOf } from '../command-line/caller.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { renderAge, renderTextTable } from '../command-line/text-table.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import { usageError } from '../process/exit-codes.ts';
import { parseFleetKey } from './fleet-arguments.ts';
import { declareFollowing, giveOrder } from './rollout-commands.ts';
import type { FollowOptions } from './rollout-commands.ts';

interface UndoOptions extends FollowOptions {
  readonly toGeneration?: number;
}

/** `fleet undo`. */
export const undoFleetCommand: CommandModule = defineCommand<UndoOptions>({
  path: ['fleet', 'undo'],
  summary: 'send every cluster that has this release back to the one that was proven before',
  interruption: 'orderly',
  configure: (command) => {
    declareFollowing(command);
    command.addOption(
      new Option(
        '--to-generation <number>',
        'apply that generation anew instead: in stages, or at once if it was good lately',
      ).argParser(parseGeneration),
    );
  },
  run: ({ args, options }, context) => {
    const { toGeneration } = options;
    if (toGeneration === undefined) {
      return giveOrder({ args, options, ask: { kind: 'undo' } }, context);
    }
    if (options.watch !== undefined || options.output !== undefined) {
      throw usageError(
        '--to-generation applies a generation, and follows nothing.',
        'Leave the other options out, and follow it with: rollcall fleet status --watch',
      );
    }
    return applyGeneration(args, toGeneration, context);
  },
});

function parseGeneration(text: string): number {
  const generation = Number(text);
  if (Number.isSafeInteger(generation) && generation > 0) return generation;
  throw new InvalidArgumentError('Pass a generation, as rollcall fleet history shows it.');
}

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

/** `fleet history`. */
export const fleetHistoryCommand: CommandModule = defineCommand<object>({
  path: ['fleet', 'history'],
  summary: 'the generations of a FleetDaemonSet that are kept, the newest first',
  configure: (command) => {
    command.argument('<fleet>', 'namespace/name of the FleetDaemonSet');
  },
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
