/**
 * How META moves: one pure function for each kind of message, and one for a loss.
 *
 * Each answers the whole next META; the store writes it by compare-and-set over the version that was
 * read (S8). A loss always raises `broken` and ends the snapshot in progress: only an announcement
 * that comes after it can lead back to a complete view (protocol 18). Marks only rise, except where a
 * manifest or a new era replaces them (protocol 15).
 */
import { defined } from '@rollcall/base/defined.ts';
import { newerVersion, compareResourceVersions } from '../../../core/model/identifiers.ts';
import { WATCHED_KINDS } from '../../../core/model/projections.ts';
import { ZERO_STAMP, laterStamp, stampOf, type Stamp } from '../../../core/model/position.ts';
import { unheardAfter } from '../../../core/view/freshness.ts';
import type {
  AppliedMessage,
  ClusterMeta,
  NameItem,
  Positions,
  SnapshotProgress,
} from '../../../core/model/view-items.ts';
import type {
  AnnouncementBody,
  ChangesBody,
  Cut,
  ManifestBody,
  Marks,
  SlicesBody,
  WatcherHeader,
  WatcherMessage,
} from '../../../core/model/watcher-message.ts';
import { EMPTY_HASHES } from '../../../core/projections/set-hash.ts';
import type { LossReason, IngestContext } from './result.ts';
import { positionsOf } from '../slices/positions.ts';
import { movedHashes, withSlices } from '../slices/snapshot-sums.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';

/** A message as far as META is concerned. */
export interface Arrival {
  readonly header: WatcherHeader;
  readonly sentAtMs: number;
  /** How old its cut was then; undefined: unknown, and taken for new. */
  readonly cutAgeMs?: number;
}

/** Stamps of what a message touched, as they stand in the table after it. */
export interface Touched {
  readonly nodes: Stamp;
  readonly names: Stamp;
  readonly slices: Stamp;
  /** Those that META keeps. */
  readonly positions: Positions;
}

/** Nothing touched. */
export const UNTOUCHED: Touched = {
  nodes: ZERO_STAMP,
  names: ZERO_STAMP,
  slices: ZERO_STAMP,
  positions: {},
};

/** META of a cluster that has none: as if an epoch before all others had been lost. */
export function firstMeta(arrival: Arrival, era: number): ClusterMeta {
  const { header } = arrival;
  return {
    version: 0,
    clusterUid: header.clusterUid,
    era,
    epoch: header.epoch,
    incarnation: header.incarnation,
    seq: 0,
    isComplete: false,
    incompleteReason: 'new-cluster',
    isCutOpen: false,
    broken: 0,
    sliceCount: 1,
    marks: {},
    hashes: EMPTY_HASHES,
    lastSentAtMs: arrival.sentAtMs,
    heardAtMs: {},
    nodesChanged: ZERO_STAMP,
    daemonSetsChanged: ZERO_STAMP,
  };
}

/** META at the position of a message, nothing else changed. */
export function advanced(meta: ClusterMeta, arrival: Arrival): ClusterMeta {
  const { epoch, incarnation, seq } = arrival.header;
  const { watcherStandsBy: _past, ...rest } = meta;
  const { sentAtMs } = arrival;
  const stamp = stampOf({ era: meta.era, epoch, incarnation, seq });
  const earlier = passed(meta.earlier, { stamp, sentAtMs });
  return { ...rest, epoch, incarnation, seq, lastSentAtMs: sentAtMs, earlier };
}

/** Longer than what may delay a run (core/status/outages.ts), so that what is told once goes on being told. */
const MESSAGES_APART_MS = 150_000;

function passed(
  earlier: ClusterMeta['earlier'],
  message: AppliedMessage,
): NonNullable<ClusterMeta['earlier']> {
  if (earlier === undefined) return { first: message, second: message };
  const { second } = earlier;
  if (message.sentAtMs - second.sentAtMs < MESSAGES_APART_MS) return earlier;
  return { first: second, second: message };
}

