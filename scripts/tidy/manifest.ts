/**
 * package.json: exact versions, every script through the launcher, every install script decided upon.
 *
 * A script that does not go through the launcher would fail on a fresh clone; with `exec`, signals and exit codes pass
 * npm's shell unchanged. A package with an install script must be named in `allowScripts`, allowed or refused, so that
 * a new one is noticed. Versions in the lockfile are npm's matter.
 */
import type { Finding, Repository } from './repository.ts';

interface Manifest {
  readonly scripts?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly allowScripts?: Record<string, boolean>;
}

interface Lockfile {
  readonly packages?: Record<string, { readonly hasInstallScript?: boolean }>;
}

function readJson(repository: Repository, path: string): unknown {
  const file = repository.files.find((each) => each.path === path);
  return file === undefined ? {} : JSON.parse(file.text);
}

function checkVersions(manifest: Manifest): string[] {
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  return Object.entries(all)
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} has the range ${version}: pin an exact version`);
}

function checkScripts(manifest: Manifest): string[] {
  return Object.entries(manifest.scripts ?? {})
    .filter(
      ([, command]) =>
        !/^(ROLLCALL_STARTED_BY=\$_ )?(exec )?node scripts\/launch\.mjs /.test(command),
    )
    .map(([name]) => `the script ${name} does not go through scripts/launch.mjs`);
}

function checkInstallScripts(manifest: Manifest, lockfile: Lockfile): string[] {
  return Object.entries(lockfile.packages ?? {})
    .filter(([, entry]) => entry.hasInstallScript === true)
    .map(([location]) => location.replace(/^.*node_modules\//, ''))
    .filter((name) => manifest.allowScripts?.[name] === undefined)
    .map((name) => `${name} has an install script that allowScripts neither allows nor refuses`);
}

/** Finds what is wrong with package.json. */
export function checkManifest(repository: Repository): Finding[] {
  const manifest = readJson(repository, 'package.json') as Manifest;
  const lockfile = readJson(repository, 'package-lock.json') as Lockfile;
  const messages = [
    ...checkVersions(manifest),
    ...checkScripts(manifest),
    ...checkInstallScripts(manifest, lockfile),
  ];
  return messages.map((message) => ({ rule: 'manifest', path: 'package.json', line: 1, message }));
}
