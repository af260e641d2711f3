/**
 * Runs measurements: `npm run bench -- <name> … [arguments]` runs test/performance/<name>.ts, each in turn.
 *
 * Each measurement is a program of its own that prints its figures and ends. What follows the names is handed to each of
 * them. The first one that fails ends the run. Without a name, the names are listed.
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

/** Runs one; its exit code. A signal to this process goes to the measurement, which cleans up. */
function run(name: string, parameters: readonly string[]): Promise<number> {
  const file = path.join(root, 'test/performance', `${name}.ts`);
  const child = spawn(process.execPath, [file, ...parameters], { cwd: root, stdio: 'inherit' });
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  process.on('SIGINT', forward).on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      resolve(code ?? 1);
    });
  });
}

const words = process.argv.slice(2);
const known = findNames();
const first = words.findIndex((word) => !known.includes(word));
const names = first === -1 ? words : words.slice(0, first);
const parameters = first === -1 ? [] : words.slice(first);
if (names.length === 0) {
  const [unknown] = parameters;
  if (unknown !== undefined) console.error(`rollcall: there is no measurement called ${unknown}`);
  console.error(
    `usage: npm run bench -- <name> … [arguments]\n  names: ${known.join(', ') || 'none yet'}`,
  );
  process.exitCode = 2;
}
for (const name of names) {
  const code = await run(name, parameters);
  if (code === 0) continue;
  process.exitCode = code;
  break;
}
