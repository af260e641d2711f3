// Bundles src/watcher/main.ts into the one file dist/watcher/watcher.mjs, as infra/watcher/Dockerfile ships it.
//
// Assumes that the file runs on Node 24 with nothing beside it: the SDK's default credential chain (environment,
// web identity, Pod Identity) is in it too, its lazy imports inlined, so that a container needs no node_modules. No source
// map: the image holds one file, and a stack trace of it names functions, not lines. Makes no image: docs/install.md
// says how.
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const outputFile = 'dist/watcher/watcher.mjs';

await rm(path.join(root, path.dirname(outputFile)), { recursive: true, force: true });
await mkdir(path.join(root, path.dirname(outputFile)), { recursive: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/watcher/main.ts'],
  outfile: outputFile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
});
const bytes = metafile.outputs[outputFile]?.bytes ?? 0;
process.stdout.write(`watcher: ${String(Math.round(bytes / 1024))} KB in ${outputFile}\n`);
