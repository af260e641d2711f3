/** All names of a cluster's DaemonSets, page by page; deleted ones left out unless asked for. */
import { pagesOf } from '@rollcall/base/pages.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { NameItem } from '../../core/model/view-items.ts';
import type { NamePageOptions, ViewReader } from '../../ports/stores/view-store.ts';

/** A page is asked for once the one before was worked through. */
export async function* namePages(
  view: Pick<ViewReader, 'listNames'>,
  cluster: ClusterUid,
  options: Omit<NamePageOptions, 'cursor'>,
): AsyncGenerator<readonly NameItem[], void, undefined> {
  const pages = pagesOf((from) => view.listNames(cluster, { ...options, ...from }));
  for await (const { names } of pages) yield names;
}
