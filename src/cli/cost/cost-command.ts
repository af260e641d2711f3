/**
 * `rollcall cost`: what the stack and its clusters cost a month, from what was counted in the last days (ADR 0082).
 *
 * Reads tables, asks neither AWS's bill nor a cluster. What cannot be read is named, and the others are told all the same.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { readCounts } from '../../app/cost/read-counts.ts';
import { outagesOfStack, readStanding } from '../../app/why/standing.ts';
import { COST_CAUSES, clusterMonth, totalOfMonth } from '../../core/cost/month.ts';
import type { ClusterMonth, CostCause } from '../../core/cost/month.ts';
import { STACK_DOLLARS } from '../../core/cost/stack-price.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { SILENT_AFTER_MS } from '../../core/status/outages.ts';
import { LABEL_OPTION, parseClusterChoice, readChosen } from '../command-line/cluster-arguments.ts';
import type { Line } from '../command-line/colour.ts';
import { defineCommand, textOption } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { renderAge, renderTextTable } from '../command-line/text-table.ts';
import type { Stack } from '../reach/stack.ts';

interface ClusterCost extends ClusterMonth {
  readonly id: string;
  readonly dollarsAMonth: number;
  readonly countedAtMs?: number;
  /** Items of it that cannot be read: their counts are missing. */
  readonly unreadable: readonly string[];
}

/** The command. */
export const costCommand: CommandModule = defineCommand({
  path: ['cost'],
  documents: ['Cost'],
  summary: 'estimate what the stack and its clusters cost a month',
  about: [
    'It multiplies the counts of messages, writes and runs of the last week by the list prices of us-east-1.',
    'It says how many hours were counted; of less than a day the month is a guess.',
    'Below the table it names what is not in it: NAT gateways, endpoints and data transfer may cost more.',
  ],
  options: {
    cluster: textOption('--cluster <id>', 'of this cluster alone'),
    label: LABEL_OPTION,
  },
  examples: ['cost', 'cost --label stage=prod', 'cost --cluster prod-eu-1 --json'],
  run: async ({ options }, context) => {
    const choice = parseClusterChoice(options);
    const stack = await context.openStack();
    const nowMs = stack.clock.nowMs();
    const standing = await readStanding(stack);
    const { registrations, unreadable } = await readChosen(stack.registry, choice);
    const clusters = await sideBySide(registrations, AT_ONCE, (each) => costOf(each, stack, nowMs));
    const outages = outagesOfStack(standing, { nowMs });
    const isSome = choice.id !== undefined || choice.labels.length > 0;
    return present({ clusters, unreadable, nowMs, isSome, warnings: outageLines(outages) });
  },
});

/** Clusters whose items are read side by side. */
const AT_ONCE = 8;

async function costOf(
  { id, clusterUid }: ClusterRegistration,
  { view }: Pick<Stack, 'view'>,
  nowMs: number,
): Promise<ClusterCost> {
  const { unreadable, lastAtMs, ...counts } = await readCounts(clusterUid, { view, nowMs });
  const month = clusterMonth(counts);
  return {
    ...{ id, ...month, dollarsAMonth: totalOfMonth(month), unreadable },
    ...defined({ countedAtMs: lastAtMs }),
  };
}

interface Costs {
  readonly clusters: readonly ClusterCost[];
  readonly unreadable: readonly { readonly id: string; readonly reason: string }[];
  readonly nowMs: number;
  /** True if not all clusters were asked for. */
  readonly isSome: boolean;
  readonly warnings: readonly Line[];
}

function present(costs: Costs): CommandResult {
  const { clusters, unreadable } = costs;
  const sum = (of: (cluster: ClusterCost) => number): number =>
    clusters.reduce((total, each) => total + of(each), 0);
  const byCause = Object.fromEntries(
    COST_CAUSES.map((cause) => [cause, sum(({ dollars }) => dollars[cause])]),
  );
  const ofStack = Object.values(STACK_DOLLARS).reduce((total, part) => total + part, 0);
  const ofClusters = sum(({ dollarsAMonth }) => dollarsAMonth);
  const hours = Math.max(0, ...clusters.map((each) => each.hours));
  const totals = { ofClusters, ofStack, total: ofClusters + ofStack };
  return {
    document: {
      kind: 'Cost',
      ...{ currency: 'USD', hours, clusters, unreadable, byCause, stack: STACK_DOLLARS, ...totals },
      notSeen: NOT_SEEN,
    },
    lines: [
      ...costs.warnings,
      ...basisLines(costs, hours),
      ...clusterLines(costs),
      '',
      ...renderTextTable(
        ['CAUSE', '$ A MONTH'],
        [
          ...COST_CAUSES.map((cause) => [CAUSE_WORDS[cause], money(byCause[cause] ?? 0)]),
          ...Object.entries(STACK_DOLLARS).map(([part, dollars]) => [
            `the stack itself: ${STACK_WORDS[part as keyof typeof STACK_DOLLARS]}`,
            money(dollars),
          ]),
          [costs.isSome ? 'these clusters' : 'all clusters', money(ofClusters)],
          ['the stack itself, for all of its clusters', money(ofStack)],
          ['together', money(ofClusters + ofStack)],
        ],
      ),
      '',
      'Not seen, and not in it:',
      ...NOT_SEEN.map((each) => `  ${each}`),
    ],
  };
}

