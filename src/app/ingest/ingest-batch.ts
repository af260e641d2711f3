/** Applies a batch (being written). */
import type { IngestDependencies } from './dependencies.ts';
import type { IngestContext, IngestResult, ParsedBody } from './result.ts';

/** One record of events.fifo. */
export interface IngestRecord {
  readonly context: IngestContext;
  /** MessageGroupId where the queue gives it; else the cluster named in the header groups. */
  readonly groupId?: string;
  readonly parsed: ParsedBody;
}

/** What came of a batch. */
export interface IngestBatchResult {
  readonly results: ReadonlyMap<string, IngestResult>;
  /** Message ids that must come again: the first failure of a group and all that follow it there. */
  readonly failedMessageIds: readonly string[];
}

/** Applies a batch: one message at a time per cluster, clusters side by side. Never rejects. */
export async function ingestBatch(
  _records: readonly IngestRecord[],
  _dependencies: IngestDependencies,
): Promise<IngestBatchResult> {
  throw new Error('ingestBatch is being written');
}
