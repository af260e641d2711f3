/** The view of one invocation, which remembers whether what it read last was known to be whole. */
import type { ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { ViewStore } from '../../../src/ports/view-store.ts';

/** A view, and what its reader was told. */
export interface NotedView {
  readonly view: ViewStore;
  /** Whether the META that was read last said so; undefined: none was read. */
  readonly isWhole: () => boolean | undefined;
}

/** The same view; every read of META is noted. */
export function notedView(view: ViewStore): NotedView {
  let isWhole: boolean | undefined;
  const noted = new Proxy(view, {
    get: (target, property) => {
      if (property !== 'readMeta') return Reflect.get(target, property) as unknown;
      return async (clusterUid: ClusterUid) => {
        const meta = await target.readMeta(clusterUid);
        isWhole = meta?.isComplete === true;
        return meta;
      };
    },
  });
  return { view: noted, isWhole: () => isWhole };
}
