/**
 * Decides whether the installed packages are those of the lockfile, and installs them if not.
 *
 * "Installed" is a comparison of contents, not of times: a git checkout touches the lockfile's time without changing
 * it, and npm writes node_modules/.package-lock.json only when an install has succeeded as a whole.
 * Assumes npm on the PATH. Runs on any Node from 20 on. Does not repair files deleted by hand inside a package.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { withLock } from './lock.mjs';

/**
 * The path of the Node binary that the project itself installs.
 *
 * @param {string} root
 */
export function nodeBinaryOf(root) {
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  return path.join(root, 'node_modules', 'node', 'bin', file);
}

/**
 * @typedef {{ version?: string, optional?: boolean, devOptional?: boolean, peer?: boolean }} LockedPackage
 * @param {string} lockfile
 * @returns {Record<string, LockedPackage>}
 */
function packagesOf(lockfile) {
  /** @type {unknown} */
  const content = JSON.parse(readFileSync(lockfile, 'utf8'));
  return /** @type {{ packages?: Record<string, LockedPackage> }} */ (content).packages ?? {};
}

/**
 * Says why an install is needed, or undefined if it is not. Optional packages may be absent: they belong to other
 * platforms.
 *
 * @param {string} root
 * @returns {string | undefined}
 */
export function reasonToInstall(root) {
  const installedLockfile = path.join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedLockfile)) return 'nothing is installed';
  if (!existsSync(nodeBinaryOf(root))) return 'the Node binary is missing';
  const installed = packagesOf(installedLockfile);
  for (const [location, wanted] of Object.entries(
    packagesOf(path.join(root, 'package-lock.json')),
  )) {
    if (location === '') continue;
    const found = installed[location];
    if (found === undefined && (wanted.optional || wanted.devOptional || wanted.peer)) continue;
    if (found?.version !== wanted.version) return `${location} is not ${wanted.version}`;
  }
  return undefined;
}

/**
 * The environment without node_modules/.bin on the PATH: npm must not run on the Node that it is about to replace.
 *
 * @param {string} root
 */
function environmentOfNpm(root) {
  const own = path.join(root, 'node_modules');
  const directories = (process.env.PATH ?? '').split(path.delimiter);
  const kept = directories.filter((directory) => !path.resolve(directory).startsWith(own));
  return { ...process.env, PATH: kept.join(path.delimiter) };
}

/**
 * @param {string} root
 * @param {(childPid: number | undefined) => void} onChild
 * @returns {Promise<void>}
 */
function runNpmInstall(root, onChild) {
  const npmArguments = [
    'ci',
    '--include=dev',
    '--ignore-scripts=false',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const child = spawn('npm', npmArguments, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: environmentOfNpm(root),
    shell: process.platform === 'win32',
  });
  onChild(child.pid);
  return new Promise((resolve, reject) => {
    child.on('error', (error) =>
      reject(new Error(`npm did not start: ${error.message}`, { cause: error })),
    );
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`npm ci ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/**
 * Installs what is missing. A process that waited for another's install looks again before starting one.
 *
 * @param {string} root
 */
export async function ensureInstalled(root) {
  if (reasonToInstall(root) === undefined) return;
  await withLock(path.join(root, '.cache', 'install.lock'), async (onChild) => {
    const reason = reasonToInstall(root);
    if (reason === undefined) return;
    console.error(`rollcall: installing packages (${reason})`);
    await runNpmInstall(root, onChild);
    const stillMissing = reasonToInstall(root);
    if (stillMissing !== undefined) throw new Error(`after npm ci, ${stillMissing}`);
  });
}
