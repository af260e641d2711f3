/**
 * What one message leads to: the next META, and what follows from it once META is written.
 *
 * The content is applied here (slices, names), META is not: the caller writes it by
 * compare-and-set and, when that is lost, asks again over the newer META. A loss is always answered
 * with an incomplete META and no hint; a message that cannot be placed changes nothing.
 */
import { eraOfStamp, laterStamp, stampOf, type Stamp } from '../../../core/model/position.ts';
import type { ClusterMeta, SnapshotProgress, NameItem } from '../../../core/model/view-items.ts';
import type { ChangesBody, ManifestBody, SlicesBody } from '../../../core/model/watcher-message.ts';
import {
  applyDeltas,
  applySlices,
  touchedBy,
  type AppliedContent,
  type ContentTarget,
  emptied,
  emptying,
} from './apply-content.ts';
import type { IngestDependencies, WarmNames } from '../process/dependencies.ts';
import { decideOlderEpoch, readLeaseHolder } from '../message/lease-check.ts';
import {
  arrivalOf,
  UNTOUCHED,
  advanced,
  announced,
  changed,
  closed,
  firstMeta,
  hasLowerMark,
  inNewEra,
  lost,
  sliced,
  orderOf,
} from '../message/meta-transitions.ts';
import type { Incoming, Arrival } from '../message/meta-transitions.ts';
import { namesOf, withNameItems, listAllNames } from '../slices/names.ts';
import type { LossReason } from '../message/result.ts';
import { isSameHashes } from '../slices/snapshot-sums.ts';
import { firstEra, latestOfDaemonSets } from '../slices/standing-stamps.ts';
import { isItemTooLarge, type SlicedSet } from '../../../ports/stores/view-store.ts';
import { SliceMissingError, writeSlices, type SliceTarget } from '../slices/write-slices.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import { carryTombstones, type ShrinkingSet } from '../slices/carry-tombstones.ts';
import { hasFreshTombstones, removeFormerDaemonSets } from '../slices/former-uids.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { settlePositions, type PositionsTarget } from '../slices/positions.ts';

/** What a message leads to. */
export type Step =
  | { readonly kind: 'apply'; readonly meta: ClusterMeta; readonly names?: WarmNames }
  | { readonly kind: 'loss'; readonly meta: ClusterMeta; readonly reason: LossReason }
  | { readonly kind: 'await'; readonly meta: ClusterMeta }
  | { readonly kind: 'duplicate' }
  /** `meta` notes a Lease check, if there was one. */
  | { readonly kind: 'stale'; readonly meta?: ClusterMeta }
  | { readonly kind: 'defer' };

type InSnapshot = ClusterMeta & { readonly snapshot: SnapshotProgress };

/** Applies a message's content over the META that was read, and answers the next one. */
export async function decideStep(
  incoming: Incoming,
  stored: ClusterMeta | undefined,
  dependencies: IngestDependencies,
): Promise<Step> {
  const { message } = incoming;
  const arrival = arrivalOf(incoming);
  if (stored === undefined) {
    const meta = firstMeta(arrival, await firstEra(message.clusterUid, dependencies));
    return startEpoch(meta, incoming, 'new-cluster');
  }
  switch (orderOf(stored, message)) {
    case 'duplicate':
      return { kind: 'duplicate' };
    case 'newer-epoch':
      return startEpoch(stored, incoming, 'new-epoch');
    case 'older-epoch': {
      const decision = await decideOlderEpoch(incoming, stored, dependencies);
      if (decision.kind !== 'accept') return decision;
      return startEpoch(inNewEra(decision.meta), incoming, 'restored');
    }
    case 'skipped':
      if (message.body.kind !== 'announcement') return lossOf(stored, arrival, 'seq-skipped');
      return startEpoch(lost(stored, 'seq-skipped'), incoming, 'seq-skipped');
    case 'next':
      return decideNext(incoming, stored, dependencies);
  }
}

/** A loss noticed at a message: its position counts, its content does not. */
function lossOf(meta: ClusterMeta, arrival: Arrival, reason: LossReason): Step {
  return { kind: 'loss', meta: lost(advanced(meta, arrival), reason), reason };
}

/** The first message that is seen of an epoch: an announcement, or a loss. */
function startEpoch(meta: ClusterMeta, incoming: Incoming, otherwise: LossReason): Step {
  const { body } = incoming.message;
  const arrival = arrivalOf(incoming);
  if (body.kind !== 'announcement') return lossOf(meta, arrival, otherwise);
  const isRestored = body.reason === 'restored' && otherwise !== 'restored';
  const base = isRestored ? { ...inNewEra(meta), isComplete: false } : meta;
  return { kind: 'apply', meta: announced(base, body, arrival) };
}

