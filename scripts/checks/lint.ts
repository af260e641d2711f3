/**
 * Lint: eslint with type information, and no warning left over.
 *
 * No cache: a type-aware finding in one file may come from a change in another, which a cache per file cannot know.
 * The rules are in eslint.config.js; a suppression that suppresses nothing is a finding too.
 */
import { runPackageScript } from '../lib/run-tool.ts';
import type { Check } from './check.ts';

/** The lint check. */
export const lintCheck: Check = {
  name: 'lint',
  run: async (directory) => {
    const tool = 'eslint/bin/eslint.js';
    const result = await runPackageScript(tool, ['--max-warnings=0', '.'], directory);
    return { passed: result.exitCode === 0, report: result.stdout + result.stderr };
  },
};
