/**
 * What just happened and why, for the person who watches: the engine's log lines, kept and shortened.
 *
 * Lines of level info and above become one sentence each; the table shows the newest. With
 * `--verbose` every line goes to stderr as JSON besides.
 */
import type { Log, LogFields } from '../../ports/log.ts';

/** The log of the engine, and the last sentences made of it. */
export interface Activity {
  readonly log: Log;
  /** The newest sentences, newest last. */
  readonly recent: () => readonly string[];
  /** How many lines of level warn or error there were. */
  readonly troubleCount: () => number;
}

/** How to keep. */
export interface ActivityOptions {
  readonly linesMax: number;
  /** Called with every line of any level; for `--verbose`. */
  readonly onLine?: (line: string) => void;
  readonly nowText: () => string;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

/** Keeps the engine's log for a table. */
export function createActivity(options: ActivityOptions): Activity {
  const sentences: string[] = [];
  let troubles = 0;
  const take = (level: Level, message: string, fields: LogFields, cause: unknown): void => {
    options.onLine?.(
      JSON.stringify({ at: options.nowText(), level, message, ...fields, ...causeField(cause) }),
    );
    if (level === 'debug') return;
    if (level !== 'info') troubles += 1;
    sentences.push(`${options.nowText()} ${sentenceOf(level, message, fields)}`);
    if (sentences.length > options.linesMax) sentences.shift();
  };
  return { log: createLog(take, {}), recent: () => sentences, troubleCount: () => troubles };
}

function createLog(
  take: (level: Level, message: string, fields: LogFields, cause: unknown) => void,
  fixed: LogFields,
): Log {
  return {
    debug: (message, fields) => {
      take('debug', message, { ...fixed, ...fields }, undefined);
    },
    info: (message, fields) => {
      take('info', message, { ...fixed, ...fields }, undefined);
    },
    warn: (message, fields, cause) => {
      take('warn', message, { ...fixed, ...fields }, cause);
    },
    error: (message, fields, cause) => {
      take('error', message, { ...fixed, ...fields }, cause);
    },
    with: (fields) => createLog(take, { ...fixed, ...fields }),
  };
}

function causeField(cause: unknown): { readonly cause?: string } {
  if (cause === undefined) return {};
  return { cause: cause instanceof Error ? cause.message : String(cause) };
}

/** Fields that say what happened; the others are for machines. */
const SHOWN_FIELDS = ['namespace', 'name', 'node', 'creates', 'deletes', 'code', 'reason', 'error'];

function sentenceOf(level: Level, message: string, fields: LogFields): string {
  const shown = SHOWN_FIELDS.filter((name) => fields[name] !== undefined && fields[name] !== 0)
    .map((name) => `${name}=${String(fields[name])}`)
    .join(' ');
  const mark = level === 'info' ? '' : `${level.toUpperCase()} `;
  return shown === '' ? `${mark}${message}` : `${mark}${message} (${shown})`;
}
