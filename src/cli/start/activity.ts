/**
 * Recent events and their reasons, for the person who watches: the engine's log lines, kept and shortened.
 *
 * Trouble, and of level info what happened to pods and rollouts, become one sentence each, repeated ones are counted; the table
 * shows the newest. What the engine does besides is for `--verbose`, with which every line goes to stderr as JSON.
 */
import { inspect } from 'node:util';
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { logOf, type LogLevel } from '@rollcall/base/log-of.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log, LogFields } from '@rollcall/base/ports/log.ts';

/** The log of the engine, and the last sentences made of it. */
export interface Activity {
  readonly log: Log;
  /** The newest sentences, newest last. */
  readonly recent: () => readonly string[];
  /** How many lines of level warn or error there were. */
  readonly troubleCount: () => number;
}

export interface ActivityOptions {
  readonly linesMax: number;
  /** Called with every line of any level; for `--verbose`. */
  readonly onLine?: (line: string) => void;
  /** Called with each sentence, repeated ones but once. */
  readonly onSentence?: (sentence: string) => void;
  readonly nowText: () => string;
}

const LINES_MAX = 8;

/** The activity of a command, whose lines go to stderr as JSON too with `--verbose`. */
export function openActivity(
  options: { readonly isVerbose: boolean },
  clock: Clock,
  tell?: ActivityOptions['onSentence'],
): Activity {
  return createActivity({
    ...defined({ onSentence: tell }),
    linesMax: LINES_MAX,
    nowText: () => new Date(clock.nowMs()).toISOString().slice(11, 19),
    ...(options.isVerbose && {
      onLine: (line: string): void => {
        process.stderr.write(`${line}\n`);
      },
    }),
  });
}

export function createActivity(options: ActivityOptions): Activity {
  const sentences: string[] = [];
  /** The newest sentence without its time, and how often it came in a row. */
  let last = { sentence: '', count: 0 };
  let troubles = 0;
  const log = logOf(({ level, message, fields, cause }) => {
    const at = options.nowText();
    options.onLine?.(JSON.stringify({ at, level, message, ...fields, ...causeField(cause) }));
    if (level === 'debug') return;
    if (level !== 'info') troubles += 1;
    else if (!isOfPods(message, fields)) return;
    const sentence = `${clusterMark(fields)}${sentenceOf(level, message, fields)}`;
    const isRepeated = sentence === last.sentence;
    last = { sentence, count: isRepeated ? last.count + 1 : 1 };
    if (isRepeated) sentences.pop();
    else options.onSentence?.(`${at} ${sentence}`);
    sentences.push(`${at} ${sentence}${isRepeated ? ` ×${String(last.count)}` : ''}`);
    if (sentences.length > options.linesMax) sentences.shift();
  });
  return { log, recent: () => sentences, troubleCount: () => troubles };
}

function causeField(cause: unknown): { readonly cause?: string } {
  if (cause === undefined) return {};
  return { cause: cause instanceof Error ? cause.message : inspect(cause) };
}

function clusterMark({ cluster }: LogFields): string {
  return cluster === undefined || cluster === null ? '' : `${String(cluster)} `;
}

function reconcileSentence(fields: LogFields): string {
  const done = EFFECTS.map(([name, verb]) => ({ verb, count: countIn(fields, name) }))
    .filter(({ count }) => count > 0)
    .map(({ verb, count }) => `${counted(count, 'pod')} ${verb}`);
  return `${keyOf(fields)}: ${done.join(', ')}`;
}

function keyOf({ namespace, name }: LogFields): string {
  return `${String(namespace)}/${String(name)}`;
}

const EFFECTS = [
  ['creates', 'created'],
  ['deletes', 'deleted'],
  ['refused', 'refused'],
] as const;

function countIn(fields: LogFields, name: string): number {
  return Number(fields[name] ?? 0);
}

/** Other messages on pods and rollouts; the rest of level info is about the engine, and for --verbose. */
const OF_PODS: ReadonlySet<string> = new Set([
  'a rollout goes on',
  'many pods of a DaemonSet go no more',
  'a fleet was decided on',
  'a cluster of a fleet was given a release',
]);

function isOfPods(message: string, fields: LogFields): boolean {
  if (message !== 'reconcile') return OF_PODS.has(message);
  return EFFECTS.some(([name]) => countIn(fields, name) > 0);
}

/** Fields that say what happened; the others are for machines. */
const SHOWN_FIELDS = ['namespace', 'name', 'node', 'creates', 'deletes', 'code', 'reason', 'error'];

function sentenceOf(level: LogLevel, message: string, fields: LogFields): string {
  if (message === 'reconcile' && level === 'info') return reconcileSentence(fields);
  if (level === 'info' && fields['name'] !== undefined) {
    const { code } = fields;
    return `${keyOf(fields)}: ${message}${code === undefined ? '' : ` (${String(code)})`}`;
  }
  const shown = SHOWN_FIELDS.filter((name) => fields[name] !== undefined && fields[name] !== 0)
    .map((name) => `${name}=${String(fields[name])}`)
    .join(' ');
  const mark = level === 'info' ? '' : `${level.toUpperCase()} `;
  return shown === '' ? `${mark}${message}` : `${mark}${message} (${shown})`;
}
