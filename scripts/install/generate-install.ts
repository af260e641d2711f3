// Writes infra/install.yaml from infra/watcher; with --check only says whether it is up to date (exit code 1 if not).
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { INSTALL_FILE, installManifest } from './install-manifest.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const file = path.join(root, INSTALL_FILE);
const wanted = installManifest(root);

if (!process.argv.includes('--check')) {
  writeFileSync(file, wanted);
  process.stdout.write(`${INSTALL_FILE} is written\n`);
} else if (readFileSync(file, 'utf8') !== wanted) {
  process.stderr.write(
    `${INSTALL_FILE} differs from infra/watcher: run node scripts/launch.mjs scripts/install/generate-install.ts\n`,
  );
  process.exitCode = 1;
}
