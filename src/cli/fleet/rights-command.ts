/**
 * `rollcall fleet rights`: prints what a cluster has to grant for the FleetDaemonSets placed there.
 * With `-f` also for one not yet applied, since what is no longer named loses the right. With
 * `--fence` also a policy that holds them to what their manifests have now. It changes nothing.
 */
import { stringify } from 'yaml';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { fleetsOn, readEveryFleet } from '../../app/fleet/find-fleet.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import { fleetRenderer } from '../../core/fleet/render-fleet.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { parseClusterId, requireRegistration } from '../command-line/cluster-arguments.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { failure } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { declareFile, readFleetFile } from './fleet-arguments.ts';
import type { FileOptions } from './fleet-arguments.ts';
import { fleetFence, powersOf } from './fleet-fence.ts';
import { fleetNames, fleetRights } from './fleet-manifests.ts';

interface RightsOptions extends FileOptions {
  readonly fence?: boolean;
}

/** `fleet rights`. */
export const fleetRightsCommand: CommandModule = defineCommand<RightsOptions>({
  path: ['fleet', 'rights'],
  summary: 'the manifests that a cluster needs for its FleetDaemonSets, for kubectl apply',
  configure: (command) => {
    command.argument('<cluster>', 'id of the cluster');
    declareFile(command);
    command.option('--fence', 'and a policy that holds them to the privileges of their manifests');
  },
  run: async ({ args, options }, context) => {
    const id = parseClusterId(args[0] ?? '');
    const added = options.filename === undefined ? [] : [readFleetFile(options.filename).fleet];
    const stack = await context.openStack();
    const cluster = await requireRegistration(stack.registry, id);
    const { mode } = cluster;
    const every = await everyFleet(stack);
    const names = new Set(added.map(formatFleetKey));
    const others = every.filter((fleet) => !names.has(formatFleetKey(fleet)));
    const fleets = fleetsOn(cluster, [...others, ...added]).map(formatFleetKey);
    if (fleets.length === 0) {
      throw failure(
        `No FleetDaemonSet is placed on ${id}: it needs no rights for one.`,
        'Pass -f FILE for one that is not applied yet; rollcall cluster show has the labels by which clusters are placed.',
      );
    }
    context.say(`for ${fleets.join(', ')}, in a cluster in ${mode}`);
    const documents = [...every, ...added];
    const manifests = [
      ...fleetRights(fleetNames(fleets)),
      ...(options.fence === true ? fleetFence(printedPowers(cluster, fleets, documents)) : []),
    ];
    const text = manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
    return {
      document: { kind: 'FleetRights', cluster: id, mode, fleets, manifests },
      lines: [text.trimEnd()],
    };
  },
});

/** Throws CommandError when one cannot be read: its name would lose the right. */
async function everyFleet({ fleets }: Pick<Stack, 'fleets'>): Promise<readonly FleetDaemonSet[]> {
  const every = await readEveryFleet({ fleets, reader: createFleetReader() });
  if (every.unreadable.length > 0) {
    throw failure(
      `Another release applied what this one cannot read: ${every.unreadable.map(formatFleetKey).join(', ')}.`,
      'Use the rollcall command of the release that is deployed: whoever is not named loses the right.',
    );
  }
  return every.fleets;
}

/** Of each of these what the documents give the cluster: with `-f` that of the file, and what was applied before it. */
function printedPowers(
  cluster: ClusterRegistration,
  keys: readonly string[],
  documents: readonly FleetDaemonSet[],
): ReadonlyMap<string, readonly string[]> {
  const placed = fleetsOn(cluster, documents);
  return new Map(
    keys.map((key) => {
      const words = placed
        .filter((fleet) => formatFleetKey(fleet) === key)
        .flatMap((fleet) => powersIn(cluster, fleet));
      return [key, [...new Set(words)].sort()];
    }),
  );
}

function powersIn(cluster: ClusterRegistration, fleet: FleetDaemonSet): readonly string[] {
  const rendering = fleetRenderer(fleet)(cluster);
  if (rendering.kind === 'rendered') return powersOf(rendering.manifest.spec.template.spec);
  const problems = rendering.problems.map(({ field, message }) => `${field} ${message}`);
  throw failure(
    `${formatFleetKey(fleet)} gives ${cluster.id} no manifest: ${problems.join('; ')}`,
    'Repair its overrides; rollcall fleet plan -f FILE names every such cluster.',
  );
}
