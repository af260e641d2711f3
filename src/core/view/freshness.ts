/**
 * Freshness: is the view good enough to act upon (design 3.3, protocol 1–3)?
 *
 * Judged before planning. A view that is not whole is never acted upon. Everything else (an open
 * cut, silence or lag, own writes not yet seen) is a deferral with a short retry; deferrals are
 * capped, and then live reads decide (S3 as published, spec faults 64). The caller keeps
 * `deferredSinceMs` in the state and takes it out after a run that was fresh.
 */
import type { Guard, DeleteReason, PlannedDelete } from '../model/plan.ts';
import { WATCHED_KINDS, type WatchedKind } from '../model/projections.ts';
import type { ClusterMeta } from '../model/view-items.ts';
import {
  compareResourceVersions,
  newerVersion,
  type ResourceVersion,
} from '../model/identifiers.ts';
import type { DaemonSetState } from '../model/state.ts';

/** What freshness is judged by. */
export interface FreshnessInput {
  /** META of the cluster; undefined while nothing was ever heard of it. */
  readonly meta: ClusterMeta | undefined;
  readonly nowMs: number;
  /** A type counts as heard only while its watch received bytes within this bound (protocol 1). */
  readonly silentAfterMs: number;
  /** Intents that were answered but not seen, plus one if a mark of an own write is not reached. */
  readonly unseenCount: number;
  /** Since when runs of this key have been deferring. */
  readonly deferredSinceMs: number | undefined;
  /** Longest deferral before live reads decide. */
  readonly deferralCapMs: number;
  /** False if the plan would send nothing: silence matters only with work to do. Default true. */
  readonly hasWork?: boolean;
  /** Where the work spends availability: pods must have been heard of within this (S3). */
  readonly podsFreshMs?: number;
}

/** Guards that freshness raises. */
export type FreshnessGuard = Extract<Guard, { readonly kind: 'status-only' | 'observe' }>;

/**
 * fresh: act. defer: status only, look again after `retryInMs`. live-read: the cap is
 * reached; act on what live reads confirm.
 */
export type Freshness =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'defer'; readonly guard: FreshnessGuard; readonly retryInMs: number }
  | { readonly kind: 'live-read'; readonly guard: FreshnessGuard };

const RETRY_FIRST_MS = 250;
const RETRY_LONGEST_MS = 5000;
/** An incomplete view is repaired by a snapshot, which hints every key: this is only the backstop. */
const INCOMPLETE_RETRY_MS = 30_000;

/** Judges a view before it is planned on. */
export function judgeFreshness(input: FreshnessInput): Freshness {
  const incomplete = findIncompleteness(input.meta);
  if (incomplete !== undefined) {
    const guard = statusOnly('view-incomplete', incomplete);
    return { kind: 'defer', guard, retryInMs: INCOMPLETE_RETRY_MS };
  }
  const guard = findDoubt(input);
  if (guard === undefined) return { kind: 'fresh' };
  const deferredMs = Math.max(0, input.nowMs - (input.deferredSinceMs ?? input.nowMs));
  if (deferredMs >= input.deferralCapMs) return { kind: 'live-read', guard };
  const retryInMs = Math.min(
    Math.max(deferredMs, RETRY_FIRST_MS),
    RETRY_LONGEST_MS,
    Math.max(input.deferralCapMs - deferredMs, RETRY_FIRST_MS),
  );
  return { kind: 'defer', guard, retryInMs };
}

function findIncompleteness(meta: ClusterMeta | undefined): string | undefined {
  if (meta === undefined) return 'Nothing was heard of the cluster yet; waiting for its watcher.';
  if (meta.isComplete) return undefined;
  const why = meta.incompleteReason === undefined ? '' : ` (${meta.incompleteReason})`;
  return `The view of the cluster is not whole${why}; waiting for a snapshot from its watcher.`;
}

function findDoubt(input: FreshnessInput): FreshnessGuard | undefined {
  const { meta, nowMs } = input;
  if (meta?.isCutOpen === true) {
    return statusOnly('cut-open', 'The watcher is in the middle of a report; waiting for its end.');
  }
  if (input.unseenCount > 0) {
    const message = 'Own writes are not in the view yet; waiting for the watcher to report them.';
    return statusOnly('own-writes-unseen', message);
  }
  if (input.hasWork === false) return undefined;
  const silent = WATCHED_KINDS.filter((kind) => {
    const heardAtMs = meta?.heardAtMs[kind];
    return heardAtMs === undefined || nowMs - heardAtMs > boundOf(kind, input);
  });
  if (silent.length === 0) return undefined;
  const what = silent.join(', ');
  return statusOnly(
    'cluster-silent',
    `Nothing was heard of ${what} lately; waiting for the watcher.`,
  );
}

