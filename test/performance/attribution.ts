/**
 * `npm run bench -- attribution`: how often the trial of a staged rollout halts harmless releases, and how soon bad ones
 * (rollouts facts 4). 10,000 seeded fleets of 164 nodes and as many of 50 for each column, with the functions of the core.
 *
 * Printed beside the facts' figures. Leaves with 1 when a harmless release is halted more often than Ville's inequality allows
 * (5 % at E >= 20, 1 % at E >= 100), or a bad one three points less often than the facts have. `BENCH_FLEETS` and `BENCH_SEED`
 * change how many fleets there are and the first seed. Nothing here is measured in time.
 */
import {
  LARGE,
  SMALL,
  THRESHOLDS,
  isHarmful,
  measureColumn,
} from '../support/attribution/columns.ts';
import type { Column, FactsFigure, Measured } from '../support/attribution/columns.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const FLEETS = Number(process.env['BENCH_FLEETS'] ?? 10_000);
const FIRST_SEED = Number(process.env['BENCH_SEED'] ?? 1);
const MISSED_POINTS_MAX = 3;

function cellOf({ fleets, halted, harmed }: Measured, column: Column): string {
  const share = ((100 * halted) / fleets).toFixed(2);
  if (!isHarmful(column) || halted === 0) return share;
  return `${share} ${String(percentile(harmed, 50))}/${String(percentile(harmed, 95))}`;
}

function factsCell(figure: FactsFigure | undefined): string {
  if (figure === undefined) return '';
  const { haltPercent, harmed } = figure;
  return harmed === undefined ? String(haltPercent) : `${String(haltPercent)} ${harmed.join('/')}`;
}

/** True if it is as good as it has to be. */
function isHeld({ fleets, halted }: Measured, column: Column, at: number): boolean {
  const percent = (100 * halted) / fleets;
  if (!isHarmful(column)) return percent <= 100 / (THRESHOLDS[at] ?? 1);
  return percent >= (column.facts[at]?.haltPercent ?? 0) - MISSED_POINTS_MAX;
}

function measureAll(title: string, columns: readonly Column[]): boolean {
  const rows: string[][] = [
    [title, ...THRESHOLDS.flatMap((threshold) => [`E >= ${String(threshold)}`, 'facts'])],
  ];
  let isGood = true;
  for (const column of columns) {
    const measured = measureColumn(column, FLEETS, FIRST_SEED);
    rows.push([
      column.name,
      ...measured.flatMap((one, at) => [cellOf(one, column), factsCell(column.facts[at])]),
    ]);
    isGood &&= measured.every((one, at) => isHeld(one, column, at));
    say(`${title}, ${column.name}: done`);
  }
  process.stdout.write(`${renderRows(rows)}\n\n`);
  return isGood;
}

process.stdout.write(
  `halted, % of ${String(FLEETS)} fleets, seeds from ${String(FIRST_SEED)} on; of bad releases nodes harmed, median/p95 of those halted\n\n`,
);
const results = [measureAll('164 nodes', LARGE), measureAll('50 nodes', SMALL)];
if (results.includes(false)) process.exitCode = 1;
