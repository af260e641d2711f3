#!/usr/bin/env node
/**
 * `rollcall` of a clone: the `bin` of the package, and what the file that `npm start` prints puts on the PATH.
 *
 * Runs the bundle under the Node 24 of node_modules, and builds it first where a source has changed since (a second). Plain
 * JavaScript for Node 20 on, as launch.mjs.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './lib/install.mjs';
import { withLock } from './lib/lock.mjs';
import { COMPILE_CACHE, mainOf, runUnderOwnNode } from './lib/run-node.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const bundle = path.join(root, 'dist', 'cli');
/** From here on Node runs the build, and is the one that the bundle is tested with. */
const NODE_MIN = 24;

/** Whether every source of the bundle is as it was when it was built. */
function isBuilt() {
  try {
    const list = path.join(bundle, 'sources.json');
    const builtMs = statSync(list).mtimeMs;
    /** @type {unknown} */
    const sources = JSON.parse(readFileSync(list, 'utf8'));
    return /** @type {readonly string[]} */ (sources).every(
      (source) => statSync(path.join(root, source)).mtimeMs < builtMs,
    );
  } catch {
    return false; // nothing is built, or a source went
  }
}

/** Builds it; a process that waited for another's build looks again before it starts one. */
async function ensureBuilt() {
  if (isBuilt()) return;
  await withLock(path.join(root, '.cache', 'cli.lock'), async () => {
    if (!isBuilt()) build();
  });
}

function build() {
  const script = path.join(root, 'scripts/build/build-cli.ts');
  const { status } = spawnSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 2] });
  if (status !== 0) throw new Error('the command line could not be built');
}

await mainOf(async () => {
  await ensureInstalled(root);
  const [, file = '', ...parameters] = process.argv;
  if (Number(process.versions.node.split('.')[0]) < NODE_MIN) {
    process.exitCode = await runUnderOwnNode(root, [file, ...parameters]);
    return;
  }
  await ensureBuilt();
  module.enableCompileCache(path.join(root, COMPILE_CACHE));
  await import(path.join(bundle, 'rollcall.mjs'));
});
