/**
 * Structured logs as a port. Levels: debug (development), info (something changed in a cluster),
 * warn (refused or deferred; someone may want to act), error (a bug or a lost dependency).
 * Field names are listed in docs/reference/metrics.md; no credential and no object body is ever a field (S11).
 */

/** Fields of a log line. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A logger. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields, cause?: unknown): void;
  error(message: string, fields?: LogFields, cause?: unknown): void;
  /** The same logger with fields on every line. */
  with(fields: LogFields): Log;
}
