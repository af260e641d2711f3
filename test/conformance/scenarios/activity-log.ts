/**
 * Keeps what the engine logged and counted, for scenarios to ask about and failures to print.
 */
import { logOf, type LogEntry } from '@rollcall/base/log-of.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../../src/ports/process.ts';

/** Kept lines and counters, with the sinks that fill them. */
export interface ActivityLog {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly lines: readonly LogEntry[];
  /** Sum of a counter; with an outcome, of that outcome only. */
  readonly counted: (name: string, outcome?: string) => number;
  /** The last lines of at least this level as text, for the message of a failure. */
  readonly tail: (count: number) => string;
}

const LINES_MAX = 20_000;

/** Makes an activity log. */
export function createActivityLog(): ActivityLog {
  const lines: LogEntry[] = [];
  const counters = new Map<string, number>();
  const add = (key: string, by: number): void => {
    counters.set(key, (counters.get(key) ?? 0) + by);
  };
  const metrics: Metrics = {
    count: (name, options) => {
      add(name, options?.by ?? 1);
      if (options?.outcome !== undefined) add(`${name}/${options.outcome}`, options.by ?? 1);
    },
    record: (name) => {
      add(name, 1);
    },
  };
  const keep = (line: LogEntry): void => {
    lines.push(line);
    if (lines.length > LINES_MAX) lines.shift();
  };
  return {
    log: logOf(keep),
    metrics,
    lines,
    counted: (name, outcome) =>
      counters.get(outcome === undefined ? name : `${name}/${outcome}`) ?? 0,
    tail: (count) =>
      lines
        .filter((line) => line.level !== 'debug')
        .slice(-count)
        .map((line) => `${line.level} ${line.message} ${JSON.stringify(line.fields)}`)
        .join('\n'),
  };
}
