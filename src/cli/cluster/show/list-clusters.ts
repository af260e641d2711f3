/**
 * `rollcall cluster list`: every cluster of the stack in one line each; the table of `rollcall get clusters`.
 *
 * Reads tables; asks no cluster anything.
 */
import { defineCommand, type CommandModule } from '../../command-line/command-module.ts';
import { printClusters } from '../../status/cluster-table.ts';
import { LABEL_OPTION } from '../../command-line/cluster-arguments.ts';
import { filterOf, isNothingLeft, lookAtFleet, NOTHING_LEFT } from '../../status/look-at-fleet.ts';

/** The command. */
export const listClustersCommand: CommandModule = defineCommand({
  path: ['cluster', 'list'],
  documents: ['ClusterList'],
  summary: 'list the clusters of the stack, with mode, state, and what is wrong',
  about: [
    'STATE and PODS are those of rollcall get clusters.',
    'A freeze of the whole stack stands above the table; FROZEN then says yes (stack).',
    'NOTE says who froze a cluster and why, and which of its DaemonSets are halted, frozen, or wait for a person.',
  ],
  examples: ['cluster list', 'cluster list --label stage=prod'],
  options: { label: LABEL_OPTION },
  run: async ({ options }, context) => {
    const seen = await lookAtFleet(filterOf(options), await context.openStack());
    const { document, table } = printClusters(seen);
    return { document, lines: isNothingLeft(seen) ? [NOTHING_LEFT] : table(false) };
  },
});