/** META in a new era: marks of the old one mean nothing any more (protocol 15). */
export function inNewEra(meta: ClusterMeta): ClusterMeta {
  return { ...meta, era: meta.era + 1, marks: {} };
}

/** META after a loss: incomplete until a snapshot announced from now on is closed. */
export function lost(meta: ClusterMeta, reason: LossReason): ClusterMeta {
  const { snapshot: _snapshot, ...rest } = meta;
  return { ...rest, isComplete: false, incompleteReason: reason, broken: meta.broken + 1 };
}

/**
 * META after an announcement. A snapshot inside an epoch, of the same slice count, leaves a complete
 * view complete; what it changes comes in order, and no delete happens before its manifest.
 */
export function announced(
  meta: ClusterMeta,
  body: AnnouncementBody,
  arrival: Arrival,
): ClusterMeta {
  const isSameEpoch =
    meta.epoch === arrival.header.epoch && meta.incarnation === arrival.header.incarnation;
  const staysComplete = isSameEpoch && meta.isComplete && meta.sliceCount === body.sliceCount;
  const snapshot: SnapshotProgress = {
    announcedSeq: arrival.header.seq,
    brokenAtAnnouncement: meta.broken,
    sliceCount: body.sliceCount,
    ...(body.requestId === undefined ? {} : { requestId: body.requestId }),
    announcedAtMs: arrival.sentAtMs,
    isAfterLoss: meta.broken !== meta.brokenWhenComplete,
    hashes: EMPTY_HASHES,
  };
  const { announcedSeq, ...rest } = advanced(meta, arrival);
  return {
    ...rest,
    ...(isSameEpoch && announcedSeq !== undefined ? { announcedSeq } : {}),
    isComplete: staysComplete,
    ...(staysComplete ? {} : { incompleteReason: `snapshot announced (${body.reason})` }),
    isCutOpen: true,
    snapshot,
    ...standingBy(meta, body, arrival),
  };
}

/** Of an announcement without a snapshot, as another watcher holds the Lease. */
function standingBy(
  { watcherStandsBy: former }: ClusterMeta,
  { standsBy: holder }: AnnouncementBody,
  { sentAtMs }: Arrival,
): Pick<ClusterMeta, 'incompleteReason' | 'watcherStandsBy'> {
  if (holder === undefined) return {};
  const sinceMs = former?.holder === holder ? former.sinceMs : sentAtMs;
  return { incompleteReason: 'watcher-stands-by', watcherStandsBy: { holder, sinceMs } };
}

/** META after changes that were applied. */
export function changed(
  meta: ClusterMeta,
  body: ChangesBody,
  context: { readonly arrival: Arrival; readonly touched: Touched },
): ClusterMeta {
  const { cut } = body;
  const next = withTouched(advanced(meta, context.arrival), context.touched);
  const moved = { ...next, hashes: movedHashes(meta.hashes, body.deltas) };
  const of = cut === undefined ? {} : heard(meta, cut, context.arrival);
  if (meta.snapshot !== undefined) {
    // While slices are pending a mark would vouch for what was not sent yet.
    const hashes = movedHashes(meta.snapshot.hashes, body.deltas);
    const snapshot = { ...meta.snapshot, hashes };
    return { ...moved, ...of, snapshot, isCutOpen: true };
  }
  const marks = cut === undefined ? meta.marks : raisedMarks(meta.marks, cut.marks);
  return { ...moved, ...of, marks, isCutOpen: cut === undefined };
}

/** META after slices of the snapshot in progress. */
export function sliced(
  meta: ClusterMeta & { readonly snapshot: SnapshotProgress },
  body: SlicesBody,
  context: { readonly arrival: Arrival; readonly touched: Touched },
): ClusterMeta {
  const next = withTouched(advanced(meta, context.arrival), context.touched);
  return { ...next, snapshot: withSlices(meta.snapshot, body.slices) };
}

