/** The directory of clusters, registrations, and the names of a cluster's DaemonSets, read a page at a time. */
import { compareNatural } from '@rollcall/base/compare-text.ts';
import { pagesOf } from '@rollcall/base/pages.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { NameItem } from '../../core/model/view-items.ts';
import type { NamePageOptions, ViewReader } from '../../ports/stores/view-store.ts';

/** Every registration that can be read, and the others with the reason. */
export interface RegistryContent {
  readonly registrations: readonly ClusterRegistration[];
  /** Ids of registrations that cannot be read, each with the reason; no value of theirs. */
  readonly unreadable: readonly { readonly id: ClusterId; readonly reason: string }[];
}

/** Ids asked for at once, and registrations read side by side. */
const PAGE = 200;
const AT_ONCE = 32;
/** Names of a page where nothing else is said. */
const NAMES_PER_PAGE = 100;

/** Ids of all clusters as a person sorts them, also of those whose registration cannot be read or is not there yet. */
export async function listEveryCluster(
  registry: Pick<RegistryStore, 'listClusters'>,
): Promise<readonly ClusterId[]> {
  const ids: ClusterId[] = [];
  const pages = pagesOf((from) => registry.listClusters({ limit: PAGE, ...from }));
  for await (const { clusters } of pages) ids.push(...clusters);
  return ids.sort(compareNatural);
}

/** Reads every registration; one that cannot be read is named. Rejects when the store does not answer. */
export async function readRegistry(
  registry: Pick<RegistryStore, 'listClusters' | 'readCluster'>,
): Promise<RegistryContent> {
  const registrations: ClusterRegistration[] = [];
  const unreadable: { readonly id: ClusterId; readonly reason: string }[] = [];
  await sideBySide(await listEveryCluster(registry), AT_ONCE, async (id) => {
    const read = await orUnreadable(() => registry.readCluster(id));
    if (read.kind === 'unreadable') unreadable.push({ id, reason: read.problem });
    else if (read.value !== undefined) registrations.push(read.value);
  });
  const byId = (left: { readonly id: string }, right: { readonly id: string }): number =>
    compareNatural(left.id, right.id);
  return { registrations: registrations.sort(byId), unreadable: unreadable.sort(byId) };
}

/** A label of a cluster that is asked for. */
export type WantedLabel = readonly [key: string, value: string];

/** True of a cluster that has all of them. */
export function hasLabels(
  { labels }: Pick<ClusterRegistration, 'labels'>,
  wanted: readonly WantedLabel[],
): boolean {
  return wanted.every(([key, value]) => labels[key] === value);
}

/** All names of a cluster's DaemonSets; deleted ones left out unless asked for. A page is asked for once the one before was worked through. */
export async function* namePages(
  view: Pick<ViewReader, 'listNames'>,
  cluster: ClusterUid,
  options: Partial<Omit<NamePageOptions, 'cursor'>> = {},
): AsyncGenerator<readonly NameItem[], void, undefined> {
  const pages = pagesOf((from) =>
    view.listNames(cluster, { limit: NAMES_PER_PAGE, ...options, ...from }),
  );
  for await (const { names } of pages) yield names;
}
