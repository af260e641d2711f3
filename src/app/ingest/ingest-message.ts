/** Applies one message (being written). */
import type { WatcherMessage } from '../../core/model/watcher-message.ts';
import type { IngestDependencies } from './dependencies.ts';
import type { IngestContext, IngestResult } from './result.ts';

/** Applies one message of a watcher to the view, strictly by position. */
export async function ingestMessage(
  _message: WatcherMessage,
  _context: IngestContext,
  _dependencies: IngestDependencies,
): Promise<IngestResult> {
  throw new Error('ingestMessage is being written');
}
