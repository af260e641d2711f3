/**
 * Sources of the previous release, out of git history: that of test/regression/previous-release.
 *
 * A checkout without history (a copy, a shallow clone) has none; who asks says so, and is skipped with that reason.
 */
import { execFileSync } from 'node:child_process';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';

/** The previous release: the state before ADR 0042. Another commit may be asked for. */
const PREVIOUS_RELEASE = '52cbd08';

const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024;

/** Why there are none; undefined where there are. */
export function missingPrevious(commit = PREVIOUS_RELEASE): string | undefined {
  try {
    const parameters = ['cat-file', '-e', `${commit}^{commit}`];
    execFileSync('git', parameters, { cwd: repositoryRoot, stdio: 'ignore' });
    return undefined;
  } catch {
    // No git, no repository, or one without its history: all say the same here.
    return `git history does not reach back to ${commit}`;
  }
}

/** Writes these files and folders of it into a directory, as far as it had them. */
export function extractPrevious(
  paths: readonly string[],
  directory: string,
  commit = PREVIOUS_RELEASE,
): void {
  const listed = execFileSync('git', ['ls-tree', '--name-only', commit, ...paths], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  const present = listed.split('\n').filter((name) => name !== '');
  const archive = execFileSync('git', ['archive', commit, ...present], {
    cwd: repositoryRoot,
    maxBuffer: ARCHIVE_BYTES_MAX,
  });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
}