async function decideNext(
  incoming: Incoming,
  meta: ClusterMeta,
  dependencies: IngestDependencies,
): Promise<Step> {
  const { body } = incoming.message;
  const arrival = arrivalOf(incoming);
  if (body.kind === 'announcement') return startEpoch(meta, incoming, 'new-epoch');
  if (!meta.isComplete && meta.snapshot === undefined) {
    return { kind: 'await', meta: advanced(meta, arrival) };
  }
  try {
    if (body.kind === 'changes')
      return await decideChanges({ ...incoming, body }, meta, dependencies);
    if (!isInSnapshot(meta)) return lossOf(meta, arrival, 'snapshot-broken');
    if (body.kind === 'slices')
      return await decideSlices({ ...incoming, body }, meta, dependencies);
    return await decideManifest({ ...incoming, body }, meta, dependencies);
  } catch (error) {
    // Slices are written side by side: what fails twice at once arrives together.
    const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    const isMissing = causes.some((cause) => cause instanceof SliceMissingError);
    if (isMissing) return lossOf(meta, arrival, 'slice-missing');
    if (causes.some(isItemTooLarge)) return lossOf(meta, arrival, 'item-too-large');
    throw error;
  }
}

async function decideChanges(
  incoming: Incoming & { readonly body: ChangesBody },
  meta: ClusterMeta,
  dependencies: IngestDependencies,
): Promise<Step> {
  const { body } = incoming;
  const arrival = arrivalOf(incoming);
  let applied: AppliedContent = { touched: UNTOUCHED, nameItems: [] };
  let names: WarmNames | undefined;
  if (body.deltas.length > 0) {
    const isAboutNodes = body.deltas.every(({ of }) => of === 'Node');
    names = isAboutNodes ? undefined : await namesOf(meta, dependencies);
    const target = {
      ...targetOf(incoming, meta, names),
      sliceCount: (meta.snapshot ?? meta).sliceCount,
      isComplete: meta.isComplete,
    };
    applied = await applyDeltas(target, body, dependencies);
  }
  const next = changed(meta, body, { arrival, touched: applied.touched });
  const isJudged = body.cut !== undefined && next.snapshot === undefined;
  if (isJudged && !isSameHashes(next.hashes, body.cut.hashes)) {
    return { kind: 'loss', meta: lost(next, 'set-hash'), reason: 'set-hash' };
  }
  return applyStep(next, applied, names);
}

function targetOf(
  { message, context }: Incoming,
  meta: ClusterMeta,
  names = noNames(meta),
): Omit<ContentTarget, 'sliceCount' | 'isComplete'> {
  const { clusterUid, era, positions } = meta;
  const stamp = stampOf({ ...message, era });
  return { clusterUid, stamp, sentAtMs: context.sentAtMs, positions, names };
}

function noNames({ daemonSetsChanged }: ClusterMeta): WarmNames {
  return { asOf: daemonSetsChanged, byUid: new Map() };
}

async function decideSlices(
  incoming: Incoming & { readonly body: SlicesBody },
  meta: InSnapshot,
  dependencies: IngestDependencies,
): Promise<Step> {
  const { body } = incoming;
  const arrival = arrivalOf(incoming);
  const { sliceCount, isAfterLoss } = meta.snapshot;
  const isMisplaced = body.slices.some(
    ({ set, index }) => set !== 'daemonsets' && index >= sliceCount,
  );
  if (isMisplaced) return lossOf(meta, arrival, 'snapshot-broken');
  const hasDaemonSets = body.slices.some(({ set }) => set === 'daemonsets');
  const names = hasDaemonSets ? await namesOf(meta, dependencies) : undefined;
  const { isComplete } = meta;
  const content = { ...targetOf(incoming, meta, names), sliceCount, isComplete };
  const target = { ...content, rewritesAll: isAfterLoss };
  const applied = await applySlices(target, body, dependencies);
  const next = sliced(meta, body, { arrival, touched: applied.touched });
  const uids = body.slices.flatMap(({ set, objects }) =>
    set === 'daemonsets' ? objects.map(({ object }) => object.uid) : [],
  );
  const latest = await latestOfDaemonSets(next, uids, dependencies);
  const standing = laterStamp(latest, applied.touched.slices);
  return standing > target.stamp
    ? stampAhead(next, arrival, standing)
    : applyStep(next, applied, names);
}

/** This snapshot could not write over it, and no message of this era ever will (L1). */
function stampAhead(meta: ClusterMeta, arrival: Arrival, standing: Stamp): Step {
  const above = { ...inNewEra(meta), era: eraOfStamp(standing) + 1 };
  return lossOf(above, arrival, 'stamp-ahead');
}

