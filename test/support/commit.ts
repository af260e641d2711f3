/**
 * The commit of the work tree, and the number that fresh seeds and samples are drawn from.
 *
 * The number is the commit's first seven digits: a run of one commit can be repeated, and no two commits play the same.
 * ROLLCALL_SEED takes its place; without either (a checkout that has no git) it is 0. Whoever uses it prints where it is from.
 */
import { execFileSync } from 'node:child_process';

export interface CommitSeed {
  readonly seed: number;
  /** Where it is from, in words. */
  readonly source: string;
}

const DIGITS = 7;

/** The commit of the work tree, or `unknown`. */
export function presentCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

/** The number of this commit, unless ROLLCALL_SEED says another. */
export function commitSeed(
  told = process.env['ROLLCALL_SEED'],
  commit = presentCommit(),
): CommitSeed {
  if (told !== undefined && told !== '') {
    const seed = Number(told);
    if (Number.isInteger(seed) && seed >= 0) return { seed, source: `ROLLCALL_SEED=${told}` };
    throw new Error(`ROLLCALL_SEED is not a whole number: ${told}`);
  }
  if (commit === 'unknown') return { seed: 0, source: 'no commit is known: 0' };
  const seed = Number.parseInt(commit.slice(0, DIGITS), 16);
  return { seed, source: `ROLLCALL_SEED=${seed}, of commit ${commit.slice(0, DIGITS)}` };
}
