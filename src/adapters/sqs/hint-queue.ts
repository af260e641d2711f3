/**
 * HintQueue over SQS (being written).
 */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Clock } from '../../ports/clock.ts';
import type { HintQueue } from '../../ports/queue.ts';

/** Options of a hint queue. */
export interface HintQueueOptions {
  readonly client: SQSClient;
  readonly reconcileQueueUrl: string;
  readonly delayQueueUrl: string;
  readonly clock: Clock;
}

/** Sends hints and timers. */
export function createHintQueue(_options: HintQueueOptions): HintQueue {
  throw new Error('not written yet');
}