/** META after a manifest that proved the view whole. */
export function closed(
  meta: ClusterMeta & { readonly snapshot: SnapshotProgress },
  { cut }: ManifestBody,
  context: {
    readonly arrival: Arrival;
    readonly touched: Touched;
    readonly standing: readonly NameItem[];
  },
): ClusterMeta {
  const {
    snapshot,
    incompleteReason: _reason,
    positions,
    ...rest
  } = withTouched(advanced(meta, context.arrival), context.touched);
  return {
    ...rest,
    isComplete: true,
    isCutOpen: false,
    brokenWhenComplete: meta.broken,
    announcedSeq: meta.snapshot.announcedSeq,
    announcedAtMs: snapshot?.announcedAtMs ?? context.arrival.sentAtMs,
    sliceCount: meta.snapshot.sliceCount,
    marks: cut.marks,
    hashes: cut.hashes,
    ...heard(meta, cut, context.arrival),
    positions: positionsOf(context.standing, positions),
  };
}

/** True when some mark of the new ones is below the stored one of its type (protocol 15). */
export function hasLowerMark(stored: Marks, given: Marks): boolean {
  return WATCHED_KINDS.some((kind) => {
    const before = stored[kind];
    const now = given[kind];
    return before !== undefined && now !== undefined && newerVersion(before, now) !== now;
  });
}

function raisedMarks(stored: Marks, given: Marks): Marks {
  const entries = WATCHED_KINDS.map((kind) => [kind, newerVersion(stored[kind], given[kind])]);
  return Object.fromEntries(entries.filter(([, mark]) => mark !== undefined)) as Marks;
}

/** When each type was heard of: not when the queue took the message, which may have been frozen for an hour. */
function heard(
  meta: ClusterMeta,
  cut: Cut,
  { sentAtMs, cutAgeMs = 0 }: Arrival,
): Pick<ClusterMeta, 'heardAtMs' | 'unheardMs'> {
  const heardAtMs = { ...meta.heardAtMs };
  for (const kind of WATCHED_KINDS) {
    const silentMs = cut.silentMs[kind];
    if (silentMs !== undefined) heardAtMs[kind] = sentAtMs - cutAgeMs - silentMs;
  }
  return { heardAtMs, ...unheardAfter(meta, heardAtMs) };
}

function withTouched(meta: ClusterMeta, touched: Touched): ClusterMeta {
  return {
    ...meta,
    nodesChanged: laterStamp(meta.nodesChanged, touched.nodes),
    daemonSetsChanged: laterStamp(meta.daemonSetsChanged, touched.names),
    positions: { ...meta.positions, ...touched.positions },
  };
}

/**
 * next: continues the chain. skipped: something between is missing. duplicate: applied before.
 * newer-epoch: another watcher took the Lease. older-epoch: a lower epoch, or the same one under
 * another incarnation; only a live read of the Lease tells a zombie from a restored etcd.
 */
type MessageOrder = 'next' | 'skipped' | 'duplicate' | 'newer-epoch' | 'older-epoch';

/**
 * Where a message stands against what was applied: the first question asked of each (protocol 14). Messages of
 * an epoch form a chain without gaps.
 */
export function orderOf(
  meta: Pick<ClusterMeta, 'epoch' | 'incarnation' | 'seq'>,
  header: Pick<WatcherHeader, 'epoch' | 'incarnation' | 'seq'>,
): MessageOrder {
  const difference = compareResourceVersions(header.epoch, meta.epoch);
  if (difference > 0) return 'newer-epoch';
  if (difference < 0 || header.incarnation !== meta.incarnation) return 'older-epoch';
  if (header.seq <= meta.seq) return 'duplicate';
  return header.seq === meta.seq + 1 ? 'next' : 'skipped';
}

/** One message, its sender verified. */
export interface Incoming {
  readonly message: WatcherMessage;
  readonly context: IngestContext;
  readonly registration: ClusterRegistration;
}

/** The position of a message. */
export function arrivalOf(incoming: Pick<Incoming, 'message' | 'context'>): Arrival {
  const { sentAtMs, cutAgeMs } = incoming.context;
  return { header: incoming.message, sentAtMs, ...defined({ cutAgeMs }) };
}
