/**
 * `rollcall fleet rights`: prints what a cluster has to grant so that the functions can give it the DaemonSets of its FleetDaemonSets.
 *
 * Of all that are placed there, and with `-f` of one that was not applied yet, since each run names all of them: what is no longer named
 * loses the right. It changes nothing: a person looks at it, and applies it as one.
 */
import { stringify } from 'yaml';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { fleetsOn, readEveryFleet } from '../../app/fleet/placed-fleets.ts';
import type { PlacedFleet } from '../../app/fleet/placed-fleets.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import { parseClusterId, requireRegistration } from '../command-line/cluster-arguments.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { failure } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { declareFile, readFleetFile } from './fleet-arguments.ts';
import type { FileOptions } from './fleet-arguments.ts';
import { fleetNames, fleetRights } from './fleet-manifests.ts';

/** `fleet rights`. */
export const fleetRightsCommand: CommandModule = defineCommand<FileOptions>({
  path: ['fleet', 'rights'],
  summary: 'the manifests that a cluster needs for its FleetDaemonSets, for kubectl apply',
  configure: (command) => {
    command.argument('<cluster>', 'id of the cluster');
    declareFile(command);
  },
  run: async ({ args, options }, context) => {
    const id = parseClusterId(args[0] ?? '');
    const added = options.filename === undefined ? [] : [readFleetFile(options.filename).fleet];
    const stack = await context.openStack();
    const cluster = await requireRegistration(stack.registry, id);
    const { mode } = cluster;
    const fleets = fleetsOn(cluster, await everyFleet(stack, added)).map(formatFleetKey);
    if (fleets.length === 0) {
      throw failure(
        `No FleetDaemonSet is placed on ${id}: it needs no rights for one.`,
        'Pass -f FILE for one that is not applied yet; rollcall cluster show has the labels by which clusters are placed.',
      );
    }
    context.say(`for ${fleets.join(', ')}, in a cluster in ${mode}`);
    const manifests = fleetRights(fleetNames(fleets));
    const text = manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
    return {
      document: { kind: 'FleetRights', cluster: id, mode, fleets, manifests },
      lines: [text.trimEnd()],
    };
  },
});

/** Throws CommandError when one cannot be read: its name would lose the right. */
async function everyFleet(
  { fleets }: Pick<Stack, 'fleets'>,
  added: readonly PlacedFleet[],
): Promise<readonly PlacedFleet[]> {
  const every = await readEveryFleet({ fleets, reader: createFleetReader() });
  if (every.unreadable.length > 0) {
    throw failure(
      `Another release applied what this one cannot read: ${every.unreadable.map(formatFleetKey).join(', ')}.`,
      'Use the rollcall command of the release that is deployed: whoever is not named loses the right.',
    );
  }
  const names = new Set(added.map(formatFleetKey));
  return [...every.fleets.filter((fleet) => !names.has(formatFleetKey(fleet))), ...added];
}
