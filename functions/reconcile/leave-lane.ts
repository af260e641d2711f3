/**
 * A hint whose run failed leaves the lane that it shares with other keys (queue-ids.ts), and goes on alone.
 *
 * In a group of its own its redeliveries, and in the end its dead letter, hold nobody else: poison stays by
 * itself (L4). A hint that is alone already fails as ever.
 */
import type { SQSRecord } from 'aws-lambda';
import { hintGroupId } from '../../src/adapters/sqs/queue-ids.ts';
import type { Hint } from '../../src/core/model/hint.ts';
import type { HintQueue } from '../../src/ports/queues/queue.ts';
import type { Log } from '@rollcall/base/ports/log.ts';

/** What failed, and how to send it on. */
export interface LaneFailure {
  readonly record: Pick<SQSRecord, 'messageId' | 'attributes'>;
  readonly hint: Hint;
  readonly error: unknown;
  readonly queue: Pick<HintQueue, 'sendHints'>;
  readonly log: Log;
}

/** Sends the hint on alone; throws the error when it is alone already, or cannot be sent. */
export async function leaveLane({ record, hint, error, queue, log }: LaneFailure): Promise<void> {
  const { messageId, attributes } = record;
  if (attributes.MessageGroupId === hintGroupId(hint.key)) throw error;
  log.error('a hint leaves its lane and goes on alone', { messageId }, error);
  await queue.sendHints([hint], `alone/${messageId}`);
}
