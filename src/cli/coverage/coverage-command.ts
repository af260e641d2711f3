/**
 * `rollcall coverage`: of the time that nodes were to have a pod, the share in which one of an approved release served them, by day; and
 * how long nodes that joined waited for it (core/coverage).
 *
 * Reads tables, asks no cluster. Time that is not known is told as unknown, and is in no share.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { readCoverage } from '../../app/coverage/read-coverage.ts';
import type { NameCoverage } from '../../app/coverage/read-coverage.ts';
import { outagesOfStack, readStanding } from '../../app/why/standing.ts';
import { COVERAGE_DAYS_MAX } from '../../core/coverage/kept-days.ts';
import { addDays, sumCoverage } from '../../core/coverage/report.ts';
import type { CoverageSum } from '../../core/coverage/report.ts';
import { BUCKET_SECONDS } from '../../core/coverage/time-to-daemon.ts';
import { LABEL_OPTION, parseClusterChoice, readChosen } from '../command-line/cluster-arguments.ts';
import type { Line } from '../command-line/colour.ts';
import { choiceOption, defineCommand, textOption } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText, renderAge, renderTextTable } from '../command-line/text-table.ts';
import { parseMoment } from '../log/parse-moment.ts';
import { usageError } from '../process/exit-codes.ts';

const DAY_MS = 86_400_000;
/** Clusters that are read side by side. */
const AT_ONCE = 8;
const OWNER_LABEL = 'owner';

interface Row extends NameCoverage {
  readonly cluster: string;
}

/** The command. */
export const coverageCommand: CommandModule = defineCommand({
  path: ['coverage'],
  documents: ['Coverage'],
  summary: 'tell for how much of the time nodes had the pods that they were to have',
  about: [
    'Coverage is node-minutes with a Ready pod of an approved release, divided by the node-minutes of eligible nodes.',
    'Time in which the watcher was silent, or functions were stopped or did not come, is unknown; it is in no share.',
    'Days are those of UTC; the last 366 are kept.',
    'Times of nodes that joined run from the creation of the node to its Ready pod, as upper bounds of fixed ranges.',
  ],
  options: {
    since: textOption('--since <time>', 'from that day on: 30d, or a day (default: 30d)'),
    cluster: textOption('--cluster <id>', 'of this cluster alone'),
    label: LABEL_OPTION,
    by: choiceOption('--by <what>', 'rows of the table: daemonset (default), cluster, or owner', [
      'daemonset',
      'cluster',
      'owner',
    ]),
    ownerLabel: textOption(
      '--owner-label <key>',
      `the label of a DaemonSet that says whose it is (default: ${OWNER_LABEL})`,
    ),
    output: choiceOption('-o, --output <form>', 'table (default), json, or csv', [
      'table',
      'json',
      'csv',
    ]),
  },
  examples: ['coverage', 'coverage --since 90d --by owner', 'coverage --since 30d -o csv'],
  run: async ({ options }, context) => {
    const choice = parseClusterChoice(options);
    const stack = await context.openStack();
    const nowMs = stack.clock.nowMs();
    const fromDay = firstDay(options.since, nowMs);
    const ownerLabel = options.ownerLabel ?? OWNER_LABEL;
    const [standing, stops, content] = await Promise.all([
      readStanding(stack),
      stack.freezes.readStops(),
      readChosen(stack.registry, choice),
    ]);
    const unreadable = content.unreadable.map((each) => `${each.id}: ${each.reason}`);
    const rows = await sideBySide(content.registrations, AT_ONCE, async (registration) => {
      const question = { fromDay, nowMs, ownerLabel };
      const found = await readCoverage(registration, question, {
        view: stack.view,
        standing,
        stops,
      });
      unreadable.push(...found.unreadable.map((each) => `${registration.id}: ${each}`));
      return found.names.map((each) => ({ cluster: registration.id, ...each }));
    });
    const report = { rows: rows.flat().sort(byName), unreadable, nowMs, sinceMs: fromDay * DAY_MS };
    const lines =
      options.output === 'csv'
        ? csvLines(report)
        : [
            ...outageLines(outagesOfStack(standing, { nowMs })),
            ...tableLines(report, options.by ?? 'daemonset'),
          ];
    for (const each of options.output === 'csv' ? unreadable : []) context.say(`! ${each}`);
    return { document: documentOf(report), lines };
  },
});

