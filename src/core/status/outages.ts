/**
 * Outages that make an answer from stored state untrue, or stop all action on it: told above each answer (docs/reference/codes.md).
 *
 * Judged from what tables hold: notes, what the watcher sent last, when runs were due, and what they saw. Only a fact is said, never a
 * guess at its cause. Sentences hold absolute times, so that they change only when something else does.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Guard } from '../model/plan.ts';
import type { ClusterMode, FreezeNote } from '../model/registration.ts';
import type { DaemonSetState } from '../model/state.ts';
import type { ClusterMeta } from '../model/view-items.ts';
import { timeText, type RolloutPhase } from '../rollout/gate-words.ts';
import { describeFreeze, type StandingFreeze } from '../may-act/freeze.ts';

/** The note of `rollcall stack stop`: author, reason, time, and the functions that are no longer called. */
export interface StopNote extends FreezeNote {
  readonly functions: readonly string[];
}

/** When functions were stopped, and when they were resumed: milliseconds. */
export type StopSpan = readonly [fromMs: number, toMs: number];

/** Stops that are remembered one by one: of more, the two oldest become one, with the time between them. */
export const STOPS_MAX = 16;

/** Stops with one more that is over. */
export function withStop(stops: readonly StopSpan[], stop: StopSpan): readonly StopSpan[] {
  const all = [...stops, stop];
  const [first, second, ...rest] = all;
  if (all.length <= STOPS_MAX || first === undefined || second === undefined) return all;
  return [[first[0], Math.max(first[1], second[1])], ...rest];
}

/** Kinds of outages, the gravest first. Public; docs/reference/codes.md lists them. */
export type OutageCode =
  | 'stopped'
  | 'frozen'
  | 'watcher-silent'
  | 'watcher-stands-by'
  | 'functions-behind'
  | 'api-server-unreachable';

/** One of them. */
export interface Outage {
  readonly code: OutageCode;
  /** The fact, as the beginning of a line without its full stop. */
  readonly message: string;
  /** The remedy, as the end of that line. */
  readonly remedy: string;
  /** Absent: not noted. */
  readonly sinceMs?: number;
}

/** Facts about the functions as a whole: one item each. */
export interface StackStanding {
  /** Absent: the stack was not stopped by the command, or was resumed. */
  readonly stop?: StopNote;
  /** When `resync` last began to walk through the clusters, which it does each minute; absent: no walk is stored. */
  readonly walkedAtMs?: number;
}

export interface ClusterStanding {
  readonly id: string;
  /** Absent: nothing was ever heard of it. */
  readonly meta?: Pick<ClusterMeta, 'lastSentAtMs' | 'breaker' | 'watcherStandsBy'>;
}

/** Facts about the place of a question: the stack, a cluster, one DaemonSet or fleet; each includes those before it. */
export interface OutageFacts extends StackStanding {
  readonly nowMs: number;
  /** `unreadable`: everything counts as frozen then. */
  readonly frozen?: (StandingFreeze & { readonly thaw: string }) | 'unreadable';
  readonly cluster?: ClusterStanding;
  /** Since when a run of the DaemonSet, or a step of the fleet, should have come and did not; absent: none is missed. */
  readonly missedSinceMs?: number;
  /** The last run that is known of: one that came after a stop shows that functions are called. */
  readonly ranAtMs?: number;
}

/** Longer than the watcher's longest heartbeat (13 minutes): something is wrong then. */
export const SILENT_AFTER_MS = 840_000;
/** A run comes within seconds, and what may delay it within this: queues, a cold start, clocks that differ. */
export const MISSED_AFTER_MS = 120_000;
/** `resync` walks each minute; some turns may be lost or long. */
const WALK_MISSED_AFTER_MS = 300_000;

/** Everything that stands in the way of what is asked for, the gravest first. */
export function findOutages(facts: OutageFacts): readonly Outage[] {
  const found = [
    findStop(facts),
    findFreeze(facts),
    findSilence(facts),
    findStandBy(facts),
    findMissed(facts),
    findUnreachable(facts),
  ];
  return found.filter((outage) => outage !== undefined);
}

