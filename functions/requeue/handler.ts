/**
 * `requeue`: forwards due timers from the delay queue to reconcile.fifo (design 3, protocol 12).
 *
 * What is not due yet hops; a timer that could not be sent on comes again. A body that is no timer is
 * refused once and for all.
 */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Timer } from '../../src/core/model/hint.ts';
import { parseTimer } from '../../src/adapters/sqs/schema/hint-codec.ts';
import { requeueTimers } from '../../src/app/requeue/requeue.ts';
import { composition } from '../composition.ts';
import { createHandler, type HandlerContext } from '../middleware.ts';
import { refuseRecord } from '../records.ts';

/** The Lambda handler of the delay queue. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'requeue',
  handle: async (event, context) => {
    const { queue, clock, view } = composition(context);
    const { log, metrics } = context;
    const readable = await readTimers(event.Records, context);
    const outcomes = await requeueTimers(
      readable.map(({ timer }) => timer),
      { queue, clock, view, log, metrics },
    );
    const batchItemFailures = readable
      .filter((_, index) => outcomes[index]?.kind === 'failed')
      .map(({ messageId }) => ({ itemIdentifier: messageId }));
    return { batchItemFailures };
  },
});

interface ReadableTimer {
  readonly messageId: string;
  readonly timer: Timer;
}

async function readTimers(
  records: readonly SQSRecord[],
  context: HandlerContext,
): Promise<ReadableTimer[]> {
  const readable: ReadableTimer[] = [];
  for (const record of records) {
    const parsed = parseTimer(record.body);
    if (parsed.kind === 'timer') {
      readable.push({ messageId: record.messageId, timer: parsed.timer });
    } else {
      refuseRecord({ queue: 'delay', record, refusal: parsed, context });
    }
  }
  return readable;
}
