/**
 * Which files a tier of tests has. A tier is a directory of test/ and of each package's test/, without its files `*.nightly.test.ts`; those, of all
 * directories, are the tier `nightly`: too slow for each change, played by .ci/nightly. So a file is in one tier.
 */
import { globSync } from 'node:fs';

/** The tier of what is too slow for each change. */
export const NIGHTLY = 'nightly';

/** Where tests are: the repository's own, and each package's. */
const TESTS = '{test,packages/*/test}';

/** The files of a tier, relative to the root of the repository, in the order of their paths. */
export function tierFiles(root: string, tier: string): readonly string[] {
  const nightly = `**/*.${NIGHTLY}.test.ts`;
  const files =
    tier === NIGHTLY
      ? globSync(`${TESTS}/${nightly}`, { cwd: root })
      : globSync(`${TESTS}/${tier}/**/*.test.ts`, { cwd: root, exclude: [nightly] });
  return files.sort((left, right) => left.localeCompare(right));
}
