/**
 * Runs one measurement: `npm run bench -- <name> [arguments]` runs test/performance/<name>.ts.
 *
 * Each measurement is a program of its own that prints its figures and ends. Without a name, the names are listed.
 * It measures nothing itself, and changes no priority or frequency of the machine.
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

function findNames(): string[] {
  const files = globSync('test/performance/*.ts', { cwd: root });
  return files.map((file) => path.basename(file, '.ts')).sort();
}

function run(name: string, parameters: readonly string[]): void {
  const file = path.join(root, 'test/performance', `${name}.ts`);
  const child = spawn(process.execPath, [file, ...parameters], { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

const [name, ...parameters] = process.argv.slice(2);
const names = findNames();
if (name !== undefined && names.includes(name)) {
  run(name, parameters);
} else {
  if (name !== undefined) console.error(`rollcall: there is no measurement called ${name}`);
  console.error(
    `usage: npm run bench -- <name> [arguments]\n  names: ${names.join(', ') || 'none yet'}`,
  );
  process.exitCode = 2;
}
