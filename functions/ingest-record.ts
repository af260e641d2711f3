/**
 * What `ingest` runs on, and a record of events.fifo as it takes it; `dead-letter` as well, as a lost event is a matter of
 * the same view. What cannot be read beside a body counts as missing.
 */
import type { SQSRecord } from 'aws-lambda';
import { defined } from '@rollcall/base/defined.ts';
import { CUT_AGE_ATTRIBUTE, readCutAgeMs } from '../src/adapters/sqs/event-queue.ts';
import { identifySender } from '../src/adapters/sqs/queue-ids.ts';
import { openWatcherMessage } from '../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { IngestRecord } from '../src/app/ingest/ingest-batch.ts';
import { reportedConnector } from '../src/app/isolation/reported-access.ts';
import {
  defaultIngestOptions,
  type IngestDependencies,
} from '../src/app/ingest/process/dependencies.ts';
import { composition } from './composition.ts';
import type { HandlerContext } from './middleware.ts';

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

/** Ports, bounds and warm memory of this process, with the sinks of this invocation. */
export function ingestDependencies(context: HandlerContext): IngestDependencies {
  const { log, metrics } = context;
  const { registry, view, connector, queue, clock, random, ingestProcessCache } =
    composition(context);
  return {
    registry,
    view,
    connector: reportedConnector(connector, { log, metrics }),
    queue,
    clock,
    random,
    log,
    metrics,
    options: defaultIngestOptions,
    processCache: ingestProcessCache,
  };
}
