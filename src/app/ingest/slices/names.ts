/**
 * Which DaemonSet stands under which name: read whole, kept warm, written name by name.
 *
 * The list is believed only for the very stamp under which META says that it last changed. A name is
 * changed on a fresh read of its item, never on memory: a deletion must not erase a successor of the
 * same name. UIDs that stood there before stay noted until a sweep of a later epoch removes their
 * items (protocol 18), up to a bound (former-uids.ts).
 */
import type { ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import { ZERO_STAMP, laterStamp, type Stamp } from '../../../core/model/position.ts';
import type { ClusterMeta, NameItem } from '../../../core/model/view-items.ts';
import type { NamespacedName } from '../../../ports/stores/view-store.ts';
import { namePages } from '../../clusters/read-registry.ts';
import type { IngestDependencies, WarmNames } from '../process/dependencies.ts';
import { boundFormer, removeFormerDaemonSets } from './former-uids.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';

const NAMES_PER_PAGE = 500;

/** What should stand under one name: who came, and who went. */
export interface NameChange extends NamespacedName {
  readonly arrived?: Uid;
  readonly departed: readonly Uid[];
}

/** All names of a cluster, page by page. */
export async function listAllNames(
  cluster: ClusterUid,
  dependencies: IngestDependencies,
  includeDeleted: boolean,
): Promise<readonly NameItem[]> {
  const names: NameItem[] = [];
  const pages = namePages(dependencies.view, cluster, { limit: NAMES_PER_PAGE, includeDeleted });
  for await (const page of pages) names.push(...page);
  return names;
}

/** The cluster's DaemonSets, from memory where META says that nothing changed since. */
export async function namesOf(
  meta: ClusterMeta,
  dependencies: IngestDependencies,
): Promise<WarmNames> {
  const warm = dependencies.processCache.names.get(meta.clusterUid);
  if (warm?.asOf === meta.daemonSetsChanged) return warm;
  const items = await listAllNames(meta.clusterUid, dependencies, false);
  const byUid = new Map(items.flatMap((item) => (item.uid === null ? [] : [[item.uid, item]])));
  const names = { asOf: meta.daemonSetsChanged, byUid };
  dependencies.processCache.names.set(meta.clusterUid, names);
  return names;
}

/** The names as they stand after a message; remembered once META has been written. */
export function withNameItems(
  names: WarmNames,
  items: readonly NameItem[],
  asOf: Stamp,
): WarmNames {
  const byUid = new Map(names.byUid);
  for (const item of items) {
    for (const uid of item.formerUids ?? []) byUid.delete(uid);
    if (item.uid !== null) byUid.set(item.uid, item);
  }
  return { asOf, byUid };
}

/** Writes changes of names side by side; answers the items as they stand. */
export function writeNames(
  target: { readonly clusterUid: ClusterUid; readonly stamp: Stamp },
  changes: readonly NameChange[],
  dependencies: IngestDependencies,
): Promise<readonly NameItem[]> {
  return sideBySide(changes, dependencies.options.concurrencyMax, async (change) => {
    const stored = await dependencies.view.readName(target.clusterUid, change);
    if (stored !== undefined && stored.stamp >= target.stamp) return stored;
    const changed = changedName(stored, change, target.stamp);
    if (changed === stored) return changed;
    const { item, forgotten } = boundFormer(changed);
    const { namespace, name } = item;
    const of = { clusterUid: target.clusterUid, namespace, name };
    await removeFormerDaemonSets(of, forgotten, dependencies);
    const result = await dependencies.view.writeName(target.clusterUid, item);
    if (result === 'written') return item;
    // A later message was applied meanwhile: this process is late, and what it wrote is void.
    return (await dependencies.view.readName(target.clusterUid, change)) ?? item;
  });
}

function changedName(stored: NameItem | undefined, change: NameChange, stamp: Stamp): NameItem {
  const { namespace, name } = change;
  const before = stored?.uid ?? null;
  const isGone = before !== null && change.departed.includes(before);
  const after = change.arrived ?? (isGone ? null : before);
  if (stored !== undefined && after === before) return stored;
  const formerUids = new Set([...(stored?.formerUids ?? []), ...change.departed]);
  if (before !== null) formerUids.add(before);
  if (after !== null) formerUids.delete(after);
  return { namespace, name, uid: after, formerUids: [...formerUids], stamp };
}

/** The latest stamp of names: where the list changed last. */
export function latestNameStamp(items: readonly NameItem[]): Stamp {
  return items.reduce((latest, item) => laterStamp(latest, item.stamp), ZERO_STAMP);
}
