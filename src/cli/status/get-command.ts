/**
 * `rollcall get`: clusters, DaemonSets, rollouts, fleets and nodes as tables, each with a STATE.
 *
 * By the same look as `rollcall status`: reads tables, asks no cluster.
 */
import { findingsBySubject, isTold, stateOfSet } from '../../core/status/health/fleet-health.ts';
import type { FleetHealth } from '../../core/status/health/health-facts.ts';
import type { GatheredCluster } from '../../app/status/gather-fleet.ts';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';
import { standstillOf, type Outage } from '../../core/status/outages.ts';
import { phasePiece, type Piece } from '../command-line/colour.ts';
import { defineCommand, textOption } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { linesIn, OUTPUT_OPTION, type Printable } from '../command-line/output-form.ts';
import { renderTextTable } from '../command-line/text-table.ts';
import { usageError } from '../process/exit-codes.ts';
import { printClusters, statePiece } from './cluster-table.ts';
import { FILTER_OPTIONS, filterOf, lookAtNodes, lookAtSome } from './look-at-fleet.ts';
import type { SeenFleet } from './look-at-fleet.ts';
import { printNodes } from './node-table.ts';
import type { FleetFilter } from '../../app/status/fleet-look.ts';
import type { Stack } from '../reach/stack.ts';
import { defined } from '@rollcall/base/defined.ts';
import { parseNamespacedName } from '../command-line/cluster-arguments.ts';

type Document = CommandResult['document'];
type Printed = Printable & { readonly document: Document };

interface Asked {
  readonly filter: FleetFilter;
  readonly daemonset: string | undefined;
}

const TABLES: Readonly<Record<string, (asked: Asked, stack: Stack) => Promise<Printed>>> = {
  clusters: ofFleet(printClusters),
  daemonsets: ofFleet(printDaemonSets),
  rollouts: ofFleet(printRollouts),
  fleets: ofFleet(printFleets),
  nodes: async ({ filter, daemonset }, stack) => {
    const only = daemonset === undefined ? undefined : parseNamespacedName(daemonset, 'DaemonSet');
    return printNodes(await lookAtNodes({ filter, ...defined({ only }) }, stack));
  },
};

function ofFleet(print: (seen: SeenFleet) => Printed) {
  return async ({ filter, daemonset }: Asked, stack: Stack): Promise<Printed> => {
    if (daemonset === undefined) return print(await lookAtSome(filter, stack));
    throw usageError('--daemonset is about nodes alone.', 'Leave it out, or get nodes.');
  };
}

/** The command. */
export const getCommand: CommandModule = defineCommand({
  path: ['get'],
  documents: ['ClusterList', 'DaemonSetHealthList', 'RolloutList', 'FleetHealthList', 'NodeMap'],
  summary: 'list clusters, daemonsets, rollouts, fleets or nodes, each with its state',
  about: [
    'The state of a cluster is the worst of its own and of those of its DaemonSets.',
    'Well: nothing is wrong. NoNodes: no node is eligible. Stopped: nothing acts in the whole stack.',
    'Rollouts and fleets show their phase; a ? stands for what is not known now.',
    'A node is shown with its worst DaemonSet, by the codes of rollcall why; this makes a plan of each DaemonSet.',
  ],
  args: [['<what>', Object.keys(TABLES).join(', ')]],
  options: {
    ...FILTER_OPTIONS,
    daemonset: textOption(
      '--daemonset <namespace/name>',
      'of nodes: as this DaemonSet stands there',
    ),
    output: OUTPUT_OPTION,
  },
  examples: ['get clusters', 'get daemonsets -n kube-system', 'get rollouts --label stage=prod'],
  run: async ({ args: [what = ''], options }, context) => {
    const look = TABLES[what];
    if (look === undefined) {
      throw usageError(
        `There is no table of ${what}.`,
        `Pass one of: ${Object.keys(TABLES).join(', ')}.`,
      );
    }
    const asked = { filter: filterOf(options), daemonset: options.daemonset };
    const printed = await look(asked, await context.openStack());
    return { document: printed.document, lines: linesIn(options.output, printed) };
  },
});

