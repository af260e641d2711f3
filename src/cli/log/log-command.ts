/**
 * `rollcall log`: what happened, in order, the newest last: what was sent to pods and what came of it, steps, halts, orders, freezes.
 *
 * Reads tables, asks no cluster. How it is stored: ADR 0082.
 */
import { defined } from '@rollcall/base/defined.ts';
import { readLog, type FoundLog } from '../../app/log/read-log.ts';
import { SeenStates } from '../../app/log/read-states.ts';
import { LOG_DAYS_MAX } from '../../core/model/log-entry.ts';
import { describeEntry } from '../../core/log/log-words.ts';
import { NO_FREEZE } from '../../core/may-act/freeze.ts';
import type { Outage } from '../../core/status/outages.ts';
import { outagesOfStack, readStanding } from '../../app/why/standing.ts';
import { subjectText, type LogLine, type LogQuestion } from '../../core/log/merge-log.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import {
  parseClusterId,
  parseNamespacedName,
  readRegistrations,
  wholeNumber,
} from '../command-line/cluster-arguments.ts';
import {
  defineCommand,
  flagOption,
  numberOption,
  textOption,
} from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import type { Line } from '../command-line/colour.ts';
import { outageLines, readFreezeIn } from '../command-line/freeze-words.ts';
import { plainText, renderTextTable } from '../command-line/text-table.ts';
import type { Stack } from '../reach/stack.ts';
import { parseMoment } from './parse-moment.ts';

const LIMIT = 200;
/** Between two looks of --follow: each reads META and the newest items of each cluster, and states that may have changed. */
const FOLLOW_MS = 5_000;
/** A run tells what came of its effects some time after it recorded them. */
const FOLLOW_BACK_MS = 600_000;

/** The command. */
export const logCommand: CommandModule = defineCommand({
  path: ['log'],
  documents: ['Log'],
  about: [
    'It asks the clusters nothing. A line with ! names what could not be read.',
    'An entry names at most sixteen nodes or pods, and counts the others.',
    'rollcall cluster remove drops the entries of its cluster.',
  ],
  summary: 'what happened: effects and their results, steps, halts, orders, freezes',
  args: [['[subject]', 'namespace/name of a DaemonSet, or the name of a node']],
  options: {
    cluster: textOption('--cluster <id>', 'of this cluster alone'),
    since: textOption(
      '--since <time>',
      `from then on: 2h, 3d, or a time in UTC (default: 2h; ${String(LOG_DAYS_MAX)}d are kept)`,
    ),
    until: textOption('--until <time>', 'up to then (default: now)'),
    limit: numberOption(
      '--limit <number>',
      `so many entries at most, the newest (default: ${String(LIMIT)})`,
      wholeNumber(1, 'Pass a whole number from 1.'),
    ),
    follow: flagOption(
      '--follow',
      'go on until Ctrl-C, and tell what happens; with --json one document a line, of what is new',
    ),
  },
  examples: [
    'log --since 8h',
    'log kube-system/node-agent --cluster prod-1 --since 2026-11-28T03:00Z',
  ],
  run: async ({ args, options }, context) => {
    const nowMs = context.clock.nowMs();
    const question = {
      sinceMs: parseMoment(options.since ?? '2h', nowMs),
      untilMs: options.until === undefined ? nowMs : parseMoment(options.until, nowMs),
      ...subjectOf(args[0]),
    };
    const stack = await context.openStack();
    const at = { ...stack, cluster: options.cluster };
    const limit = options.limit ?? LIMIT;
    if (options.follow === true) return follow({ question, at, limit }, context);
    const found = await lookAt(question, at);
    const { document } = documentOf(found, { question, limit });
    return { document, lines: linesOf(found, limit) };
  },
});

function documentOf(
  found: SeenLog,
  { question, limit }: { readonly question: LogQuestion; readonly limit: number },
): Pick<CommandResult, 'document'> {
  const shown = found.lines.slice(-limit);
  const { leftOut, unnamed, unreadable, outages } = found;
  return {
    document: {
      kind: 'Log',
      sinceMs: question.sinceMs,
      untilMs: question.untilMs,
      entries: shown.map(entryOf),
      omitted: found.lines.length - shown.length,
      ...{ leftOut, unnamed, unreadable, outages },
    },
  };
}

function subjectOf(text: string | undefined): Pick<LogQuestion, 'daemonSet' | 'node'> {
  if (text === undefined) return {};
  return text.includes('/')
    ? { daemonSet: parseNamespacedName(text, 'DaemonSet') }
    : { node: text };
}

/** With what stands in the way of the whole stack: it says why nothing has happened since. */
interface SeenLog extends FoundLog {
  readonly outages: readonly Outage[];
}

/** Where is looked: at all clusters of a stack, or at one. */
interface Place extends Stack {
  readonly cluster: string | undefined;
}

async function lookAt(
  question: LogQuestion,
  { cluster, ...stack }: Place,
  seen?: SeenStates,
): Promise<SeenLog> {
  const { registry, view, clock } = stack;
  const [freeze, standing, { registrations, unreadable }] = await Promise.all([
    readFreezeIn(stack),
    readStanding(stack),
    readRegistrations(registry, cluster === undefined ? undefined : parseClusterId(cluster)),
  ]);
  const nowMs = clock.nowMs();
  const standingFreeze = freeze === 'unreadable' ? NO_FREEZE : freeze;
  const { stop } = standing;
  const asked = { view, registrations, freeze: standingFreeze, nowMs };
  const sources = { ...asked, ...defined({ seen, stop }) };
  const found = await readLog(question, sources);
  const reasons = unreadable.map(({ id, reason }) => `${id}: ${reason}`);
  return {
    ...found,
    unreadable: [...reasons, ...found.unreadable],
    outages: outagesOfStack(standing, { freeze, nowMs }),
  };
}

