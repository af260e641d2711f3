/**
 * Which keys a message affects, and sending them their hints.
 *
 * Affected keys come from the message, never from what it changed in the table, and a redelivered
 * message sends its hints again (protocol 20): that repairs a crash between META and hints.
 * The deduplication prefix is the message's own identity, so a repeat within five minutes costs
 * nothing and no other message's hints are swallowed (protocol 12).
 *
 * Which keys a node's change concerns, the message says. Where it does not, or decided by other rules of placement than these functions have, every key is looked at (ADR 0079).
 *
 * Differs from upstream: a node's deletion wakes every DaemonSet of the cluster.
 */
import { isSuspect } from '../../core/model/breaker.ts';
import { hintFor } from '../../core/model/hint.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { ChangesBody, Delta, WatcherMessage } from '../../core/model/watcher-message.ts';
import { PLACEMENT_RULES } from '../../core/placement/placement.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import type { IngestDependencies } from './process/dependencies.ts';
import { namesOf } from './slices/names.ts';
import type { WarmNames } from './process/process-cache.ts';

/** Keys to look at because of a message; `names` is read only if it is needed. */
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

/** Sends the hints of a message under its own prefix, again or for the first time; answers how many. */
export async function hintMessage(
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
