/**
 * Applies a batch of events.fifo: one message at a time per cluster, clusters side by side (L3).
 *
 * The first record of a group that fails, or must come again, ends the group: what follows it is left to redelivery in
 * its order (protocol 20). A group that takes long ends before the function does. Nothing is thrown: a rejection is
 * logged once.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { WatcherHeader } from '../../core/model/watcher-message.ts';
import { BatchBackgroundWork } from './process/background-work.ts';
import type { IngestDependencies } from './process/dependencies.ts';
import { verifySender } from './message/identity.ts';
import { ingestMessage } from './ingest-message.ts';
import { ingestRefused, refuse } from './message/ingest-refused.ts';
import type { IngestContext, IngestResult, ParsedBody } from './message/result.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';

/** One record of events.fifo. */
export interface IngestRecord {
  readonly context: IngestContext;
  /** What the header claims. The sender is judged by it before anything is unpacked (L3). */
  readonly header: Partial<WatcherHeader>;
  /** May be a getter: it is read when the record's turn comes, so that one body is held at a time. */
  readonly parsed: ParsedBody;
}

interface IngestBatchResult {
  readonly results: ReadonlyMap<string, IngestResult>;
  /** Message ids that must come again: the first failure of a group and all that follow it there. */
  readonly failedMessageIds: readonly string[];
}

/** Applies a batch. Never rejects. `mayBegin`: whether there is time for another record; default always. */
export async function ingestBatch(
  records: readonly IngestRecord[],
  dependencies: IngestDependencies,
  mayBegin = (): boolean => true,
): Promise<IngestBatchResult> {
  const groups = new Map<string, IngestRecord[]>();
  for (const record of records) {
    const group = record.context.groupId ?? record.header.cluster ?? '';
    groups.set(group, [...(groups.get(group) ?? []), record]);
  }
  const results = new Map<string, IngestResult>();
  const background = new BatchBackgroundWork(dependencies);
  const failed = await sideBySide([...groups.values()], groups.size, (group) =>
    ingestGroup(group, { results, mayBegin }, { ...dependencies, background }),
  );
  await background.ended();
  return { results, failedMessageIds: failed.flat() };
}

async function ingestGroup(
  records: readonly IngestRecord[],
  batch: { readonly results: Map<string, IngestResult>; readonly mayBegin: () => boolean },
  dependencies: IngestDependencies,
): Promise<readonly string[]> {
  const { results, mayBegin } = batch;
  for (const [index, record] of records.entries()) {
    const { messageId } = record.context;
    // The first one always begins: a batch that came late would otherwise never get anywhere.
    if (index > 0 && !mayBegin()) return records.slice(index).map((left) => left.context.messageId);
    try {
      const result = await ingestRecord(record, dependencies);
      results.set(messageId, result);
      if (result.kind !== 'deferred') continue;
    } catch (error) {
      const { cluster = '' } = record.header;
      dependencies.log.error('a record was not ingested', { messageId, cluster }, error);
      dependencies.metrics.count('IngestFailures');
    }
    return records.slice(index).map(({ context }) => context.messageId);
  }
  return [];
}

/** Applies one record, readable or not. Rejects when a dependency is lost. */
export async function ingestRecord(
  record: IngestRecord,
  dependencies: IngestDependencies,
): Promise<IngestResult> {
  const { context, header } = record;
  const { cluster, clusterUid } = header;
  let registration: ClusterRegistration | undefined;
  if (cluster !== undefined) {
    const verification = await verifySender({ cluster, clusterUid }, context, dependencies);
    if (verification.kind === 'refused') {
      const refusal = { code: verification.code, cluster, detail: clusterUid };
      return refuse(refusal, context, dependencies);
    }
    ({ registration } = verification);
  }
  const { parsed } = record;
  if (parsed.kind === 'refused') {
    return ingestRefused({ parsed, context, registration }, dependencies);
  }
  // The codec reads a header before it unpacks what follows.
  if (registration === undefined) throw new TypeError('a message names no cluster');
  return ingestMessage({ message: parsed.message, context, registration }, dependencies);
}
