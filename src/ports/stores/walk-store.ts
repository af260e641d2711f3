/**
 * Where the walk of `resync` is kept between its invocations: one item for the whole fleet.
 *
 * Two small writes a minute, however many clusters there are. Losing it costs one walk that looks at
 * all due times of the last quarter of an hour (core/resync-walk.ts); no decision rests on it.
 */
import type { ResyncWalk } from '../../core/hints/resync-walk.ts';

/** Reads and writes the walk. */
export interface WalkStore {
  /** Undefined when there is none yet, or none that can be read. */
  readWalk(): Promise<ResyncWalk | undefined>;
  /** Writes if the stored version is `walk.version` (0: none yet); stored with version + 1. */
  writeWalk(walk: ResyncWalk): Promise<'written' | 'lost'>;
}
