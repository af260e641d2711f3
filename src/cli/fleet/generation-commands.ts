/**
 * `rollcall fleet history`, and what `rollcall fleet undo --to-generation` applies.
 *
 * The document of that generation is checked for every cluster and rolled in stages like any other.
 */
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
import { parseFleetKey } from './fleet-arguments.ts';

/** Applies the document of a generation anew: a generation of its own. */
export async function applyGeneration(
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
