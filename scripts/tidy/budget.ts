/**
 * A budget of lines for each folder: the house grew by 34,000 lines in four days once, because nothing asked.
 *
 * A little above what is there. A commit that raises one says why; a commit that deletes lowers it.
 */
import type { Finding, Repository } from './repository.ts';

const linesMaxByFolder: Readonly<Record<string, number>> = {
  docs: 13_120,
  functions: 1_440,
  infra: 6_900,
  'packages/base': 3_020,
  'packages/local-aws': 8_740,
  'packages/local-cluster': 35_600,
  scripts: 10_270,
  'src/adapters': 12_920,
  'src/app': 23_670,
  'src/cli': 18_320,
  'src/core': 25_990,
  'src/engine': 1_950,
  'src/page': 6_400,
  'src/ports': 1_510,
  'src/watcher': 5_000,
  test: 183_680,
};

/** Finds folders with more lines than their budget. */
export function checkBudget({ files }: Repository): Finding[] {
  return Object.entries(linesMaxByFolder).flatMap(([folder, linesMax]) => {
    const inside = files.filter(({ path }) => path.startsWith(`${folder}/`));
    const lines = inside.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
    if (lines <= linesMax) return [];
    const message = `has ${lines} lines; its budget (scripts/tidy/budget.ts) is ${linesMax}`;
    return [{ rule: 'line-budget', path: folder, line: 1, message }];
  });
}
