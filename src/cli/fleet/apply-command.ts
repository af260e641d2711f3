/**
 * `rollcall fleet apply`: checks a FleetDaemonSet for every cluster where it is placed, and stores it.
 *
 * Before it is stored, the API servers that can be reached from here say whether they would take it (server-check.ts): one that
 * would not refuses the whole; one that cannot be asked does not. `--no-server-check` leaves that out. What is stored the
 * function `fleet` rolls out (docs/fleet.md).
 */
import { counted } from '@rollcall/base/counted.ts';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { applyFleet } from '../../app/fleet/apply-fleet.ts';
import type { AppliedFleet } from '../../app/fleet/apply-fleet.ts';
import { problemsOf } from '../../app/fleet/check/verdict.ts';
import type { ClusterCheck } from '../../app/fleet/check/verdict.ts';
import { gatherClusters } from '../../app/fleet/gather-clusters.ts';
import { refuseFleet } from '../../app/fleet/refusals.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import { planFleet } from '../../core/fleet/plan-fleet.ts';
import { callerOf } from '../command-line/caller.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandContext, CommandModule } from '../command-line/command-module.ts';
import { plainText } from '../command-line/text-table.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import { usageError } from '../process/exit-codes.ts';
import { declareFile, readFleetFile } from './fleet-arguments.ts';
import type { FileOptions } from './fleet-arguments.ts';
import {
  checkDocument,
  checkOnServers,
  declareDryRun,
  isAnyAgainst,
  renderChecks,
} from './server-check.ts';
import type { DryRunOptions } from './server-check.ts';

interface ApplyOptions extends FileOptions, DryRunOptions {
  /** False with `--no-server-check`. */
  readonly serverCheck: boolean;
}

const NEXT =
  'The function fleet rolls it out in stages, from its next turn on: rollcall fleet status';

const APPLIED: Readonly<Record<AppliedFleet['kind'], string>> = {
  created: 'created',
  changed: 'changed',
  unchanged: 'stands so already',
};

/** `fleet apply`. */
export const applyFleetCommand: CommandModule = defineCommand<ApplyOptions>({
  path: ['fleet', 'apply'],
  summary: 'check a FleetDaemonSet for every cluster, and store it',
  interruption: 'orderly',
  configure: (command) => {
    declareFile(command);
    declareDryRun(command, 'check it, ask the API servers that can be reached, and store nothing');
    command.option('--no-server-check', 'store it without asking the API servers');
  },
  run: async ({ options }, context) => {
    const isDryRun = options.dryRun === 'server';
    const { fleet, document, leftOut } = readFile(options);
    const stack = await context.openStack();
    let checks: readonly ClusterCheck[] = [];
    const check = async () => {
      checks = await askClustersOf(fleet, context);
      if (!isAnyAgainst(checks)) return undefined;
      return refuseFleet('not-applicable', fleet, problemsOf(checks));
    };
    const by = isDryRun ? '' : await callerOf(context, stack);
    const outcome = await applyFleet(
      { fleet, document, by, nowMs: stack.clock.nowMs(), isDryRun },
      { ...stack, reader: createFleetReader(), ...(options.serverCheck ? { check } : {}) },
    );
    if (outcome.kind === 'refused') throw errorOf(outcome);
    const { kind: result, generation, placedClusters } = outcome;
    const { namespace, name } = fleet;
    const others = `Not part of it, deliver as before: ${leftOut.join(', ')}`;
    const applied = `generation ${String(generation)}, placed on ${counted(placedClusters, 'cluster')}.`;
    return {
      document: {
        kind: 'FleetApplied',
        namespace,
        name,
        result,
        ...(isDryRun ? { dryRun: 'server' } : {}),
        generation,
        placedClusters,
        leftOut,
        serverCheck: checkDocument(checks),
      },
      lines: [
        `${formatFleetKey(fleet)} ${APPLIED[result]}${isDryRun ? ' (server dry run)' : ''}: ${applied}`,
        ...(checks.length === 0 ? [] : renderChecks(checks)),
        ...(leftOut.length === 0 ? [] : [plainText(others)]),
        isDryRun ? 'Nothing was stored.' : `${NEXT} ${formatFleetKey(fleet)}`,
      ],
    };
  },
});

/** Throws CommandError (2). */
function readFile({
  filename,
  dryRun,
  serverCheck,
}: ApplyOptions): ReturnType<typeof readFleetFile> {
  if (filename === undefined) {
    throw usageError('There is no file to apply.', 'Pass the file of a FleetDaemonSet with -f.');
  }
  if (dryRun === 'server' && !serverCheck) {
    throw usageError(
      '--dry-run=server asks the API servers, and --no-server-check does not.',
      'Leave one of them out; rollcall fleet plan asks no cluster.',
    );
  }
  return readFleetFile(filename);
}

async function askClustersOf(
  fleet: FleetDaemonSet,
  context: CommandContext,
): Promise<readonly ClusterCheck[]> {
  const stack = await context.openStack();
  const { clusters } = await gatherClusters(fleet, stack);
  const plan = planFleet(fleet, clusters, stack.clock.nowMs());
  return checkOnServers({ fleet, plan }, stack, context);
}
