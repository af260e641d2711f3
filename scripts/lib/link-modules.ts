/**
 * The installed packages of the repository for a copy of it: links to them, and to the copy's own packages.
 *
 * One link to node_modules would not do: the repository's own packages (packages/*) are links in there, so the copy would
 * run the original's sources. Nothing in the copy may install. What a copy
 * of an older state lacks, it takes from the original.
 */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';

const OWN_SCOPE = '@rollcall';

/** Makes node_modules in the directory `copy`, which has none yet. */
export function linkModules(root: string, copy: string): void {
  const [from, to] = [path.join(root, 'node_modules'), path.join(copy, 'node_modules')];
  mkdirSync(path.join(to, OWN_SCOPE), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== OWN_SCOPE) symlinkSync(path.join(from, name), path.join(to, name));
  }
  for (const name of readdirSync(path.join(from, OWN_SCOPE))) {
    const own = path.join(copy, 'packages', name);
    symlinkSync(
      existsSync(own) ? own : path.join(from, OWN_SCOPE, name),
      path.join(to, OWN_SCOPE, name),
    );
  }
}
