/**
 * Applies one message of a watcher to the view, strictly by position (design 3, protocol 14–22).
 *
 *   META read ─▶ slices, DaemonSets ─▶ names ─▶ positions ─▶ META ─▶ hints
 *      ▲                                                      │
 *      └───────────────── compare-and-set lost ───────────────┘
 *
 * A crash in between is repaired by redelivery: finished steps skip themselves, and hints are sent again (L2). Rejects
 * when a dependency is lost; never for what a message holds (L4).
 */
import { addMessage } from '../../core/cost/counted.ts';
import { silenceEntry } from '../../core/log/silence-entry.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { WatcherMessage, ChangesBody, Delta } from '../../core/model/watcher-message.ts';
import { decideStep, type Step } from './apply/decide-step.ts';
import type { IngestDependencies, WarmNames } from './process/dependencies.ts';
import { logSilence } from '../log/log-silence.ts';
import type { Incoming } from './message/meta-transitions.ts';
import { askForSnapshot, noteSnapshotRequest } from './message/request-snapshot.ts';
import type { IngestResult, LossReason } from './message/result.ts';
import { isSuspect } from '../../core/model/breaker.ts';
import { hintFor } from '../../core/model/hint.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import { PLACEMENT_RULES } from '../../core/placement/placement.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import { namesOf } from './slices/names.ts';

/** Applies one message of a verified sender; see IngestResult for what can come of it. */
export async function ingestMessage(
  incoming: Incoming,
  dependencies: IngestDependencies,
): Promise<IngestResult> {
  const { message, context } = incoming;
  const { metrics, clock, view, options } = dependencies;
  metrics.record('IngestLag', Math.max(0, clock.nowMs() - context.sentAtMs), 'Milliseconds');
  const units = (): number => view.writtenUnits.get(message.clusterUid) ?? 0;
  const unitsBefore = units();
  for (let attempt = 0; attempt < options.writeTriesMax; attempt += 1) {
    const stored = await view.readMeta(message.clusterUid);
    const decided = await decideStep(incoming, stored, dependencies);
    const sliceUnits = units() - unitsBefore;
    const step = counted(decided, { atMs: context.sentAtMs, sliceUnits });
    const result = await finish(incoming, { step, stored }, dependencies);
    if (result === 'lost') continue;
    if (isMoving(step)) await tellSilence(incoming, stored, dependencies);
    metrics.count('IngestMessages', { outcome: result.kind });
    return result;
  }
  throw new Error(`META of ${message.cluster}: lost ${options.writeTriesMax} compare-and-sets`);
}

/** Whether META moves on to the message. */
function isMoving(step: Step): step is Extract<Step, { kind: 'apply' | 'loss' | 'await' }> {
  return step.kind === 'apply' || step.kind === 'loss' || step.kind === 'await';
}

/** After META, so that of two writers one tells it. */
async function tellSilence(
  { message, context }: Incoming,
  stored: ClusterMeta | undefined,
  dependencies: IngestDependencies,
): Promise<void> {
  const entry = silenceEntry(stored, context.sentAtMs);
  if (entry === undefined) return;
  const { clusterUid: cluster, epoch, seq } = message;
  await logSilence(dependencies, { cluster, token: `${epoch}/${String(seq)}` }, entry);
}

/** A message is counted in the META that it moves, in no other (ADR 0082). */
function counted(step: Step, message: Parameters<typeof addMessage>[1]): Step {
  if (!isMoving(step)) return step;
  return { ...step, meta: { ...step.meta, days: addMessage(step.meta.days, message) } };
}

/** Writes META and does what follows from it; `lost` when another writer was faster. */
async function finish(
  incoming: Incoming,
  { step, stored }: { readonly step: Step; readonly stored: ClusterMeta | undefined },
  dependencies: IngestDependencies,
): Promise<IngestResult | 'lost'> {
  const { view, log } = dependencies;
  switch (step.kind) {
    case 'apply':
      return finishApplied(incoming, step, dependencies);
    case 'duplicate': {
      const isWhole = stored?.isComplete === true;
      const hints = isWhole ? await hintMessage(incoming.message, stored, dependencies) : 0;
      return { kind: 'duplicate', hints };
    }
    case 'loss':
      return finishIncomplete(incoming, step, dependencies);
    case 'await':
      return finishIncomplete(incoming, { ...step, reason: undefined }, dependencies);
    case 'stale':
      if (step.meta !== undefined && (await view.writeMeta(step.meta)) === 'lost') return 'lost';
      log.info('message of an overtaken watcher left aside', logFieldsOf(incoming));
      return { kind: 'stale-epoch' };
    case 'defer':
      return { kind: 'deferred', reason: 'lease-check-limited' };
  }
}

async function finishApplied(
  incoming: Incoming,
  step: Extract<Step, { kind: 'apply' }>,
  dependencies: IngestDependencies,
): Promise<IngestResult | 'lost'> {
  const { view, processCache, log } = dependencies;
  const { message } = incoming;
  if ((await view.writeMeta(step.meta)) === 'lost') return 'lost';
  if (step.names !== undefined) processCache.names.set(message.clusterUid, step.names);
  if (message.body.kind === 'announcement' || message.body.kind === 'manifest') {
    log.info(`snapshot ${message.body.kind}`, {
      ...logFieldsOf(incoming),
      era: step.meta.era,
      isComplete: step.meta.isComplete,
    });
  }
  const { isComplete } = step.meta;
  const hints = isComplete ? await hintMessage(incoming.message, step.meta, dependencies) : 0;
  return { kind: 'applied', hints, isComplete };
}

