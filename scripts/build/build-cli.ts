// Bundles src/cli/rollcall.ts into dist/cli/rollcall.mjs: one ES module with everything from node_modules inside,
// because Node strips no types below node_modules, where an installed package's bin lies.
//
// It reads templates under infra/ at run time, two directories up, as the unbuilt command does.
import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { leaveOutClients } from './cli-plugins.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
/** A first argument replaces it: for the test of the bundle, which runs beside others. */
const outfile = path.resolve(root, process.argv[2] ?? 'dist/cli/rollcall.mjs');

await rm(outfile, { force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/rollcall.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  // `yaml` comes as CommonJS for Node, and requires what Node has.
  banner: {
    js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
  },
  minify: true,
  plugins: [leaveOutClients],
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
});
await chmod(outfile, 0o755);
const [output] = Object.values(metafile.outputs);
const bytes = output?.bytes ?? 0;
process.stdout.write(`${path.relative(root, outfile)}: ${String(Math.round(bytes / 1024))} KB\n`);
