/**
 * A batch of SQS records, one by one, as a partial batch response.
 *
 * Powertools does the bookkeeping. On a FIFO queue a group stops at its first failure, which is
 * reported together with everything behind it in that group; other groups go on (spec aws-facts 1.2).
 * A batch that failed as a whole is reported, not thrown: a throw would slow the whole mapping down.
 * What a record's handler throws is logged here, without the record's body.
 */
import {
  BatchProcessor,
  EventType,
  processPartialResponse,
  SqsFifoPartialProcessorAsync,
} from '@aws-lambda-powertools/batch';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { HandlerContext } from './middleware.ts';

interface RecordHandling {
  /** `fifo`: in order, by group. `unordered`: all at once. */
  readonly order: 'fifo' | 'unordered';
  /** No record is begun with less time than this left; it is reported instead. */
  readonly reserveMs?: number;
  readonly context: HandlerContext;
  /** Handles one record. A rejection lets it be delivered again. */
  readonly handle: (record: SQSRecord) => Promise<void>;
}

/** A record that was not begun, because the function is about to be stopped. */
export class NoTimeLeftError extends Error {
  override readonly name = 'NoTimeLeftError';
}

const DEFAULT_RESERVE_MS = 1500;

/** Handles every record of a batch. Never rejects because of a record. */
export async function handleRecords(
  event: SQSEvent,
  handling: RecordHandling,
): Promise<SQSBatchResponse> {
  const { context, handle, reserveMs = DEFAULT_RESERVE_MS } = handling;
  const handleOne = async (record: SQSRecord): Promise<void> => {
    const { messageId } = record;
    try {
      if (context.signal.aborted || context.remainingMs() < reserveMs) {
        throw new NoTimeLeftError('no time left for this record');
      }
      await handle(record);
    } catch (error) {
      context.metrics.count('RecordFailures');
      context.log.error('record will be delivered again', { messageId }, error);
      throw error;
    }
  };
  // A processor of its own for each batch: invocations may share a process (the embedded engine).
  return handling.order === 'fifo'
    ? processPartialResponse(event, handleOne, new SqsFifoPartialProcessorAsync(), {
        skipGroupOnError: true,
        throwOnFullBatchFailure: false,
      })
    : processPartialResponse(event, handleOne, new BatchProcessor(EventType.SQS), {
        throwOnFullBatchFailure: false,
      });
}

/** What was refused, and why. */
interface RecordRefusal {
  readonly queue: 'reconcile' | 'delay';
  readonly record: SQSRecord;
  readonly refusal: { readonly code: string; readonly field: string };
  readonly context: HandlerContext;
}

/**
 * Logs and counts a body of a hint or timer that cannot be read, which is acknowledged then: delivering it again would
 * change nothing, and only our own functions write to these queues.
 */
export function refuseRecord({ queue, record, refusal, context }: RecordRefusal): void {
  const { code, field } = refusal;
  context.metrics.count('MessageRefusals', { outcome: code });
  context.log.warn('message refused', { queue, code, field, messageId: record.messageId });
}
