/**
 * What makes projections in one epoch: the projector, and the reader of content beside it (ADR 0061).
 *
 * Only wiring. Without ports for content nothing of it exists.
 */
import { defined } from '@rollcall/base/defined.ts';
import { ContentKeeper } from '../content/content-keeper.ts';
import { createProjector } from '../project/projection.ts';
import type { Projector } from '../project/projection.ts';
import type { ObjectStore } from '../project/store.ts';
import type { SessionDependencies } from './epoch.ts';

/** Projects what the lists and watches of the epoch read. */
export function createSessionProjector(
  { log, metrics, memory, options }: SessionDependencies,
  content: ContentKeeper | undefined,
): Projector {
  return createProjector({
    ...defined({ attach: content?.attach.bind(content) }),
    interner: memory.interner,
    objectBytesMax: options.objectBytesMax,
    unsendable: memory.unsendable,
    onOpaque: ({ of: kind, namespace, name, uid }, reason) => {
      metrics.count('WatcherOpaqueObjects', { outcome: reason });
      log.warn('an object travels opaque', { kind, namespace, name, uid, reason });
    },
  });
}

/** Reads content for the DaemonSets that stand in the store. */
export function createContentKeeper(
  on: SessionDependencies,
  store: ObjectStore,
): ContentKeeper | undefined {
  if (on.content === undefined) return undefined;
  return new ContentKeeper(
    { ...on, ...on.content },
    {
      daemonSets: () => [...store.objects('DaemonSet')].flatMap(({ slim }) => slim ?? []),
      replace: (slim) => {
        store.apply(slim);
      },
    },
  );
}
