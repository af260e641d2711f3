/**
 * The Log port on stderr, for programs that a person starts: warnings and errors as lines, with their cause.
 *
 * What merely happens (debug, info) is left out: the person asked for a server, not for its diary.
 */
import type { Log, LogFields } from '../ports/log.ts';

/** A log on stderr; fields follow the message as JSON. */
export function createStderrLog(fields: LogFields = {}): Log {
  const write = (message: string, more: LogFields = {}, cause?: unknown): void => {
    const all = { ...fields, ...more };
    const shown = Object.keys(all).length === 0 ? '' : ` ${JSON.stringify(all)}`;
    const why =
      cause === undefined
        ? ''
        : `: ${cause instanceof Error ? cause.message : JSON.stringify(cause)}`;
    process.stderr.write(`${message}${why}${shown}\n`);
  };
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: write,
    error: write,
    with: (more) => createStderrLog({ ...fields, ...more }),
  };
}