/** The line above an answer. */
export function outageLine({ message, remedy }: Outage): string {
  return `! ${message}; ${remedy}`;
}

/** While one of these stands, nothing acts until a person does: the answer is as of before. */
const STANDSTILLS: ReadonlySet<OutageCode> = new Set<OutageCode>([
  'stopped',
  'watcher-silent',
  'watcher-stands-by',
  'functions-behind',
]);
/** Where Rollcall only looks, the built-in controller acts whatever the functions do. */
const OF_FUNCTIONS: ReadonlySet<OutageCode> = new Set<OutageCode>(['stopped', 'functions-behind']);

/** True of one in which no run learns what happens. */
export function isStandstill({ code }: Outage): boolean {
  return STANDSTILLS.has(code);
}

/** The outage for which nothing acts there now; undefined: something does, or goes on by itself. */
export function standstillOf(
  outages: readonly Outage[],
  mode: ClusterMode = 'takeover',
): Outage | undefined {
  return outages.find(
    ({ code }) => STANDSTILLS.has(code) && !(mode === 'observe' && OF_FUNCTIONS.has(code)),
  );
}

const GUARD_CODES = {
  stopped: 'stopped',
  'watcher-silent': 'cluster-silent',
  'watcher-stands-by': 'watcher-stands-by',
  'functions-behind': 'functions-behind',
} as const;

const ALL_GUARD_CODES: Readonly<Record<OutageCode, string>> = {
  ...GUARD_CODES,
  frozen: 'frozen',
  'api-server-unreachable': 'cluster-unavailable',
};

/** The guard under which a plan is told while nothing acts: what it would do waits. */
export function guardOfOutage({ code, message }: Outage): Guard | undefined {
  if (code === 'frozen' || code === 'api-server-unreachable') return undefined;
  return { kind: 'status-only', code: GUARD_CODES[code], message };
}

/** What to do about a guard, where an outage stands for it: that names the cluster or the DaemonSet, as a table by codes cannot. */
export function remedyOfGuard(code: string, outages: readonly Outage[]): string | undefined {
  const outage = outages.find((each) => ALL_GUARD_CODES[each.code] === code);
  return outage?.remedy.replace(/^(go on|look): /, '');
}

export interface RunsSeen {
  readonly state: DaemonSetState | undefined;
  /** When the newest change that the last complete run has not seen was sent at the latest; undefined: it has seen all. */
  readonly unseenSinceMs: number | undefined;
  readonly nowMs: number;
}

/**
 * Since when a run should have come and did not. Each run leaves a due time ahead, so one that passed says it; and a change of the
 * view brings a run, which remembers what it saw, or that it waits. Where changes come all the time the due time alone tells.
 */
export function missedRunSinceMs(runs: RunsSeen): number | undefined {
  const { state, unseenSinceMs, nowMs } = runs;
  const { memo, dueAtMs, deferredSinceMs, retry } = state ?? {};
  const isWaiting = deferredSinceMs !== undefined || retry !== undefined;
  const hasRun = state === undefined || (memo !== undefined && !isWaiting);
  const candidates = [dueAtMs, hasRun ? unseenSinceMs : undefined];
  const missed = candidates.filter((atMs) => atMs !== undefined && nowMs - atMs > MISSED_AFTER_MS);
  return missed.length === 0 ? undefined : Math.min(...missed.filter((atMs) => atMs !== undefined));
}

function findStop({ stop, ranAtMs = 0 }: OutageFacts): Outage | undefined {
  // The functions were switched on again by other means.
  if (stop === undefined || ranAtMs - stop.atMs > MISSED_AFTER_MS) return undefined;
  const { by, why, atMs, functions } = stop;
  const effect = functions.includes('ingest')
    ? 'no function is called, and nothing is heard of any cluster'
    : 'nothing is created, deleted or changed in any cluster';
  return {
    code: 'stopped',
    message: `stopped since ${timeText(atMs)} by ${by} (${why}): ${effect}`,
    remedy: 'go on: rollcall stack resume',
    sinceMs: atMs,
  };
}

