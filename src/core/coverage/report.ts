/**
 * Coverage as it is told: days of one DaemonSet as minutes, the share that was served of what is known, and how long new nodes waited.
 */
import { sumRows } from '../cost/daily.ts';
import { TIME_COLUMNS } from './count-coverage.ts';
import { timeToDaemon, type TimeToDaemon } from './time-to-daemon.ts';

/** One day (UTC), in node-minutes. */
export interface CoverageDay {
  /** As `2026-11-28`. */
  readonly day: string;
  readonly coveredMinutes: number;
  readonly uncoveredMinutes: number;
  /** Not known: the watcher was silent, or functions were stopped or late. */
  readonly unknownMinutes: number;
}

/** Days of a DaemonSet, or of several together. */
export interface CoverageSum {
  readonly days: readonly CoverageDay[];
  /** Covered of what is known, 0 to 1; absent: nothing is. */
  readonly coverage?: number;
  readonly timeToDaemon: TimeToDaemon;
}

const DAY_MS = 86_400_000;

/** Sums up these days; `rows`: node-seconds by day since 1970. */
export function sumCoverage(rows: ReadonlyMap<number, readonly number[]>): CoverageSum {
  const ordered = [...rows].sort(([left], [right]) => left - right);
  const all = ordered.reduce<readonly number[]>((sum, [, row]) => sumRows(sum, row), []);
  const [covered = 0, uncovered = 0] = all;
  const known = covered + uncovered;
  return {
    days: ordered.map(([day, [inCover = 0, without = 0, unknown = 0]]) => ({
      day: new Date(day * DAY_MS).toISOString().slice(0, 10),
      coveredMinutes: minutesOf(inCover),
      uncoveredMinutes: minutesOf(without),
      unknownMinutes: minutesOf(unknown),
    })),
    ...(known === 0 ? {} : { coverage: covered / known }),
    timeToDaemon: timeToDaemon(all.slice(TIME_COLUMNS)),
  };
}

/** Days of several DaemonSets, added up. */
export function addDays(
  all: readonly ReadonlyMap<number, readonly number[]>[],
): ReadonlyMap<number, readonly number[]> {
  const sum = new Map<number, readonly number[]>();
  for (const [day, row] of all.flatMap((each) => [...each])) {
    sum.set(day, sumRows(sum.get(day) ?? [], row));
  }
  return sum;
}

/** To a hundredth. */
function minutesOf(seconds: number): number {
  return Math.round((seconds / 60) * 100) / 100;
}