function basisLines({ clusters, unreadable }: Costs, hours: number): readonly string[] {
  const known = clusters.filter((each) => each.hours > 0);
  const fewest = Math.min(...known.map((each) => each.hours));
  const basis =
    known.length === 0
      ? 'Nothing was counted yet: what follows is the fixed price alone.'
      : `Counted over the last ${spanText(hours)}, at list prices of us-east-1; a month is 730 hours at that pace.`;
  const isShort = known.length > 0 && fewest < DAY_HOURS;
  return [
    basis,
    ...(isShort
      ? [
          `! Of some clusters less than a day is counted (${spanText(fewest)}): their month is a guess from it.` +
            (fewest < 1 ? ' Less than an hour is taken for an hour.' : ''),
        ]
      : []),
    ...unreadable.map(({ id, reason }) => `! ${id} cannot be read, and is not in it: ${reason}`),
  ];
}

const DAY_HOURS = 24;

function spanText(hours: number): string {
  if (hours < 1) return counted(Math.ceil(hours * 60), 'minute');
  return hours < DAY_HOURS ? `${hours.toFixed(1)} hours` : `${(hours / DAY_HOURS).toFixed(1)} days`;
}

const HEADINGS = ['CLUSTER', 'MESSAGES', 'RUNS', '$ A MONTH', 'NOTE'];

function clusterLines({ clusters, nowMs, isSome }: Costs): readonly string[] {
  if (clusters.length === 0) return [isSome ? 'No cluster has these labels.' : 'No clusters.'];
  const dearest = [...clusters].sort((left, right) => right.dollarsAMonth - left.dollarsAMonth);
  return renderTextTable(
    HEADINGS,
    dearest.map((each) => [
      each.id,
      String(Math.round(each.messages)),
      String(Math.round(each.runs)),
      money(each.dollarsAMonth),
      noteOf(each, nowMs),
    ]),
  );
}

function noteOf({ hours, countedAtMs, unreadable }: ClusterCost, nowMs: number): string {
  const [first] = unreadable;
  const notes = first === undefined ? [] : [`counts are missing: ${first}`];
  if (hours === 0) return [...notes, 'nothing was counted yet'].join('; ');
  const silentMs = nowMs - (countedAtMs ?? 0);
  if (countedAtMs === undefined) notes.push('nothing was counted in the last days');
  else if (silentMs > SILENT_AFTER_MS) notes.push(`nothing for ${renderAge(silentMs)}`);
  return notes.join('; ');
}

/** Cents, and of less what can be told. */
function money(dollars: number): string {
  return dollars >= 0.1 || dollars === 0 ? dollars.toFixed(2) : dollars.toFixed(4);
}

const CAUSE_WORDS: Readonly<Record<CostCause, string>> = {
  messages: 'messages of watchers, heartbeats among them',
  changes: 'what they changed: slices written',
  acts: 'runs that made or deleted pods: rollouts, repairs, new nodes',
  looks: 'other runs that wrote their state',
  idle: 'resync, while nothing happens',
};

const STACK_WORDS: Readonly<Record<keyof typeof STACK_DOLLARS, string>> = {
  polling: 'polling of empty queues',
  alarms: 'alarms',
  metrics: 'metrics',
  dashboard: 'the dashboard',
  key: 'the key of tokens',
  schedules: 'a turn of resync and of fleet each minute',
};

const NOT_SEEN = [
  'free tiers, discounts, and prices of other regions than us-east-1',
  'NAT gateways, interface endpoints, data transfer (they may cost more than all of the above)',
  'runs that found nothing new and wrote nothing, repeated messages, DaemonSets that are gone',
  'FleetDaemonSets, sealed tokens and their KMS requests, dead letters, backups of tables',
  'logs beyond a kilobyte for each invocation; alarms or metrics switched off or added',
  'what runs in the clusters: watcher and token renewer',
];
