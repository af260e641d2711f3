/** What `rollcall status`, `rollcall get` and `rollcall cluster list` have alike: filters, and one look at the whole fleet. */
import { gatherFleet, type GatheredFleet } from '../../app/status/gather-fleet.ts';
import type { FleetFilter } from '../../app/status/fleet-look.ts';
import { judgeFleetHealth } from '../../core/status/health/fleet-health.ts';
import type { FleetHealth } from '../../core/status/health/health-facts.ts';
import { defined } from '@rollcall/base/defined.ts';
import {
  LABEL_OPTION,
  parseClusterId,
  parseLabel,
  requireRegistration,
} from '../command-line/cluster-arguments.ts';
import { textOption, textsOption, type OptionsOf } from '../command-line/command-module.ts';
import { failure } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { sourcesOf } from '../rollout/rollout-sources.ts';

/** Which part of the fleet is meant. */
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
  const { registry, freezes, view, fleets, rollouts, clock } = stack;
  const { cache, options, policies } = sourcesOf(stack);
  const stores = { registry, freezes, view, fleets, rollouts, clock };
  const fleet = await gatherFleet(filter, { ...stores, cache, options, policies });
  const known: ReadonlySet<string> = new Set(fleet.ids);
  const missing = filter.clusters?.find((id) => !known.has(id));
  if (missing !== undefined) await requireRegistration(registry, parseClusterId(missing));
  return { fleet, health: judgeFleetHealth(fleet) };
}

/** True where there are clusters, and the filter leaves all of them out. */
export function isNothingLeft({ fleet }: SeenFleet): boolean {
  return fleet.ids.length > 0 && fleet.clusters.length + fleet.unreadable.length === 0;
}

/** What is said then. */
export const NOTHING_LEFT = 'No cluster has these labels.';

/** Looks as lookAtFleet does. Throws CommandError (1), too, where nothing is left. */
export async function lookAtSome(filter: FleetFilter, stack: Stack): Promise<SeenFleet> {
  const seen = await lookAtFleet(filter, stack);
  if (isNothingLeft(seen)) throw failure(NOTHING_LEFT, 'List them with: rollcall get clusters');
  return seen;
}
