/**
 * Types: the compiler accepts every layer's project, in the order of their references.
 *
 * Builds incrementally into .cache/types, which holds declarations only; nothing that runs comes from there. A layer
 * that imports one it does not reference fails here, before dependency-cruiser says why.
 */
import { runPackageScript } from '../lib/run-tool.ts';
import type { Check } from './check.ts';

/** The type check. */
export const typesCheck: Check = {
  name: 'types',
  run: async (directory) => {
    const result = await runPackageScript('typescript/bin/tsc', ['--build'], directory);
    return { passed: result.exitCode === 0, report: result.stdout + result.stderr };
  },
};
