/**
 * What the product brings along: the places of the lockfile that its own dependencies lead to.
 *
 * The lockfile's mark `dev` does not say it: the repository's packages (packages/*) are members of the workspace, so what
 * they alone need counts as needed. Names are resolved as Node does, from the importer's place upwards. What an
 * optional dependency or a peer names and nothing installed, leads nowhere.
 */
import type { LockedPackage, Lockfile } from './lockfile.ts';

const NEEDS = ['dependencies', 'optionalDependencies', 'peerDependencies'] as const;

/** Entries of the lockfile by place, without the project itself. */
export function shippedPackages({ packages }: Lockfile): Readonly<Record<string, LockedPackage>> {
  const waiting = [''];
  const shipped: Record<string, LockedPackage> = {};
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const names = NEEDS.flatMap((need) => Object.keys(packages[place]?.[need] ?? {}));
    for (const name of names) {
      const found = placeOf(packages, { name, from: place });
      const entry = found === undefined ? undefined : packages[found];
      if (found === undefined || entry === undefined || shipped[found] !== undefined) continue;
      shipped[found] = entry;
      waiting.push(entry.link === true ? (entry.resolved ?? found) : found);
    }
  }
  return shipped;
}

/** The nearest node_modules that has the name, from a place upwards. */
function placeOf(
  packages: Lockfile['packages'],
  { name, from }: { readonly name: string; readonly from: string },
): string | undefined {
  for (let folder = from; ; folder = aboveOf(folder)) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (folder === '') return undefined;
  }
}

/** The package that holds this one: `node_modules/a` for `node_modules/a/node_modules/b`. */
function aboveOf(place: string): string {
  const end = place.lastIndexOf('/node_modules/');
  return end === -1 ? '' : place.slice(0, end);
}
