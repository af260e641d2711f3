/**
 * Which functions there are, where their bundles go, and how large one may be.
 *
 * A function is a folder of functions/ with a handler.ts. The budget is a promise of the project: Lambda fetches and
 * parses the bundle at every cold start, and `npm run bench -- cold-start` measures what that costs.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** Where bundles are written, relative to the repository: `<name>/handler.mjs` each. */
export const FUNCTIONS_DIRECTORY = 'dist/functions';

/** The largest bundle that is deployed, in KiB, before compression. */
export const FUNCTION_BUNDLE_KIB_MAX = 720;

/** Names of all functions, in order. */
export async function findFunctionNames(root: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(root, 'functions'), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => existsSync(path.join(root, 'functions', name, 'handler.ts')))
    .sort();
}

/** Where the bundle of a function is, relative to the repository. */
export function bundleFileOf(functionName: string): string {
  return `${FUNCTIONS_DIRECTORY}/${functionName}/handler.mjs`;
}
