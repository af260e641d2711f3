/**
 * What a queue is given, what a receive asks for, and what a queue counts.
 */
import type { RecordFact } from './journal.ts';
import type { StoredMessage } from './message.ts';
import type { QueueSettings } from './queue-settings.ts';

/** What a queue needs from its surroundings. */
export interface QueueOptions {
  readonly settings: QueueSettings;
  readonly newMessageId: () => string;
  /** Differs for each process, so that a handle from before a restart is recognised as stale. */
  readonly handleSalt: string;
  /** Called for a message that was received too often; false if there is nowhere to put it. */
  readonly moveToDeadLetter?: (message: StoredMessage, nowMs: number) => boolean;
  readonly record?: RecordFact | undefined;
}

/** How many messages are where, for GetQueueAttributes. */
export interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/** One receive call. */
export interface ReceiveRequest {
  readonly countMax: number;
  readonly visibilityTimeoutSeconds?: number | undefined;
}
