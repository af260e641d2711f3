/**
 * Log as JSON lines on stderr, for the watcher and the command line.
 *
 * stdout stays free for results (`--json`). Pretty output is the CLI's business. No credential passes
 * (S11): every line goes through the redactor.
 */
import type { Log, LogFields } from '@rollcall/base/ports/log.ts';
import { causeFields, safeFields, safeText } from './log-line.ts';
import { createRedactor } from './redact.ts';
import type { Redactor } from './redact.ts';

/** Levels, the least first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** A level. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Options of a console log. */
export interface ConsoleLogOptions {
  /** Lines below this are not written. Default `info`. */
  readonly level?: LogLevel;
  readonly redactor?: Redactor;
  /** Takes a line without its line break. Default: stderr. */
  readonly write?: (line: string) => void;
  /** Wall time for the field `time`; default the system's. */
  readonly nowMs?: () => number;
}

interface Sink {
  readonly levelIndex: number;
  readonly redactor: Redactor;
  readonly write: (line: string) => void;
  readonly nowMs: () => number;
}

class ConsoleLog implements Log {
  readonly #sink: Sink;
  readonly #fields: LogFields;

  constructor(sink: Sink, fields: LogFields) {
    this.#sink = sink;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#line('debug', { message, fields });
  }

  info(message: string, fields?: LogFields): void {
    this.#line('info', { message, fields });
  }

  warn(message: string, fields?: LogFields, cause?: unknown): void {
    this.#line('warn', { message, fields, cause });
  }

  error(message: string, fields?: LogFields, cause?: unknown): void {
    this.#line('error', { message, fields, cause });
  }

  with(fields: LogFields): Log {
    return new ConsoleLog(this.#sink, { ...this.#fields, ...fields });
  }

  #line(
    level: LogLevel,
    line: {
      readonly message: string;
      readonly fields: LogFields | undefined;
      readonly cause?: unknown;
    },
  ): void {
    const { levelIndex, redactor, write, nowMs } = this.#sink;
    if (LOG_LEVELS.indexOf(level) < levelIndex) return;
    write(
      JSON.stringify({
        time: new Date(nowMs()).toISOString(),
        level,
        message: safeText(line.message, redactor),
        ...safeFields({ ...this.#fields, ...line.fields }, redactor),
        ...causeFields(line.cause, redactor),
      }),
    );
  }
}

/** A log that writes JSON lines. */
export function createConsoleLog(options: ConsoleLogOptions = {}): Log {
  const sink: Sink = {
    levelIndex: LOG_LEVELS.indexOf(options.level ?? 'info'),
    redactor: options.redactor ?? createRedactor(),
    write: options.write ?? ((line) => process.stderr.write(`${line}\n`)),
    nowMs: options.nowMs ?? (() => Date.now()),
  };
  return new ConsoleLog(sink, {});
}
