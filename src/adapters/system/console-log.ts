/**
 * Log as JSON lines on stderr, for the watcher and the command line.
 *
 * stdout stays free for results (`--json`). Pretty output is the CLI's business. No credential passes
 * (S11): every line goes through the redactor.
 */
import { LOG_LEVELS, logOf } from '@rollcall/base/log-of.ts';
import type { LogLevel } from '@rollcall/base/log-of.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { causeFields, safeFields, safeText } from './log-line.ts';
import { createRedactor } from './redact.ts';
import type { Redactor } from './redact.ts';

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

/** A log that writes JSON lines. */
export function createConsoleLog({
  level: least = 'info',
  redactor = createRedactor(),
  write = (line) => process.stderr.write(`${line}\n`),
  nowMs = () => Date.now(),
}: ConsoleLogOptions = {}): Log {
  return logOf(({ level, message, fields, cause }) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
    write(
      JSON.stringify({
        time: new Date(nowMs()).toISOString(),
        level,
        message: safeText(message, redactor),
        ...safeFields(fields, redactor),
        ...causeFields(cause, redactor),
      }),
    );
  });
}
