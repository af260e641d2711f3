/** All names of a cluster's DaemonSets, page by page; deleted ones left out unless asked for. */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { NameItem } from '../../core/model/view-items.ts';
import type { NamePageOptions, ViewReader } from '../../ports/stores/view-store.ts';

/** A page is asked for once the one before was worked through. */
export async function* namePages(
  view: Pick<ViewReader, 'listNames'>,
  cluster: ClusterUid,
  options: Omit<NamePageOptions, 'cursor'>,
): AsyncGenerator<readonly NameItem[], void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await view.listNames(cluster, { ...options, ...defined({ cursor }) });
    yield page.names;
    ({ cursor } = page);
  } while (cursor !== undefined);
}
