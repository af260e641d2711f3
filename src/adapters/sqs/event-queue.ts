/**
 * EventQueue over SQS (being written).
 */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { EventQueue } from '../../ports/queue.ts';

/** Options of an event queue. */
export interface EventQueueOptions {
  /** Configured with `EVENT_CLIENT_RETRY` so that one send in flight holds. */
  readonly client: SQSClient;
  readonly queueUrl: string;
}

/** The watcher's way into events.fifo. */
export function createEventQueue(_options: EventQueueOptions): EventQueue {
  throw new Error('not written yet');
}
