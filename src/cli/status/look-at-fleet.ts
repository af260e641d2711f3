/** The shared part of `rollcall status`, `rollcall get` and `rollcall cluster list`: filters, and one look at the whole fleet. */
import { factsOfFleet, readFleet } from '../../app/status/gather-fleet.ts';
import type { GatheredFleet, ReadFleet } from '../../app/status/gather-fleet.ts';
import { readNodesOf } from '../../app/status/read-nodes.ts';
import type { ExplainSources } from '../../app/why/explain.ts';
import type { FleetFilter } from '../../app/status/fleet-look.ts';
import {
  findingsBySubject,
  judgeFleetHealth,
  stateOfCluster,
  whyUntold,
} from '../../core/status/health/fleet-health.ts';
import type { FleetHealth } from '../../core/status/health/health-facts.ts';
import { drawNodeMap, type NodeMap } from '../../core/status/node-map.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import { defined } from '@rollcall/base/defined.ts';
import {
  LABEL_OPTION,
  parseClusterId,
  parseLabel,
  requireRegistration,
} from '../command-line/cluster-arguments.ts';
import { textOption, textsOption, type OptionsOf } from '../command-line/command-module.ts';
import { failure, type CommandError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { sourcesOf } from '../rollout/rollout-sources.ts';

export const FILTER_OPTIONS = {
  cluster: textsOption('--cluster <id>', 'only this cluster; repeat it for several'),
  namespace: textOption('-n, --namespace <name>', 'only DaemonSets and fleets of this namespace'),
  label: LABEL_OPTION,
};

export interface SeenFleet {
  readonly fleet: GatheredFleet;
  readonly health: FleetHealth;
}

/** The filter that was given. Throws CommandError (2). */
export function filterOf({
  cluster,
  namespace,
  label = [],
}: OptionsOf<typeof FILTER_OPTIONS>): FleetFilter {
  const clusters = cluster?.map(parseClusterId);
  return { labels: label.map(parseLabel), ...defined({ clusters, namespace }) };
}

/** Looks. Throws CommandError (1) for a cluster that is not there, with the one that may have been meant. */
export async function lookAtFleet(filter: FleetFilter, stack: Stack): Promise<SeenFleet> {
  return (await readAndJudge(filter, stack, sourcesOf(stack))).seen;
}

type Tables = Pick<Stack, 'registry' | 'freezes' | 'view' | 'fleets' | 'rollouts' | 'clock'>;

/** The explaining sources; `cache`: shared by looks that follow each other. */
type Explaining = Pick<ExplainSources, 'cache' | 'options' | 'policies'>;

async function readAndJudge(
  filter: FleetFilter,
  stack: Tables,
  { cache, options, policies }: Explaining,
): Promise<{ readonly read: ReadFleet; readonly seen: SeenFleet }> {
  const { registry, freezes, view, fleets, rollouts, clock } = stack;
  const stores = { registry, freezes, view, fleets, rollouts, clock };
  const read = await readFleet(filter, { ...stores, cache, options, policies });
  const fleet = await factsOfFleet(read);
  const known: ReadonlySet<string> = new Set(fleet.ids);
  const missing = filter.clusters?.find((id) => !known.has(id));
  if (missing !== undefined) await requireRegistration(registry, parseClusterId(missing));
  return { read, seen: { fleet, health: judgeFleetHealth(fleet) } };
}

/** True where there are clusters, and the filter leaves all of them out. */
export function isNothingLeft({ fleet }: SeenFleet): boolean {
  return fleet.ids.length > 0 && fleet.clusters.length + fleet.unreadable.length === 0;
}

/** What is said then. */
export const NOTHING_LEFT = 'No cluster has these labels.';

function nothingLeft(): CommandError {
  return failure(NOTHING_LEFT, 'List them with: rollcall get clusters');
}

/** Looks as lookAtFleet does. Throws CommandError (1), too, where nothing is left. */
export async function lookAtSome(filter: FleetFilter, stack: Stack): Promise<SeenFleet> {
  const seen = await lookAtFleet(filter, stack);
  if (isNothingLeft(seen)) throw nothingLeft();
  return seen;
}

export interface SeenNodes extends SeenFleet {
  readonly atMs: number;
  readonly map: NodeMap;
}

/** Looks as lookAtSome does, at each node, too; `only`: as far as this DaemonSet is concerned. */
export async function lookAtNodes(
  { filter, only }: { readonly filter: FleetFilter; readonly only?: NamespacedName },
  stack: Tables,
  explaining: Explaining = sourcesOf(stack),
): Promise<SeenNodes> {
  const { read, seen } = await readAndJudge(filter, stack, explaining);
  if (isNothingLeft(seen)) throw nothingLeft();
  const nodes = await readNodesOf(read, only);
  if (only !== undefined && nodes.every(({ sets }) => sets.length === 0)) {
    throw failure(
      `There is no DaemonSet ${only.namespace}/${only.name} in any cluster that can be read.`,
      'List them with: rollcall get daemonsets',
    );
  }
  const { fleet, health } = seen;
  const judged = { bySubject: findingsBySubject(health.findings), outages: fleet.outages };
  const readings = fleet.clusters.map((cluster, at) => ({
    ...{ id: cluster.id, labels: cluster.labels, state: stateOfCluster(cluster, judged) },
    ...defined({ unknown: whyUntold(cluster, judged) }),
    ...(nodes[at] ?? { names: [], sets: [] }),
  }));
  const lost = fleet.unreadable.map(({ id, problem }) => ({
    ...{ id, labels: {}, state: 'Unreadable', unknown: problem, names: [], sets: [] },
  }));
  return { ...seen, atMs: read.look.nowMs, map: drawNodeMap([...readings, ...lost]) };
}
