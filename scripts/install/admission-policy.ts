/**
 * `kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/admission-policy.ts | kubectl apply -f -`: the part of the
 * admission policy that names DaemonSets one by one (docs/adr/0063).
 *
 * Reads a list of DaemonSets from standard input, prints manifests. Use it after infra/admission/policy.yaml, and again
 * whenever DaemonSets come or go: what is not listed gets no pods from Rollcall. Where webhooks add containers or other
 * things to pods (docs/adr/0063), `--samples` prints a pod of each DaemonSet, and `--admitted FILE` lets pass what they
 * have in FILE beyond their template:
 *
 *   node scripts/launch.mjs scripts/install/admission-policy.ts --samples < sets.json | kubectl create --dry-run=server -o json -f - > pods.json
 *   node scripts/launch.mjs scripts/install/admission-policy.ts --admitted pods.json < sets.json | kubectl apply -f -
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import type { Json } from '@rollcall/base/json.ts';
import { readInjected, samplePods } from './injected.ts';
import { listedPolicy, readDaemonSetList, readRawDaemonSets } from './listed-policy.ts';

const { values } = parseArgs({
  options: { samples: { type: 'boolean' }, admitted: { type: 'string' } },
});
const list = await text(process.stdin);
const daemonSets = readDaemonSetList(list);
const raw = readRawDaemonSets(list);
if (values.samples === true) {
  process.stdout.write(JSON.stringify(samplePods(raw)));
} else {
  const injected =
    values.admitted === undefined
      ? undefined
      : readInjected(JSON.parse(await readFile(values.admitted, 'utf8')) as Json, raw);
  const manifests = listedPolicy(daemonSets, injected);
  process.stdout.write(
    manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n'),
  );
}
