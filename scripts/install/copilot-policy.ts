/**
 * `kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/copilot-policy.ts | kubectl apply -f -`: the part of copilot's
 * admission that names DaemonSets (infra/copilot/listed.yaml), for those that opt in at that moment.
 *
 * `--rollback` adds, for each of them, a Role that lets the functions patch it (policy `onHalt: rollback`); admission
 * lets only its template change. Who reviews names first may pass a list of fewer DaemonSets.
 */
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { copilotPolicy, optedIn, rollbackRights } from './listed-copilot.ts';

const { values } = parseArgs({ options: { rollback: { type: 'boolean' } } });
const daemonSets = optedIn(await text(process.stdin));
const manifests = [
  ...copilotPolicy(daemonSets),
  ...(values.rollback === true ? rollbackRights(daemonSets) : []),
];
process.stdout.write(manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n'));
