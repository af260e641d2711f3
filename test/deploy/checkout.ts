/**
 * A checkout of this repository in a temporary directory, and of the release after it.
 *
 * What is deployed is built there, so that the test neither needs nor disturbs dist/ and .serverless/ of the work
 * tree. Packages are linked, not copied. It may begin with the sources of the release before, out of git history: then
 * the release after it is the present code.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { linkModules } from '../../scripts/lib/link-modules.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import { extractReleaseBefore } from '../support/release-before.ts';

export interface Checkout {
  readonly directory: string;
  /** Makes it the next release: another version, hence other bundles. Returns the version. */
  readonly becomeNextRelease: () => Promise<string>;
  readonly remove: () => Promise<void>;
}

const ENTRIES = [
  ...['serverless.yml', 'package.json', 'tsconfig.json', 'tsconfig.base.json'],
  ...['infra', 'functions', 'src', 'packages', 'scripts', 'examples'],
];

/** Makes one, with the sources of this release or of the one before. */
export async function makeCheckout(first: 'present' | 'before' = 'present'): Promise<Checkout> {
  const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-checkout-'));
  if (first === 'before') extractReleaseBefore(ENTRIES, directory);
  else await copySources(directory);
  linkModules(repositoryRoot, directory);
  const packageFile = path.join(directory, 'package.json');
  return {
    directory,
    becomeNextRelease: async () => {
      await copySources(directory);
      const content = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
      const version = `${content.version}-next.1`;
      await writeFile(packageFile, JSON.stringify({ ...content, version }, null, 2));
      return version;
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** The present sources, in the place of whatever is there. */
async function copySources(directory: string): Promise<void> {
  for (const entry of ENTRIES) {
    const target = path.join(directory, entry);
    await rm(target, { recursive: true, force: true });
    await cp(path.join(repositoryRoot, entry), target, { recursive: true });
  }
}
