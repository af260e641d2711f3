/**
 * What clusters cost a month, from what was counted of them in the last days (counted.ts), by cause.
 *
 * Counted are messages, write units of slices, runs and their time. What each takes beside that was counted by the model of
 * `npm run bench -- cost`, which holds the sum to what AWS would bill.
 */
import type { Counted, MessageCounts, RunCounts } from './counted.ts';
import { MONTH_HOURS, dollarsOfUsage, gigabyteSecondsOf, totalOf, type Usage } from './prices.ts';
import { FUNCTION_MEGABYTES } from './stack-price.ts';

/** Why a cluster costs something, in the order of a table. */
export const COST_CAUSES = ['messages', 'changes', 'acts', 'looks', 'idle'] as const;

/** One of them. */
export type CostCause = (typeof COST_CAUSES)[number];

/** What was counted of a cluster. */
export interface ClusterCounts {
  /** Undefined: nothing was counted yet. */
  readonly messages: Counted<MessageCounts> | undefined;
  /** One for each DaemonSet of which something was counted. */
  readonly runs: readonly Counted<RunCounts>[];
  readonly daemonSets: number;
}

/** What a cluster does and costs in a month at that pace. */
export interface ClusterMonth {
  readonly messages: number;
  readonly runs: number;
  readonly dollars: Readonly<Record<CostCause, number>>;
  /** Of the longest count; 0: there is none, and all but `idle` is unknown. */
  readonly hours: number;
}

/** Less than an hour says nothing of a month. */
const HOURS_MIN = 1;

const NOTHING: Usage = {
  sqsRequests: 0,
  readUnits: 0,
  writeUnits: 0,
  invocations: 0,
  gigabyteSeconds: 0,
};

/** Of a message: sent, received, deleted; registration, META and what a snapshot reads. */
const MESSAGE = { sqsRequests: 3, readUnits: 3, invocations: 1, durationMs: 45 };
/** META is written for each; it keeps positions of up to a hundred DaemonSets (ADR 0076). */
const META_BYTES = 370;
const POSITION_BYTES = 58;
/** For each unit of a slice that is packed and written. */
const SLICE_UNIT_MS = 0.4;

/** Of a run: its hint, reads, states. Runs share invocations, the less so the more there is to do. */
const RUNS = {
  looks: { sqsRequests: 2, readUnits: 10, writeUnits: 1, invocations: 0.5, timeShare: 0.5 },
  acts: { sqsRequests: 4.5, readUnits: 15, writeUnits: 3, invocations: 1.4, timeShare: 1.2 },
} as const;

/** `resync` reads META each minute, for half a unit, and due times each quarter of an hour. */
const IDLE_HOUR = { readUnits: 30, readUnitsOfDaemonSet: 2.3, durationMs: 230 };

/** The month of a cluster. */
export function clusterMonth({ messages, runs, daemonSets }: ClusterCounts): ClusterMonth {
  const heard = aMonth(messages, messages?.counts ?? { messages: 0, sliceUnits: 0 });
  const ran = runs.map((each) => aMonth(each, each.counts));
  const sum = (of: keyof RunCounts): number => ran.reduce((total, each) => total + each[of], 0);
  return {
    messages: heard.messages,
    runs: sum('looks') + sum('acts'),
    dollars: {
      messages: priceOf(usageOfMessages(heard.messages, daemonSets)),
      changes: priceOf({
        ...NOTHING,
        writeUnits: heard.sliceUnits,
        gigabyteSeconds: gigabyteSecondsOf(
          heard.sliceUnits * SLICE_UNIT_MS,
          FUNCTION_MEGABYTES.ingest,
        ),
      }),
      acts: priceOf(usageOfRuns('acts', sum('acts'), sum('actMs'))),
      looks: priceOf(usageOfRuns('looks', sum('looks'), sum('lookMs'))),
      idle: priceOf({
        ...NOTHING,
        readUnits:
          MONTH_HOURS * (IDLE_HOUR.readUnits + daemonSets * IDLE_HOUR.readUnitsOfDaemonSet),
        gigabyteSeconds: gigabyteSecondsOf(
          MONTH_HOURS * IDLE_HOUR.durationMs,
          FUNCTION_MEGABYTES.resync,
        ),
      }),
    },
    hours: Math.max(0, ...[messages, ...runs].flatMap((each) => (each ? hoursOf(each) : []))),
  };
}

/** All causes together. */
export function totalOfMonth({ dollars }: Pick<ClusterMonth, 'dollars'>): number {
  return COST_CAUSES.reduce((sum, cause) => sum + dollars[cause], 0);
}

/** What was counted took some time, also by a clock that is behind those that counted. */
function hoursOf({ hours }: Counted<unknown>): number {
  return Math.max(1 / 60, hours);
}

/** Counts at their pace, for a month. */
function aMonth<Counts extends object>(
  counted: Counted<unknown> | undefined,
  counts: Counts,
): Readonly<Record<keyof Counts, number>> {
  const factor = MONTH_HOURS / Math.max(HOURS_MIN, counted?.hours ?? HOURS_MIN);
  const scaled = Object.entries(counts).map(([name, count]) => [name, Number(count) * factor]);
  return Object.fromEntries(scaled) as Record<keyof Counts, number>; // the same ones
}

function priceOf(usage: Usage): number {
  return totalOf(dollarsOfUsage(usage));
}

function usageOfMessages(count: number, daemonSets: number): Usage {
  const { durationMs, ...each } = MESSAGE;
  const writeUnits = Math.ceil((META_BYTES + Math.min(daemonSets, 100) * POSITION_BYTES) / 1024);
  return {
    ...times({ ...each, writeUnits }, count),
    gigabyteSeconds: gigabyteSecondsOf(count * durationMs, FUNCTION_MEGABYTES.ingest),
  };
}

function usageOfRuns(kind: keyof typeof RUNS, count: number, durationMs: number): Usage {
  const { timeShare, ...each } = RUNS[kind];
  return {
    ...times(each, count),
    gigabyteSeconds: gigabyteSecondsOf(durationMs * timeShare, FUNCTION_MEGABYTES.reconcile),
  };
}

function times(
  { sqsRequests, readUnits, writeUnits, invocations }: Omit<Usage, 'gigabyteSeconds'>,
  count: number,
): Omit<Usage, 'gigabyteSeconds'> {
  return {
    sqsRequests: sqsRequests * count,
    readUnits: readUnits * count,
    writeUnits: writeUnits * count,
    invocations: invocations * count,
  };
}
