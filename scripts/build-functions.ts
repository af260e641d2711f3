// Bundles every functions/<name>/handler.ts into dist/functions/<name>/handler.mjs, as it is deployed.
//
// Assumes a bundle runs on Node 24 with nothing beside it: the AWS SDK is bundled too, because a bundled client
// starts faster than the one of the runtime. `mainFields` prefers ES modules, which makes the bundles a third
// smaller and free of `require`, so no createRequire banner is needed. Source maps are written next to the bundle
// and left out of the package. It does not package or deploy: `npm run package` does.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const outputDirectory = 'dist/functions';

async function findFunctionNames(): Promise<string[]> {
  const entries = await readdir(path.join(root, 'functions'), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function bundleFunctions(names: readonly string[]): Promise<Metafile> {
  await rm(path.join(root, outputDirectory), { recursive: true, force: true });
  const result = await build({
    absWorkingDir: root,
    entryPoints: names.map((name) => ({
      in: `functions/${name}/handler.ts`,
      out: `${name}/handler`,
    })),
    outdir: outputDirectory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    sourcemap: 'external',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  return result.metafile;
}

function describeBundle(name: string, metafile: Metafile): string {
  const output = metafile.outputs[`${outputDirectory}/${name}/handler.mjs`];
  if (output?.exports.includes('handler') !== true) {
    throw new Error(`functions/${name}/handler.ts exports no "handler"`);
  }
  return `${name}: ${String(Math.round(output.bytes / 1024))} KB\n`;
}

const functionNames = await findFunctionNames();
const metafile = await bundleFunctions(functionNames);
process.stdout.write(functionNames.map((name) => describeBundle(name, metafile)).join(''));
