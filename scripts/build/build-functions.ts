// Bundles every functions/<name>/handler.ts into dist/functions/<name>/handler.mjs, as it is deployed.
//
// Assumes a bundle runs on Node 24 with nothing beside it: the AWS SDK is bundled too, because a bundled client
// starts faster than the one of the runtime. `mainFields` prefers ES modules, which makes the bundles a third
// smaller and free of `require`, so no createRequire banner is needed. What a function never uses is left out by
// function-plugins.ts (ADR 0001). Source maps are written next to the bundle and left out of the package. A bundle over
// its budget, or with an import of its own, fails the build. It does not package or deploy: `npm run package` does.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { build, type Metafile } from 'esbuild';
import {
  FUNCTION_BUNDLE_KIB_MAX,
  FUNCTIONS_DIRECTORY,
  bundleFileOf,
  findFunctionNames,
  NODE_BUNDLE,
} from './bundles.ts';
import { findUnwanted, functionPlugins } from './function-plugins.ts';
import { repositoryRoot } from '../lib/run-tool.ts';

const BYTES_PER_KIB = 1024;
const LARGEST_COUNT = 8;

async function bundleFunctions(names: readonly string[]): Promise<Metafile> {
  const result = await build({
    ...NODE_BUNDLE,
    entryPoints: names.map((name) => ({
      in: `functions/${name}/handler.ts`,
      out: `${name}/handler`,
    })),
    outdir: FUNCTIONS_DIRECTORY,
    outExtension: { '.js': '.mjs' },
    target: 'node24',
    sourcemap: 'external',
    plugins: [...functionPlugins],
  });
  return result.metafile;
}

/** Functions that are no more: their old bundles must not be measured, or deployed by hand. */
async function removeOthers(names: readonly string[]): Promise<void> {
  const directory = path.join(repositoryRoot, FUNCTIONS_DIRECTORY);
  for (const name of await readdir(directory)) {
    if (!names.includes(name)) await rm(path.join(directory, name), { recursive: true });
  }
}

/** Says how large a bundle is; false when it is over its budget, with what is largest in it. */
function reportBundle(name: string, metafile: Metafile): boolean {
  const output = metafile.outputs[bundleFileOf(name)];
  if (output?.exports.includes('handler') !== true) {
    throw new Error(`functions/${name}/handler.ts exports no "handler"`);
  }
  const unwanted = findUnwanted(Object.keys(output.inputs));
  if (unwanted !== undefined) throw new Error(`${name} should be built without ${unwanted}`);
  const eager = output.imports.find(({ kind }) => kind === 'import-statement');
  if (eager !== undefined) throw new Error(`${name} would import ${eager.path} by statement`);
  const kib = Math.round(output.bytes / BYTES_PER_KIB);
  process.stdout.write(`${name}: ${String(kib)} KB\n`);
  if (output.bytes <= FUNCTION_BUNDLE_KIB_MAX * BYTES_PER_KIB) return true;
  const largest = Object.entries(output.inputs)
    .sort(([, left], [, right]) => right.bytesInOutput - left.bytesInOutput)
    .slice(0, LARGEST_COUNT)
    .map(([file, { bytesInOutput }]) => `  ${String(bytesInOutput).padStart(8)} ${file}`);
  const budget = `its budget of ${String(FUNCTION_BUNDLE_KIB_MAX)} KB; the largest in it, in bytes:`;
  console.error(`rollcall: ${name} is over ${budget}\n${largest.join('\n')}`);
  return false;
}

const functionNames = await findFunctionNames(repositoryRoot);
const metafile = await bundleFunctions(functionNames);
await removeOthers(functionNames);
const isWithinBudget = functionNames.map((name) => reportBundle(name, metafile));
if (isWithinBudget.includes(false)) process.exitCode = 1;