async function decideManifest(
  incoming: Incoming & { readonly body: ManifestBody },
  meta: InSnapshot,
  dependencies: IngestDependencies,
): Promise<Step> {
  const { body, message } = incoming;
  const arrival = arrivalOf(incoming);
  const { snapshot } = meta;
  const isOfSnapshot =
    snapshot.announcedSeq === body.announcedSeq && snapshot.sliceCount === body.sliceCount;
  if (!isOfSnapshot || snapshot.brokenAtAnnouncement !== meta.broken) {
    return lossOf(meta, arrival, 'snapshot-broken');
  }
  if (!isSameHashes(snapshot.hashes, body.cut.hashes)) {
    return lossOf(meta, arrival, 'snapshot-hash');
  }
  const isLower = hasLowerMark(meta.marks, body.cut.marks);
  if (isLower) {
    const holder = await readLeaseHolder(message.incarnation, incoming.registration, dependencies);
    const isConfirmed = holder === 'holder' || holder === 'no-credential';
    if (!isConfirmed) return lossOf(meta, arrival, 'era-unconfirmed');
  }
  const base: InSnapshot = isLower ? { ...inNewEra(meta), snapshot } : meta;
  const target = {
    clusterUid: meta.clusterUid,
    stamp: stampOf({ ...message, era: base.era }),
    sentAtMs: arrival.sentAtMs,
    snapshot,
    positions: base.positions,
    formerSliceCount: meta.sliceCount,
    epochStart: stampOf({ ...message, era: meta.era, incarnation: '' as never, seq: 0 }),
  };
  const applied = await applyManifest(target, dependencies);
  const { touched, nameItems: standing } = applied;
  const next = closed(base, body, { arrival, touched, standing });
  const latest = laterStamp(next.nodesChanged, next.daemonSetsChanged);
  return latest > target.stamp
    ? stampAhead(next, arrival, latest)
    : applyStep(next, applied, noNames(meta));
}

function applyStep(meta: ClusterMeta, applied: AppliedContent, names: WarmNames | undefined): Step {
  if (names === undefined) return { kind: 'apply', meta };
  const known = withNameItems(names, applied.nameItems, meta.daemonSetsChanged);
  return { kind: 'apply', meta, names: known };
}

function isInSnapshot(meta: ClusterMeta): meta is InSnapshot {
  return meta.snapshot !== undefined;
}

/** Of so many names a manifest removes what earlier epochs left under them; of more, a later one does. */
const FORMER_NAMES_MAX = 500;

interface ManifestTarget extends SliceTarget, PositionsTarget {
  readonly snapshot: SnapshotProgress;
  /** Slice count of the view before: of more slices, the rest is emptied. */
  readonly formerSliceCount: number;
  /** Stamps older than this belong to an earlier epoch. */
  readonly epochStart: string;
}

/**
 * Applies a manifest whose hashes agree; the caller writes META next. Slices beyond a smaller slice
 * count are emptied, what earlier epochs left is removed, and the names as they stand are read once,
 * which is how the manifest need not list them (ADR 0079).
 */
async function applyManifest(
  target: ManifestTarget,
  dependencies: IngestDependencies,
): Promise<AppliedContent> {
  const listed = await listAllNames(target.clusterUid, dependencies, true);
  const standing = listed.filter(({ uid }) => uid !== null);
  const sets: readonly SlicedSet[] = [
    'nodes',
    ...standing.map(({ uid }): SlicedSet => `pods/${String(uid)}`),
  ];
  const shrinking = sets.flatMap((set) => shrinkingOf(target, set));
  // What is carried has to stand before it is emptied where it was.
  const carried = await carryTombstones(target, shrinking, dependencies);
  const dropped = shrinking.flatMap((one) => one.dropped.map((index) => emptied(one.set, index)));
  const slices = [
    ...(await writeSlices(target, carried, dependencies)),
    ...(await writeSlices(target, dropped, dependencies)),
  ];
  const positions = await settlePositions(target, slices, dependencies);
  const old = listed.filter(
    (item) => item.stamp < target.epochStart && (item.formerUids ?? []).length > 0,
  );
  await removeFormer(target, old.slice(0, FORMER_NAMES_MAX), dependencies);
  // Also of names that a portion swept: its delivery may have ended between that and META.
  const touched = touchedBy(slices, listed, positions);
  return { touched, nameItems: standing };
}

/** A set with the slices that a smaller slice count leaves over. */
function shrinkingOf(
  { snapshot: { sliceCount }, formerSliceCount }: ManifestTarget,
  set: SlicedSet,
): readonly ShrinkingSet[] {
  const count = Math.max(0, formerSliceCount - sliceCount);
  const dropped = Array.from({ length: count }, (_, index) => sliceCount + index);
  return count === 0 ? [] : [{ set, dropped, sliceCount }];
}

/** Removes what earlier epochs left under these names. */
async function removeFormer(
  target: SliceTarget,
  items: readonly NameItem[],
  dependencies: IngestDependencies,
): Promise<void> {
  const { view, options } = dependencies;
  await sideBySide(items, options.concurrencyMax, async (item) => {
    const uids: readonly Uid[] = item.formerUids ?? [];
    // Pods that they still hold are gone, too: no delta said so once their DaemonSet was gone.
    const left = uids.flatMap(emptying);
    await writeSlices(target, left, dependencies);
    const { clusterUid, sentAtMs: nowMs } = target;
    if (await hasFreshTombstones(clusterUid, uids, { nowMs, dependencies })) return;
    const { namespace, name } = item;
    await removeFormerDaemonSets({ clusterUid, namespace, name }, uids, dependencies);
    const { formerUids: _formerUids, ...rest } = item;
    if (item.uid === null) await view.removeName(target.clusterUid, item);
    else await view.writeName(target.clusterUid, { ...rest, stamp: target.stamp });
  });
}
