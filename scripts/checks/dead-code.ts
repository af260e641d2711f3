/**
 * Dead code: knip finds no unused file, export, type or dependency, and none that is used but undeclared.
 *
 * What counts as an entry is in knip.json. An export used by tests alone counts as used. Tools that are started by path
 * (prettier, dependency-cruiser, osls, node) are named there, since no import shows that they are used.
 */
import { runPackageScript } from '../lib/run-tool.ts';
import type { Check } from './check.ts';

/** The check for dead code. */
export const deadCodeCheck: Check = {
  name: 'dead-code',
  run: async (directory) => {
    const parameters = ['--no-progress', '--no-config-hints', '--no-gitignore'];
    const result = await runPackageScript('knip/bin/knip.js', parameters, directory);
    return { passed: result.exitCode === 0, report: result.stdout + result.stderr };
  },
};
