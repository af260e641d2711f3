/**
 * The lockfile: what it promises, and whether what is installed is that.
 *
 * Every package comes from the registry under an exact version and a SHA-512 of its archive; no address, git or
 * file dependency, and no link but those to this repository's own packages (packages/*). Install scripts run only where package.json's `allowScripts` says so, and that list names nothing
 * that is gone. The installed tree is the locked one. Which host serves the archives is npm's configuration: the hash
 * makes it irrelevant.
 */
import { judge, type Judgement } from './finding.ts';

/** One package of a lockfile. */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly license?: string;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** package-lock.json, or node_modules/.package-lock.json. */
export interface Lockfile {
  readonly lockfileVersion?: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** The parts of package.json that bind the lockfile. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/** What is compared. `installed` is undefined when nothing is installed. */
export interface LockfileInput {
  readonly manifest: Manifest;
  readonly lockfile: Lockfile;
  readonly installed: Lockfile | undefined;
}

/** Name of the package at a place of the tree. */
export function packageNameAt(location: string): string {
  return location.replace(/^.*node_modules\//, '');
}

/** A package of this repository, or the link to it: npm made both from the manifests here. */
function isOwn([location, entry]: readonly [string, LockedPackage]): boolean {
  const own = /^packages\/[\w-]+$/;
  return entry.link === true ? own.test(entry.resolved ?? '') : own.test(location);
}

function findSourceFaults([location, entry]: readonly [string, LockedPackage]): readonly string[] {
  const isExact = /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(entry.version ?? '');
  return [
    ...(isExact ? [] : [`${location}: no exact version (${entry.version ?? 'none'})`]),
    ...(/^sha512-[\w+/]+={0,2}$/.test(entry.integrity ?? '') ? [] : [`${location}: no SHA-512`]),
    ...(entry.resolved === undefined ? [] : [`${location}: records an address`]),
    ...(entry.link === true ? [`${location}: is a link`] : []),
  ];
}

function findManifestFaults({ manifest, lockfile }: LockfileInput): readonly string[] {
  const root = lockfile.packages[''];
  return (['dependencies', 'devDependencies'] as const).flatMap((group) => {
    const wanted = JSON.stringify(Object.entries(manifest[group] ?? {}).sort());
    const locked = JSON.stringify(Object.entries(root?.[group] ?? {}).sort());
    return wanted === locked ? [] : [`${group} of package.json and of the lockfile differ`];
  });
}

function findScriptFaults({ manifest, lockfile }: LockfileInput): readonly string[] {
  const decided = manifest.allowScripts ?? {};
  const scripted = new Set(
    Object.entries(lockfile.packages)
      .filter(([, entry]) => entry.hasInstallScript === true)
      .map(([location]) => packageNameAt(location)),
  );
  const present = new Set(Object.keys(lockfile.packages).map(packageNameAt));
  return [
    ...[...scripted]
      .filter((name) => decided[name] === undefined)
      .map((name) => `${name}: its install script is neither allowed nor refused in allowScripts`),
    ...Object.keys(decided)
      .filter((name) => !present.has(name))
      .map((name) => `${name}: named in allowScripts, but no longer a dependency`),
  ];
}

function findInstalledFaults({ lockfile, installed }: LockfileInput): readonly string[] {
  if (installed === undefined) return ['nothing is installed: npm ci'];
  return Object.entries(installed.packages).flatMap(([location, entry]) => {
    const locked = lockfile.packages[location];
    if (locked === undefined) return [`${location}: installed, but not in the lockfile`];
    return locked.integrity === entry.integrity
      ? []
      : [`${location}: another archive is installed`];
  });
}

/** Looks at lockfile, manifest and installed tree. */
export function checkLockfile(input: LockfileInput): Judgement {
  const entries = Object.entries(input.lockfile.packages).filter(([location]) => location !== '');
  const findings = [
    ...(input.lockfile.lockfileVersion === 3 ? [] : ['lockfileVersion is not 3']),
    ...entries.filter((entry) => !isOwn(entry)).flatMap(findSourceFaults),
    ...findManifestFaults(input),
    ...findScriptFaults(input),
    ...findInstalledFaults(input),
  ];
  return judge(
    findings,
    `${entries.filter((entry) => !isOwn(entry)).length} packages, each with an exact version and a SHA-512`,
  );
}
