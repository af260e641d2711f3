// Bundles src/page into dist/page, as `rollcall ui` serves it. A first argument replaces the folder: for a package, and for tests.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { repositoryRoot as root } from '../lib/run-tool.ts';
import { PAGE_GZIPPED_BYTES_MAX, bundlePage } from './page-bundle.ts';

const directory = path.resolve(root, process.argv[2] ?? 'dist/page');

await mkdir(directory, { recursive: true });
let gzippedBytes = 0;
for (const [name, body] of await bundlePage()) {
  await writeFile(path.join(directory, name), body);
  gzippedBytes += gzipSync(body).length;
}
const kib = Math.ceil(gzippedBytes / 1024);
process.stdout.write(`${path.relative(root, directory)}: ${String(kib)} KB gzipped\n`);
if (gzippedBytes > PAGE_GZIPPED_BYTES_MAX) {
  console.error(`rollcall: the page is over its budget of ${String(PAGE_GZIPPED_BYTES_MAX)} bytes`);
  process.exitCode = 1;
}
