/**
 * `npm run bench -- attribution`: how often the trial of a staged rollout halts harmless releases, and how soon bad ones
 * (rollouts facts 4). 2,000 harmless releases on each of eight populations, `BENCH_POPULATIONS` of them (`0,2`): it leaves with 1
 * where more than 2 % may be halted, with 95 % certainty. Then 10,000 seeded fleets of 164 nodes and as many of 50 for each column, with the
 * functions of the core.
 *
 * Printed beside the facts' figures. Leaves with 1 when a harmless release is halted more often than Ville's inequality allows
 * (4 % at E >= 25, 1 % at E >= 100), or a bad one three points less often than the facts have. `BENCH_FLEETS` and `BENCH_SEED`
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
import { POPULATIONS, playHarmless, upperBound } from '../support/attribution/harmless.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const PLAYS = Number(process.env['BENCH_PLAYS'] ?? 2000);
const CHOSEN = (process.env['BENCH_POPULATIONS'] ?? POPULATIONS.map((_, at) => at).join()).split(
  ',',
);
const HALTED_SHARE_MAX = 0.02;
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

/** True if no more than one in fifty harmless releases may be halted. */
function measureHarmless(): boolean {
  const rows = [['nodes', 'flaky', 'canary', 'halted', '%', 'at most, %', 'causes']];
  let isGood = true;
  for (const [at, population] of POPULATIONS.entries()) {
    if (!CHOSEN.includes(String(at))) continue;
    const causes = Array.from({ length: PLAYS }, (_, play) =>
      playHarmless(population, FIRST_SEED + play),
    ).filter((cause) => cause !== undefined);
    const bound = upperBound(causes.length, PLAYS);
    const { nodes, flakyPercent, canary } = population;
    const percents = [causes.length / PLAYS, bound].map((share) => (100 * share).toFixed(2));
    const words = [...new Set(causes)].join(' ');
    const flaky = `${String(flakyPercent)} %`;
    rows.push([String(nodes), flaky, String(canary), String(causes.length), ...percents, words]);
    isGood &&= bound <= HALTED_SHARE_MAX;
    say(`${String(nodes)} nodes, ${flaky} flaky, canary ${String(canary)}: done`);
  }
  process.stdout.write(`${renderRows(rows)}\n\n`);
  return isGood;
}

process.stdout.write(`harmless releases that were halted, of ${String(PLAYS)}\n\n`);
const isQuiet = measureHarmless();
process.stdout.write(
  `halted, % of ${String(FLEETS)} fleets, seeds from ${String(FIRST_SEED)} on; of bad releases nodes harmed, median/p95 of those halted\n\n`,
);
const results = [isQuiet, measureAll('164 nodes', LARGE), measureAll('50 nodes', SMALL)];
if (results.includes(false)) process.exitCode = 1;
