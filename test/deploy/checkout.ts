/**
 * A checkout of this repository in a temporary directory, and of the release after it.
 *
 * What is deployed is built there, so that the test neither needs nor disturbs dist/ and .serverless/ of the work
 * tree. Packages are linked, not copied.
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';

/** A copy of the sources. */
export interface Checkout {
  readonly directory: string;
  /** Makes it the next release: another version, hence other bundles. Returns the version. */
  readonly becomeNextRelease: () => Promise<string>;
  readonly remove: () => Promise<void>;
}

const ENTRIES = [
  ...['serverless.yml', 'package.json', 'tsconfig.json', 'tsconfig.base.json'],
  ...['infra', 'functions', 'src', 'scripts', 'examples'],
];

/** Copies the sources. */
export async function makeCheckout(): Promise<Checkout> {
  const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-checkout-'));
  for (const entry of ENTRIES) {
    await cp(path.join(repositoryRoot, entry), path.join(directory, entry), { recursive: true });
  }
  await symlink(path.join(repositoryRoot, 'node_modules'), path.join(directory, 'node_modules'));
  const packageFile = path.join(directory, 'package.json');
  return {
    directory,
    becomeNextRelease: async () => {
      const content = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
      const version = `${content.version}-next.1`;
      await writeFile(packageFile, JSON.stringify({ ...content, version }, null, 2));
      return version;
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
