/**
 * `kubectl get daemonsets -A -o json | node scripts/admission-policy.ts | kubectl apply -f -`: the part of the
 * admission policy that names DaemonSets one by one (docs/adr/0017).
 *
 * Reads a list of DaemonSets from standard input, prints manifests. Use it after infra/admission/policy.yaml, and again
 * whenever DaemonSets come or go: what is not listed gets no pods from Rollcall.
 */
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { listedPolicy, readDaemonSetList } from './lib/listed-policy.ts';

const daemonSets = readDaemonSetList(await text(process.stdin));
const documents = listedPolicy(daemonSets).map((object) => stringify(object, { lineWidth: 0 }));
process.stdout.write(documents.join('---\n'));
