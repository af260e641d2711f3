/** A delivery of events.fifo as `ingest` takes it. */
import { CUT_AGE_ATTRIBUTE, readCutAgeMs } from '../../../src/adapters/sqs/cut-age.ts';
import { identifySender } from '../../../src/adapters/sqs/sender-identity.ts';
import { openWatcherMessage } from '../../../src/adapters/sqs/watcher-message-codec.ts';
import type { IngestRecord } from '../../../src/app/ingest/ingest-batch.ts';
import type { Delivery } from '../../../src/local/aws/sqs/message.ts';

/** A delivery of events.fifo as functions/ingest-record.ts makes it. */
export function toIngestRecord({ message }: Delivery): IngestRecord {
  const group = message.groupId === undefined ? {} : { groupId: message.groupId };
  const opened = openWatcherMessage(message.body);
  const cutAgeMs = readCutAgeMs(message.attributes?.[CUT_AGE_ATTRIBUTE]?.StringValue);
  return {
    context: {
      sentAtMs: message.sentAtMs,
      ...(cutAgeMs === undefined ? {} : { cutAgeMs }),
      senderRoleId: identifySender(message.senderId),
      messageId: message.messageId,
      body: message.body,
      ...group,
    },
    ...group,
    header: opened.header,
    get parsed() {
      return opened.unpack();
    },
  };
}
