/**
 * A record of events.fifo (or of its dead-letter queue) as `ingest` and `dead-letter` take it.
 *
 * Body and attributes come from outside: the message is judged when it is opened, and what cannot be read beside it
 * counts as missing.
 */
import type { SQSRecord } from 'aws-lambda';
import { defined } from '@rollcall/base/defined.ts';
import { CUT_AGE_ATTRIBUTE, readCutAgeMs } from '../src/adapters/sqs/event-queue.ts';
import { identifySender } from '../src/adapters/sqs/queue-ids.ts';
import { openWatcherMessage } from '../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { IngestRecord } from '../src/app/ingest/ingest-batch.ts';

/**
 * Reads the header, and takes the sender from what SQS says (S6). The payload is unpacked when it is
 * asked for, which for a forged message is never. Never throws.
 */
export function toIngestRecord(record: SQSRecord): IngestRecord {
  const { SenderId, SentTimestamp, MessageGroupId } = record.attributes;
  const opened = openWatcherMessage(record.body);
  const { messageAttributes } = record;
  const cutAgeMs = readCutAgeMs(messageAttributes[CUT_AGE_ATTRIBUTE]?.stringValue);
  return {
    context: {
      sentAtMs: Number(SentTimestamp),
      ...defined({ cutAgeMs, groupId: MessageGroupId }),
      senderRoleId: identifySender(SenderId),
      messageId: record.messageId,
    },
    header: opened.header,
    get parsed() {
      return opened.unpack();
    },
  };
}