interface Rows<Item extends object> {
  readonly document: {
    readonly kind: string;
    readonly outages: readonly Outage[];
    readonly items: readonly Item[];
  };
  readonly nameOf: (item: Item) => string;
  readonly headings: readonly string[];
  readonly cellsOf: (item: Item) => readonly Piece[];
  readonly otherwise: string;
}

function printRows<Item extends object>(rows: Rows<Item>): Printed {
  const { document, nameOf, headings, cellsOf, otherwise } = rows;
  const { outages, items } = document;
  return {
    document,
    names: items.map(nameOf),
    table: () => [
      ...outageLines(outages),
      ...(items.length === 0 ? [otherwise] : renderTextTable(headings, items.map(cellsOf))),
    ],
  };
}

function printDaemonSets(seen: SeenFleet): Printed {
  const { fleet, health } = seen;
  const judged = { bySubject: findingsBySubject(health.findings), outages: fleet.outages };
  const items = fleet.clusters.flatMap((cluster) =>
    cluster.daemonSets.map((set) => {
      const { namespace, name, counts, unknown } = set;
      const state = stateOfSet(set, cluster, judged);
      const isKnown = isTold(cluster, fleet.outages);
      return { cluster: cluster.id, namespace, name, state, isKnown, counts, unknown };
    }),
  );
  return printRows({
    document: { kind: 'DaemonSetHealthList', outages: seen.health.outages, items },
    nameOf: ({ cluster, namespace, name }) => `daemonset/${cluster}/${namespace}/${name}`,
    headings: ['CLUSTER', 'NAMESPACE', 'NAME', 'STATE', 'DESIRED', 'UP-TO-DATE', 'AVAILABLE'],
    cellsOf: ({ cluster, namespace, name, state, isKnown, counts }) => {
      const { desired, updated, available } = { ...counts };
      const now = isKnown ? [updated, available] : [undefined, undefined];
      const numbers = [desired, ...now].map((count) => String(count ?? '?'));
      return [cluster, namespace, name, statePiece(state), ...numbers];
    },
    otherwise: 'No DaemonSets.',
  });
}

/** Rollouts by a policy. */
export function printRollouts(seen: SeenFleet): Printed {
  const { fleet, health } = seen;
  const items = fleet.clusters.flatMap((cluster) =>
    cluster.daemonSets.flatMap(({ namespace, name, rollout }) => {
      if (rollout === undefined) return [];
      const state: RolloutPhase = isStill(cluster, health) ? 'Stopped' : rollout.phase;
      const { summary, gate } = rollout;
      return [{ cluster: cluster.id, namespace, name, state, summary, gate }];
    }),
  );
  return printRows({
    document: { kind: 'RolloutList', outages: seen.health.outages, items },
    nameOf: ({ cluster, namespace, name }) => `rollout/${cluster}/${namespace}/${name}`,
    headings: ['CLUSTER', 'NAMESPACE', 'NAME', 'STATE', 'SUMMARY'],
    cellsOf: ({ cluster, namespace, name, state, summary }) => [
      ...[cluster, namespace, name, phasePiece(state), summary],
    ],
    otherwise: 'No DaemonSet is rolled out by a policy.',
  });
}

/** Nothing acts there: the summary is as of the last run. */
function isStill({ outages, mode }: GatheredCluster, { outages: ofStack }: FleetHealth): boolean {
  return standstillOf([...ofStack, ...outages], mode) !== undefined;
}

/** FleetDaemonSets. */
export function printFleets(seen: SeenFleet): Printed {
  const items = seen.fleet.fleets.map(({ namespace, name, generation, phase, summary }) => ({
    ...{ namespace, name, state: phase, generation, summary },
  }));
  return printRows({
    document: { kind: 'FleetHealthList', outages: seen.health.outages, items },
    nameOf: ({ namespace, name }) => `fleet/${namespace}/${name}`,
    headings: ['NAMESPACE', 'NAME', 'STATE', 'GENERATION', 'SUMMARY'],
    cellsOf: ({ namespace, name, state, generation, summary }) => [
      ...[namespace, name, phasePiece(state), String(generation), summary],
    ],
    otherwise: 'No FleetDaemonSets. Apply one with: rollcall fleet apply -f FILE',
  });
}
