/**
 * What bundles for Node share; and of the functions, folders of functions/ with a handler.ts, where their bundles go and how large
 * one may be. The budget is a promise: Lambda fetches and parses the bundle at every cold start (`npm run bench -- cold-start`).
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '../lib/run-tool.ts';

/** Options for esbuild; entries, places and the oldest Node are each bundle's own. ES modules are a third smaller than CommonJS. */
export const NODE_BUNDLE = {
  absWorkingDir: repositoryRoot,
  bundle: true,
  format: 'esm' as const,
  platform: 'node' as const,
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none' as const,
  logLevel: 'warning' as const,
  metafile: true as const,
};

/** For a bundle with parts that come as CommonJS (`yaml`), and require what Node has. */
export const REQUIRE_BANNER = {
  js: [
    "import { createRequire as $createRequire } from 'node:module';",
    'const require = $createRequire(import.meta.url), __dirname = import.meta.dirname;',
  ].join(''),
};

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