/** META first: no run acts on the view from here on, also while the snapshot is still being asked for. */
async function finishIncomplete(
  incoming: Incoming,
  step: { readonly meta: ClusterMeta; readonly reason: LossReason | undefined },
  dependencies: IngestDependencies,
): Promise<IngestResult | 'lost'> {
  const { view, log, metrics } = dependencies;
  const { reason } = step;
  const need =
    reason === undefined
      ? { reason: step.meta.incompleteReason as LossReason, since: 'before' as const }
      : { reason, since: 'now' as const };
  const { meta, mayAsk } = noteSnapshotRequest(step.meta, need, dependencies);
  if ((await view.writeMeta(meta)) === 'lost') return 'lost';
  if (reason !== undefined) {
    metrics.count('ViewLosses', { outcome: reason });
    log.warn('view incomplete', { ...logFieldsOf(incoming), reason, broken: meta.broken });
  }
  if (mayAsk) await askForSnapshot(incoming.registration, dependencies);
  return reason === undefined ? { kind: 'awaiting-snapshot' } : { kind: 'incomplete', reason };
}

function logFieldsOf(incoming: Incoming): Record<string, string | number> {
  const { cluster, epoch, incarnation, seq } = incoming.message;
  return { cluster, epoch, incarnation, seq, messageId: incoming.context.messageId };
}

/**
 * Keys to look at because of a message; `names` is read only if it is needed. They come from the
 * message, never from what it changed in the table, and a redelivered message sends its hints again
 * (protocol 20): that repairs a crash between META and hints. Which keys a node's change concerns,
 * the message says; where it does not, every key is looked at (ADR 0079).
 * Differs from upstream: a node's deletion wakes every DaemonSet of the cluster.
 */
async function keysOf(
  { body }: WatcherMessage,
  names: () => Promise<WarmNames>,
): Promise<readonly NamespacedName[]> {
  if (body.kind === 'manifest') return distinct([...(await names()).byUid.values()]);
  if (body.kind !== 'changes') return [];
  const ofNodes = keysOfNodes(body);
  const named = body.deltas
    .filter(({ of }) => of === 'DaemonSet')
    .map(({ namespace, name }) => ({ namespace: namespace ?? '', name }));
  if (ofNodes === 'all') return distinct([...named, ...(await names()).byUid.values()]);
  const owners = ownersIn(body.deltas);
  if (owners.length === 0) return distinct([...named, ...ofNodes]);
  const { byUid } = await names();
  // A set whose DaemonSet is gone, or not there yet, has no key: its own delta hints it.
  return distinct([...named, ...ofNodes, ...owners.flatMap((owner) => byUid.get(owner) ?? [])]);
}

/** Whom changes of nodes concern, as far as the watcher says it, and by the same rules of placement. */
function keysOfNodes({ deltas, affected }: ChangesBody): readonly NamespacedName[] | 'all' {
  if (!deltas.some(({ of }) => of === 'Node')) return [];
  return affected?.rules === PLACEMENT_RULES ? affected.keys : 'all';
}

/** DaemonSets in whose sets something stands, or stood. */
function ownersIn(deltas: readonly Delta[]): readonly Uid[] {
  const sets = deltas
    .filter(({ of }) => of === 'Pod' || of === 'ControllerRevision')
    .flatMap((delta) => [...delta.sets, ...delta.formerSets]);
  return [...new Set(sets.map(({ set }) => set.slice(set.indexOf('/') + 1) as Uid))];
}

function distinct(keys: readonly NamespacedName[]): readonly NamespacedName[] {
  const byName = new Map(
    keys.map(({ namespace, name }) => [`${namespace}/${name}`, { namespace, name }]),
  );
  return [...byName.values()];
}

/**
 * Sends the hints of a message under its own prefix, again or for the first time: a repeat within
 * five minutes costs nothing, and no other message's hints are swallowed (protocol 12).
 */
async function hintMessage(
  message: WatcherMessage,
  meta: ClusterMeta,
  dependencies: IngestDependencies,
): Promise<number> {
  const { queue, clock, metrics } = dependencies;
  const keys = await keysOf(message, () => namesOf(meta, dependencies));
  if (keys.length === 0) return 0;
  const { cluster, clusterUid, epoch, incarnation, seq, body } = message;
  const reason = body.kind === 'manifest' ? 'snapshot' : 'changed';
  const hints = keys.map((key) => hintFor({ id: cluster, clusterUid }, key, reason));
  const pace = isSuspect(meta.breaker, clock.nowMs()) ? 'suspect' : 'usual';
  await queue.sendHints(hints, `ingest/${cluster}/${epoch}/${incarnation}/${seq}`, pace);
  metrics.count('IngestHints', { by: hints.length });
  return hints.length;
}