function entryOf({ cluster, subject, entry }: LogLine) {
  return { cluster, subject, ...entry, text: describeEntry(entry) };
}

const HEADINGS = ['TIME', 'CLUSTER', 'ABOUT', 'WHAT'];

function rowOf({ cluster, subject, entry }: LogLine): readonly string[] {
  const about = subjectText(subject);
  return [timeText(entry.atMs), cluster ?? '-', about === '' ? '-' : about, describeEntry(entry)];
}

function linesOf(found: SeenLog, limit: number): readonly Line[] {
  const { lines, outages } = found;
  const shown = lines.slice(-limit);
  const omitted = lines.length - shown.length;
  return [
    ...outageLines(outages),
    ...(omitted === 0
      ? []
      : [
          `${String(omitted)} older entries are not shown: --limit ${String(lines.length)}, or a later --since.`,
        ]),
    ...(shown.length === 0
      ? ['There is no entry of this time.']
      : renderTextTable(HEADINGS, shown.map(rowOf))),
    ...notesOf(found),
  ];
}

function notesOf({ leftOut, unnamed, unreadable }: FoundLog): readonly string[] {
  return [
    ...leftOut.map(
      ({ entries, requests, fromMs, toMs }) =>
        `! ${String(entries)} entries of ${timeText(fromMs)} to ${timeText(toMs)} had no room: they recorded ${String(requests)} requests.`,
    ),
    ...(unnamed === 0
      ? []
      : [
          `! ${String(unnamed)} entries do not name all of their nodes: ask for them by DaemonSet.`,
        ]),
    ...unreadable.map((reason) => `! cannot be read: ${plainText(reason)}`),
  ];
}

interface Following {
  readonly question: LogQuestion;
  readonly at: Place;
  readonly limit: number;
}

interface Looked {
  readonly question: LogQuestion;
  readonly found: SeenLog;
}

/** Says each entry once, and once more where its result became known. Ctrl-C ends it at once. */
async function follow(
  { question, at, limit }: Following,
  context: CommandContext,
): Promise<CommandResult> {
  const { clock, signal, say } = context;
  const seen = new SeenStates();
  const first = await lookAt(question, at, seen);
  const tellNews = newsTeller(context);
  if (context.globals.json !== true) {
    for (const line of outageLines(first.outages)) say(line);
    notesOf(first).forEach(say);
  }
  let looked: Looked = { question, found: { ...first, lines: first.lines.slice(-limit) } };
  tellNews(looked);
  while (!signal.aborted) {
    await clock.sleep(FOLLOW_MS, signal);
    const untilMs = clock.nowMs();
    const sinceMs = Math.max(question.sinceMs, untilMs - FOLLOW_BACK_MS);
    const asked = { ...question, sinceMs, untilMs };
    looked = { question: asked, found: await lookAt(asked, at, seen) };
    tellNews(looked);
  }
  return { ...documentOf(looked.found, { question: looked.question, limit }), lines: [] };
}

/** Tells what the look before did not: lines for people, or one document. */
function newsTeller({ globals, say, emit }: CommandContext): (looked: Looked) => void {
  const news = new News();
  return ({ question, found }) => {
    const fresh = news.of(found);
    if (globals.json !== true) fresh.forEach(([text]) => say(text));
    else if (fresh.length > 0) emit(newsDocument(fresh, { question, found }));
  };
}

type Fresh = readonly (readonly [text: string, line: LogLine])[];

/** Entries that the look before had not: each once, and once more where its result became known. */
class News {
  // Of the last look alone: what is older is not looked at again.
  #told: ReadonlySet<string> = new Set();

  of(found: SeenLog): Fresh {
    const texts = new Map(
      found.lines.map((line) => [plainText(rowOf(line).join('  ')), line] as const),
    );
    const fresh = [...texts].filter(([text]) => !this.#told.has(text));
    this.#told = new Set(texts.keys());
    return fresh;
  }
}

function newsDocument(fresh: Fresh, { question, found }: Looked): CommandResult['document'] {
  const lines = fresh.map(([, line]) => line);
  return documentOf({ ...found, lines }, { question, limit: lines.length }).document;
}

/** Looks at the log of all clusters: at first ten minutes back, then for what is new; undefined: nothing. Rejects as `log` does. */
export function openLogNews(stack: Stack): () => Promise<CommandResult['document'] | undefined> {
  const seen = new SeenStates();
  const news = new News();
  let lookedAtMs = stack.clock.nowMs();
  return async () => {
    const untilMs = stack.clock.nowMs();
    const question = { sinceMs: lookedAtMs - FOLLOW_BACK_MS, untilMs };
    const found = await lookAt(question, { ...stack, cluster: undefined }, seen);
    lookedAtMs = untilMs;
    const fresh = news.of(found);
    return fresh.length === 0 ? undefined : newsDocument(fresh, { question, found });
  };
}
