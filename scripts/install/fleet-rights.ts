/**
 * `node scripts/install/fleet-rights.ts kube-system/log-collector … | kubectl apply -f -`: what lets the functions give a cluster
 * the DaemonSets of fleets, by their names: Roles with `create` and `patch`, and the policy that limits `create` to them.
 *
 * `--copilot`, for clusters in mode copilot, adds copilot's policy about DaemonSets with these excepted. Each run names all of
 * them: what is no longer named loses the right.
 */
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { copilotException, fleetNames, fleetPolicy, fleetRights } from './listed-fleets.ts';

const { values, positionals } = parseArgs({
  options: { copilot: { type: 'boolean' } },
  allowPositionals: true,
});
const fleets = fleetNames(positionals);
const manifests = [
  ...fleetRights(fleets),
  ...fleetPolicy(fleets),
  ...(values.copilot === true ? copilotException(fleets) : []),
];
process.stdout.write(manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n'));