function boundOf(kind: WatchedKind, { silentAfterMs, podsFreshMs }: FreshnessInput): number {
  return kind === 'Pod' && podsFreshMs !== undefined ? podsFreshMs : silentAfterMs;
}

function statusOnly(code: FreshnessGuard['code'], message: string): FreshnessGuard {
  return { kind: 'status-only', code, message };
}

/** What was seen of a store before: by the watcher, and by the answers to our own writes (of the same era only). */
export interface SeenOfStore {
  readonly meta: Pick<ClusterMeta, 'marks' | 'era'>;
  readonly written: DaemonSetState['written'] | undefined;
}

/** The newest version that was seen of the store of DaemonSets; undefined: none was. */
export function seenOfDaemonSets({ meta, written }: SeenOfStore): ResourceVersion | undefined {
  const ownVersion = written?.era === meta.era ? written.daemonSet : undefined;
  return newerVersion(meta.marks.DaemonSet, ownVersion);
}

/**
 * True if the store that answered a live read of a DaemonSet is behind what was seen of its DaemonSets (protocol 15, row
 * 71): a consistent read never is, so that store is of another history. Only marks of DaemonSets count: some API servers
 * keep types in stores of their own, whose versions are not to be compared. What is unknown is no restore.
 */
export function isStoreRestored(
  storeVersion: ResourceVersion | undefined,
  of: SeenOfStore,
): boolean {
  const seen = seenOfDaemonSets(of);
  if (storeVersion === undefined || seen === undefined) return false;
  return compareResourceVersions(storeVersion, seen) < 0;
}

/** What no store gains while its marks are fresh; the bump that etcd's guide asks of a restore is ten times that. */
const LEAP_MIN = 1e8;

/**
 * True if the store that answered a live read of a DaemonSet is behind what was seen of any type, or far ahead of it: etcd
 * was restored, or its version was bumped with that, unless some types have a store of their own (protocol 15). So a
 * doubt only: what is not to be compared is looked at once more, and stops nothing.
 */
export function isStoreDoubtful(
  storeVersion: ResourceVersion | undefined,
  { marks }: Pick<ClusterMeta, 'marks'>,
): boolean {
  const seen = Object.values(marks).reduce(newerVersion, undefined);
  const ahead = Number(storeVersion) - Number(seen);
  return ahead < 0 || ahead > LEAP_MIN;
}

const SPENDING: ReadonlySet<DeleteReason> = new Set([
  'outdated',
  'replaced',
  'duplicate',
  'repeat',
]);

/**
 * True if this deletion is right only by the availability of the DaemonSet's other pods (S3): that is counted from all
 * of them, so it must be fresh, or from one live list. Not so a pod that has ended, whose node is gone, or that should
 * not run where it is: a live read of pod and node says so.
 */
export function spendsBudget({ reason, repeats }: PlannedDelete): boolean {
  return SPENDING.has(repeats ?? reason);
}

/** True if pods were heard of within `withinMs`; what a queue or a sender held back for long is as old as it says. */
export function arePodsFresh(
  { heardAtMs }: Pick<ClusterMeta, 'heardAtMs'>,
  at: { readonly nowMs: number; readonly withinMs: number },
): boolean {
  return heardAtMs.Pod !== undefined && at.nowMs - heardAtMs.Pod <= at.withinMs;
}

/** The bound of silence, as `silenceBoundMs` of a reconcile is by default (docs/protocol.md 1). */
export const DARK_AFTER_MS = 900_000;
/** Without these two a soak is blind. */
const NEEDED = ['Node', 'Pod'] as const;

/**
 * How long a cluster was in the dark, after a message by which it was heard of at these times: the sum of the gaps
 * beyond the silence bound. META keeps it, so nothing is written for it, and a soak subtracts what fell into it. Gaps
 * up to the bound are none: watches resume where they stopped.
 */
export function unheardAfter(
  meta: Pick<ClusterMeta, 'heardAtMs' | 'unheardMs'>,
  heardAtMs: ClusterMeta['heardAtMs'],
): Pick<ClusterMeta, 'unheardMs'> {
  const gaps = NEEDED.map((kind) => {
    const before = meta.heardAtMs[kind];
    const now = heardAtMs[kind];
    return before === undefined || now === undefined ? 0 : now - before;
  });
  const gapMs = Math.max(...gaps);
  if (gapMs <= DARK_AFTER_MS)
    return meta.unheardMs === undefined ? {} : { unheardMs: meta.unheardMs };
  return { unheardMs: (meta.unheardMs ?? 0) + gapMs };
}
