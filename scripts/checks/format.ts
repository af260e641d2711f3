/**
 * Layout: prettier agrees with every file that it knows, save those in .prettierignore.
 *
 * Markdown is left to its authors, whose tables and line breaks carry meaning. The remedy is `npm run format`.
 * Nothing is changed here.
 */
import { runPackageScript } from '../lib/run-tool.ts';
import type { Check } from './check.ts';

/** The format check. */
export const formatCheck: Check = {
  name: 'format',
  run: async (directory) => {
    const tool = 'prettier/bin/prettier.cjs';
    const result = await runPackageScript(tool, ['--check', '--log-level=warn', '.'], directory);
    return { passed: result.exitCode === 0, report: result.stdout + result.stderr };
  },
};
