/**
 * `node scripts/install/fleet-rights.ts kube-system/log-collector … | kubectl apply -f -`: what lets the functions give a cluster
 * the DaemonSets of fleets, by their names: Roles with `create` and `patch`, and the policy that limits `create` to them.
 *
 * `--copilot` or `--takeover`, by the cluster's mode and where its admission policies are installed, adds the policy about DaemonSets of
 * that mode with these excepted. Each run names all of them: what is no longer named loses the right.
 */
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { fleetException, fleetNames, fleetPolicy, fleetRights } from './listed-fleets.ts';

const { values, positionals } = parseArgs({
  options: { copilot: { type: 'boolean' }, takeover: { type: 'boolean' } },
  allowPositionals: true,
});
const fleets = fleetNames(positionals);
const manifests = [
  ...fleetRights(fleets),
  ...fleetPolicy(fleets),
  ...(values.copilot === true ? fleetException(fleets, 'copilot') : []),
  ...(values.takeover === true ? fleetException(fleets, 'takeover') : []),
];
process.stdout.write(manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n'));
