// Bundles src/watcher/main.ts into the one file dist/watcher/watcher.mjs, as infra/watcher/Dockerfile ships it. Makes no
// image: docs/install.md says how.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWatcher } from './watcher-bundle.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const outputFile = 'dist/watcher/watcher.mjs';

await rm(path.join(root, path.dirname(outputFile)), { recursive: true, force: true });
const { bytes } = await bundleWatcher(root, path.join(root, outputFile));
process.stdout.write(`watcher: ${String(Math.round(bytes / 1024))} KB in ${outputFile}\n`);
