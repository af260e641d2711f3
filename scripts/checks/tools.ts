/**
 * The checks that are one tool each: its verdict is theirs, and its output is the report.
 *
 * No tool keeps a cache of verdicts, since a finding with types in one file may come from a change in another; the compiler builds
 * incrementally into .cache/types, which holds declarations only.
 */
import { runPackageScript } from '../lib/run-tool.ts';
import type { Check } from './check.ts';

function toolCheck(name: string, script: string, ...parameters: readonly string[]): Check {
  return {
    name,
    run: async (directory) => {
      const result = await runPackageScript(script, parameters, directory);
      return { passed: result.exitCode === 0, report: result.stdout + result.stderr };
    },
  };
}

/** Lint, types, layout, and code that nothing uses: those that take longest first, or one of them would end alone. */
export const toolChecks: readonly Check[] = [
  toolCheck('lint', 'eslint/bin/eslint.js', '--max-warnings=0', '.'),
  toolCheck('types', 'typescript/bin/tsc', '--build'),
  // Markdown is left to its authors, whose tables and line breaks carry meaning. `npm run format` mends the rest.
  toolCheck('format', 'prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'),
  // An export that tests alone use counts as used. Entries, and tools that are started by path, stand in knip.json.
  toolCheck(
    'dead-code',
    'knip/bin/knip.js',
    '--no-progress',
    '--no-config-hints',
    '--no-gitignore',
  ),
];