function findFreeze({ frozen }: OutageFacts): Outage | undefined {
  if (frozen === undefined) return undefined;
  if (frozen === 'unreadable') {
    const message = 'what is frozen cannot be read: everything counts as frozen';
    return { code: 'frozen', message, remedy: 'look: rollcall stack check' };
  }
  const { scope, note, thaw } = frozen;
  const since = note === undefined ? '' : `, since ${timeText(note.atMs)}`;
  const effect = {
    stack: 'nothing is created, deleted or changed in any cluster',
    cluster: 'nothing is created, deleted or changed in it',
    'daemon-set': 'no pod of it is created, deleted or changed in any cluster',
  }[scope];
  return {
    code: 'frozen',
    message: `${describeFreeze(frozen)}${since}: ${effect}`,
    remedy: `go on: ${thaw}`,
    ...defined({ sinceMs: note?.atMs }),
  };
}

function findSilence({ cluster, nowMs }: OutageFacts): Outage | undefined {
  const lastSentAtMs = cluster?.meta?.lastSentAtMs;
  if (cluster === undefined || lastSentAtMs === undefined) return undefined;
  // A watcher that stands by has said so, and sends nothing more.
  if (cluster.meta?.watcherStandsBy !== undefined) return undefined;
  if (nowMs - lastSentAtMs <= SILENT_AFTER_MS) return undefined;
  return {
    code: 'watcher-silent',
    message: `nothing was heard of the watcher of ${cluster.id} since ${timeText(lastSentAtMs)}: what is told is as of then`,
    remedy: `look: rollcall cluster doctor ${cluster.id}`,
    sinceMs: lastSentAtMs,
  };
}

function findStandBy({ cluster }: OutageFacts): Outage | undefined {
  const standsBy = cluster?.meta?.watcherStandsBy;
  if (cluster === undefined || standsBy === undefined) return undefined;
  const { holder, sinceMs } = standsBy;
  return {
    code: 'watcher-stands-by',
    message: `the watcher of ${cluster.id} stands by since ${timeText(sinceMs)}, as ${holder} holds its Lease: what is told is as of then`,
    remedy: `end that one, or look: rollcall cluster doctor ${cluster.id}`,
    sinceMs,
  };
}

function findMissed({ missedSinceMs, walkedAtMs, nowMs }: OutageFacts): Outage | undefined {
  const told = (message: string, sinceMs: number): Outage => {
    return { code: 'functions-behind', message, remedy: 'look: rollcall stack check', sinceMs };
  };
  if (walkedAtMs !== undefined && nowMs - walkedAtMs > WALK_MISSED_AFTER_MS) {
    const since = timeText(walkedAtMs);
    return told(
      `no function has come to its turn since ${since} (resync): nothing acts`,
      walkedAtMs,
    );
  }
  if (missedSinceMs === undefined) return undefined;
  const since = timeText(missedSinceMs);
  return told(
    `a look has been due since ${since}, and no function came: nothing acts`,
    missedSinceMs,
  );
}

function findUnreachable({ cluster, nowMs }: OutageFacts): Outage | undefined {
  const open = cluster?.meta?.breaker?.open;
  // One whose probe is long overdue says nothing of now.
  if (cluster === undefined || open === undefined) return undefined;
  if (nowMs - open.untilMs > MISSED_AFTER_MS) return undefined;
  const sinceMs = open.untilMs - open.delayMs;
  return {
    code: 'api-server-unreachable',
    message: `the API server of ${cluster.id} does not answer the functions, which asked last at ${timeText(sinceMs)} and go on asking`,
    remedy: `look: rollcall cluster doctor ${cluster.id}`,
    sinceMs,
  };
}

/** How a rollout stands, of nodes or of clusters. */
export interface Watched {
  readonly phase: RolloutPhase;
  /** In one line. */
  readonly summary: string;
  /** Outages that make it untrue, or keep it as it is; the gravest first. */
  readonly outages: readonly Outage[];
  /** Sentences on what else keeps it, or limits what is told. */
  readonly notes: readonly string[];
}
