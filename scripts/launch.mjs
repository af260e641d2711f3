/**
 * The one door through which every npm script runs: `node scripts/launch.mjs <entry.ts> [arguments]`.
 *
 * Plain JavaScript, because on a fresh clone the system's Node may be any version from 20 on, and nothing is
 * installed. It installs when the installed packages differ from the lockfile (one install at a time, output to
 * stderr), then runs the entry under the Node 24 of node_modules and hands on arguments, signals and exit code.
 *
 * Invariants: stdout belongs to the entry alone. An install that was killed half-way is repeated by the next start.
 * It is no npm `prestart` hook, since npm skips those under `ignore-scripts=true`.
 */
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './lib/install.mjs';
import { nodeFlagsOf } from './lib/node-flags.mjs';
import { mainOf, runUnderOwnNode } from './lib/run-node.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

await mainOf(async () => {
  const [entry, ...entryArguments] = process.argv.slice(2);
  if (entry === undefined) {
    console.error('usage: node scripts/launch.mjs <entry.ts> [arguments]');
    process.exitCode = 2;
    return;
  }
  await ensureInstalled(root);
  process.exitCode = await runUnderOwnNode(root, [
    ...nodeFlagsOf(entry),
    path.resolve(root, entry),
    ...entryArguments,
  ]);
});