/** None before the oldest day that is kept. Throws CommandError (2), also for a day that has not begun. */
function firstDay(since: string | undefined, nowMs: number): number {
  const day = Math.floor(parseMoment(since ?? '30d', nowMs) / DAY_MS);
  const today = Math.floor(nowMs / DAY_MS);
  if (day <= today) return Math.max(day, today - COVERAGE_DAYS_MAX + 1);
  throw usageError('--since is a day that has not begun (UTC).', 'Pass e.g. --since 30d.');
}

interface Report {
  readonly rows: readonly Row[];
  readonly unreadable: readonly string[];
  readonly sinceMs: number;
  readonly nowMs: number;
}

function documentOf({ rows, unreadable, sinceMs, nowMs }: Report): CommandResult['document'] {
  return {
    kind: 'Coverage',
    sinceMs,
    untilMs: nowMs,
    rows: rows.map(({ cluster, namespace, name, ownerLabel, days }) => ({
      cluster,
      namespace,
      name,
      ...defined({ ownerLabel }),
      ...sumCoverage(days),
    })),
    unreadable,
  };
}

function byName(left: Row, right: Row): number {
  const nameOf = ({ cluster, namespace, name }: Row): string => `${cluster}/${namespace}/${name}`;
  return compareText(nameOf(left), nameOf(right));
}

const CSV_COLUMNS =
  'cluster,namespace,name,owner,day,covered_minutes,uncovered_minutes,unknown_minutes';

function csvLines({ rows }: Report): readonly Line[] {
  const lines = rows.flatMap(({ cluster, namespace, name, ownerLabel = '', days }) =>
    sumCoverage(days).days.map((each) =>
      [
        ...[cluster, namespace, name, ownerLabel, each.day].map(csvField),
        ...[each.coveredMinutes, each.uncoveredMinutes, each.unknownMinutes],
      ].join(','),
    ),
  );
  return [CSV_COLUMNS, ...lines];
}

function csvField(text: string): string {
  const plain = plainText(text);
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

const HEADINGS = {
  daemonset: ['CLUSTER', 'NAMESPACE', 'NAME'],
  cluster: ['CLUSTER'],
  owner: ['OWNER'],
} as const;

function tableLines(
  { rows, unreadable, sinceMs }: Report,
  by: keyof typeof HEADINGS,
): readonly Line[] {
  const warnings = unreadable.map((each) => `! cannot be read, and is not in it: ${each}`);
  if (rows.length === 0) return [...warnings, 'Nothing was counted in that time.'];
  const groups = Map.groupBy(rows, (row) => JSON.stringify(namesOf(row, by)));
  const cells = [...groups.values()].flatMap((group) => {
    const [first] = group;
    const sum = sumCoverage(addDays(group.map(({ days }) => days)));
    return first === undefined ? [] : [[...namesOf(first, by), ...numbersOf(sum)]];
  });
  const numbers = ['COVERAGE', 'UNKNOWN', 'NEW NODES', 'P50', 'P95', 'P99'];
  return [
    ...warnings,
    `Since ${new Date(sinceMs).toISOString().slice(0, 10)} (UTC):`,
    ...renderTextTable([...HEADINGS[by], ...numbers], cells),
  ];
}

function namesOf(
  { cluster, namespace, name, ownerLabel = '-' }: Row,
  by: keyof typeof HEADINGS,
): readonly string[] {
  if (by === 'cluster') return [cluster];
  return by === 'owner' ? [ownerLabel] : [cluster, namespace, name];
}

function numbersOf({ days, coverage, timeToDaemon }: CoverageSum): readonly string[] {
  const unknown = days.reduce((sum, { unknownMinutes }) => sum + unknownMinutes, 0);
  const all = days.reduce(
    (sum, { coveredMinutes, uncoveredMinutes }) => sum + coveredMinutes + uncoveredMinutes,
    unknown,
  );
  const { nodes, p50Ms, p95Ms, p99Ms } = timeToDaemon;
  return [
    coverage === undefined ? '?' : shareText(coverage, Math.floor),
    all === 0 ? '-' : shareText(unknown / all, Math.ceil),
    String(nodes),
    ...[p50Ms, p95Ms, p99Ms].map((bound) => boundText(bound, nodes)),
  ];
}

/** Rounded so that what is not whole is never told as whole, and what is not nothing never as nothing. */
function shareText(share: number, round: (value: number) => number): string {
  return `${(round(Number((share * 10_000).toFixed(6))) / 100).toFixed(2)} %`;
}

function boundText(boundMs: number | undefined, nodes: number): string {
  if (nodes === 0) return '-';
  const last = (BUCKET_SECONDS.at(-1) ?? 0) * 1000;
  return boundMs === undefined ? `> ${renderAge(last)}` : `<= ${renderAge(boundMs)}`;
}
