/** What makes projections in one epoch. Only wiring. */
import { createProjector } from '../project/projection.ts';
import type { Projector } from '../project/projection.ts';
import type { SessionDependencies } from './epoch.ts';

/** Projects what the lists and watches of the epoch read. */
export function createSessionProjector({
  log,
  metrics,
  memory,
  options,
}: SessionDependencies): Projector {
  return createProjector({
    interner: memory.interner,
    objectBytesMax: options.objectBytesMax,
    unsendable: memory.unsendable,
    onOpaque: ({ of: kind, namespace, name, uid }, reason) => {
      metrics.count('WatcherOpaqueObjects', { outcome: reason });
      log.warn('an object travels opaque', { kind, namespace, name, uid, reason });
    },
  });
}
