/**
 * Which files of an area a change may have weakened: those that changed, and those whose mirrored tests changed
 * (test/unit/core/x.test.ts and test/property/core/x.test.ts stand for src/core/x.ts).
 *
 * It asks git, and counts what is not committed yet. A change of what tests share (test/support) or of a test that
 * mirrors no file is not followed: the whole run is for that.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { MutationArea } from './areas.ts';

/** The word that stands for "whatever this change is based on". */
const AUTOMATIC = 'auto';

const MAIN_BRANCHES = ['origin/HEAD', 'origin/main', 'origin/master'];

/**
 * Files of the area to test, from the project's root; undefined means all, because there is no history to compare
 * with (`auto` in a clone of one commit). Throws if git does not know the revision.
 */
export function changedFiles(since: string, area: MutationArea): readonly string[] | undefined {
  const base = since === AUTOMATIC ? automaticBase() : since;
  if (base === undefined) return undefined;
  const changed = [
    ...lines(['diff', '--name-only', base, '--']),
    ...lines(['ls-files', '--others', '--exclude-standard']),
  ];
  const files = changed.map((file) => sourceFor(file, area)).filter((file) => file !== undefined);
  return [...new Set(files)].filter((file) => existsSync(file)).sort();
}

/** True for `auto`, and for what git knows as a commit of this project. */
export function isKnownRevision(since: string): boolean {
  return since === AUTOMATIC || revision(since) !== undefined;
}

/** The file of the area that a path is, or whose tests it holds. */
function sourceFor(file: string, { sources }: MutationArea): string | undefined {
  const test = /^(packages\/[^/]+\/)?test\/(?:unit|property)\/(.*)\.test\.ts$/.exec(file);
  const source = test === null ? file : `${test[1] ?? ''}src/${test[2]}.ts`;
  return sources.some((glob) => path.matchesGlob(source, glob)) ? source : undefined;
}

/** Where this branch left the main one; on the main branch itself the commit before. */
function automaticBase(): string | undefined {
  const head = revision('HEAD');
  for (const branch of MAIN_BRANCHES) {
    if (revision(branch) === undefined) continue;
    const [base] = lines(['merge-base', 'HEAD', branch]);
    if (base !== undefined && base !== head) return base;
  }
  return revision('HEAD~1');
}

function revision(name: string): string | undefined {
  try {
    return lines(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])[0];
  } catch {
    // --quiet: the exit code says that there is no such revision.
    return undefined;
  }
}

function lines(parameters: readonly string[]): readonly string[] {
  const output = execFileSync('git', parameters, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return output.split('\n').filter((line) => line !== '');
}
