/**
 * `credential`: sealed tokens that clusters send (ADR 0016).
 *
 * Not taken in yet: a message is left in its queue, which gives it up after ten receives and keeps it.
 */
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { createHandler } from '../middleware.ts';
import { handleRecords } from '../records.ts';

/** The Lambda handler of the credentials queue. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'credential',
  handle: (event, context) =>
    handleRecords(event, {
      order: 'unordered',
      context,
      handle: () => Promise.reject(new Error('sealed tokens are not taken in by this release')),
    }),
});
