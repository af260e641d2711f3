/**
 * A log over one function that takes its lines: what every log is, wherever the lines go.
 */
import type { Log, LogFields } from './ports/log.ts';

/** Levels, the least first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** A level. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One line, with the fields that were fixed for all of them. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
  readonly cause?: unknown;
}

/** The log whose lines `take` is given. */
export function logOf(take: (entry: LogEntry) => void, fixed: LogFields = {}): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields, cause?: unknown): void => {
      take({ level, message, fields: { ...fixed, ...fields }, cause });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => logOf(take, { ...fixed, ...fields }),
  };
}
