/**
 * `ingest`: applies watchers' messages to the view and hints the keys that they affect (design 3).
 *
 * Who sent a message is what SQS says (S6), never what the body says. Records that must come again
 * are reported one by one; a refused message is finished business.
 */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { TALK_MS } from '../../src/app/ingest/process/background-work.ts';
import { ingestBatch } from '../../src/app/ingest/ingest-batch.ts';
import { ingestDependencies, toIngestRecord } from '../ingest-record.ts';
import { makeKmsSeal } from '../kms-seal.ts';
import { createHandler } from '../middleware.ts';

/**
 * Time that a record may need at most: what is asked of an API server and never answered, and its writes. What is not
 * begun comes again when its visibility ends, twenty seconds after the batch was received, so little is held back; a
 * function that is ended in the middle of a record costs no more than that.
 */
const RECORD_RESERVE_MS = TALK_MS + 1000;

/** The Lambda handler of events.fifo. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'ingest',
  makeSeal: makeKmsSeal,
  connects: 'ask',
  handle: async (event, context) => {
    const records = event.Records.map(toIngestRecord);
    const { failedMessageIds } = await ingestBatch(
      records,
      ingestDependencies(context),
      () => context.remainingMs() > RECORD_RESERVE_MS,
    );
    return {
      batchItemFailures: failedMessageIds.map((itemIdentifier) => ({ itemIdentifier })),
    };
  },
});
