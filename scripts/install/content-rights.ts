/**
 * `kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/content-rights.ts | kubectl apply -f -`: lets the watcher read, by
 * name, the ConfigMaps and Secrets that policies have in the revision at that moment (`config`, ADR 0061).
 *
 * Run it again when templates name others: until then what may not be read counts as it was known last, and an Event says so.
 */
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { contentOf, contentRights } from './listed-content.ts';

const manifests = contentRights(contentOf(await text(process.stdin)));
process.stdout.write(manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n'));
