/**
 * `dead-letter`: classifies and counts what the queues gave up; a lost event marks its view
 * incomplete, so that nothing acts on what came after it (design 3, protocol 18, row 83), and the
 * key of a lost hint is looked at again later. One handler serves the four queues; a letter whose
 * effect fails comes again.
 */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseHint, parseTimer } from '../../src/adapters/sqs/schema/hint-codec.ts';
import { identifySender } from '../../src/adapters/sqs/queue-ids.ts';
import { handleDeadLetter, type DeadLetter } from '../../src/app/dead-letter/dead-letter.ts';
import type { Hint } from '../../src/core/model/hint.ts';
import { composition } from '../composition.ts';
import { ingestDependencies, toIngestRecord } from '../ingest-record.ts';
import { createHandler } from '../middleware.ts';
import { handleRecords } from '../records.ts';

/** The Lambda handler of the four dead-letter queues. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'dead-letter',
  handle: (event, context) =>
    handleRecords(event, {
      order: event.Records.some(isFromFifo) ? 'fifo' : 'unordered',
      context,
      handle: async (record) => {
        const { queue } = composition(context);
        await handleDeadLetter(toDeadLetter(record), { ...ingestDependencies(context), queue });
      },
    }),
});

function isFromFifo(record: SQSRecord): boolean {
  return record.eventSourceARN.endsWith('.fifo');
}

/** Which queue gave it up is told by the name of its dead-letter queue. */
function toDeadLetter(record: SQSRecord): DeadLetter {
  if (record.eventSourceARN.includes('-events-dead-letter')) {
    const { context, parsed } = toIngestRecord(record);
    return { queue: 'events', context, parsed };
  }
  const { messageId } = record;
  if (record.eventSourceARN.includes('-credentials-dead-letter')) {
    const senderRoleId = identifySender(record.attributes.SenderId);
    return { queue: 'credentials', messageId, senderRoleId };
  }
  const queue = record.eventSourceARN.includes('-delay-dead-letter') ? 'delay' : 'reconcile';
  const { body } = record;
  const lost = queue === 'delay' ? hintOfTimer(body) : hintOf(body);
  return { queue, messageId, ...(lost === undefined ? {} : { lost }) };
}

function hintOf(body: string): Hint | undefined {
  const parsed = parseHint(body);
  return parsed.kind === 'hint' ? parsed.hint : undefined;
}

function hintOfTimer(body: string): Hint | undefined {
  const parsed = parseTimer(body);
  return parsed.kind === 'timer' ? parsed.timer.hint : undefined;
}
