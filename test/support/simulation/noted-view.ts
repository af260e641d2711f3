/** The view of one invocation, which remembers when it was read last, and whether it was known to be whole. */
import type { ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';

/** A view, and what its reader was told. */
export interface NotedView {
  readonly view: ViewStore;
  /** Virtual time at which it was made, when its invocation began with a key, in milliseconds. */
  readonly beganAtMs: number;
  /** Whether the META that was read last said so; undefined: none was read. */
  readonly isWhole: () => boolean | undefined;
  /** Virtual time before that read, in milliseconds. */
  readonly readAtMs: () => number | undefined;
}

/** The same view; every read of META is noted. */
export function notedView(view: ViewStore, clock: Pick<Clock, 'monotonicMs'>): NotedView {
  const beganAtMs = clock.monotonicMs();
  let isWhole: boolean | undefined;
  let readAtMs: number | undefined;
  const noted = new Proxy(view, {
    get: (target, property) => {
      if (property !== 'readMeta') return Reflect.get(target, property) as unknown;
      return async (clusterUid: ClusterUid) => {
        readAtMs = clock.monotonicMs();
        const meta = await target.readMeta(clusterUid);
        isWhole = meta?.isComplete === true;
        return meta;
      };
    },
  });
  return { view: noted, beganAtMs, isWhole: () => isWhole, readAtMs: () => readAtMs };
}
