/**
 * Queues as ports: hints out of functions, events out of watchers.
 *
 * At-least-once, with the ids of protocol 12 and design 3: each producer has its own deduplication
 * ids. Failures to send reject: a hint that was not accepted must not be forgotten, so the caller
 * fails its record and is redelivered.
 */
import type { Hint, Timer } from '../../core/model/hint.ts';
import type { WatcherMessage } from '../../core/model/watcher-message.ts';
/**
 * How many reconciles of one cluster the hints of one call may start side by side. `usual`: one for each
 * key, unless there are more keys than there is room for all clusters together; then few.
 * `suspect`: very few, because the cluster is slow, or does not answer (core/breaker.ts).
 */
export type HintPace = 'usual' | 'suspect' | InGroup;
/** In this very group: for a hint that goes back to where it came from. */
export interface InGroup {
  readonly group: string;
}
/** Sends hints to reconcile.fifo and timers to the delay queue. */
export interface HintQueue {
  /** Of one cluster, each under `deduplicationPrefix` + its key; resolves when all were accepted. */
  sendHints(hints: readonly Hint[], deduplicationPrefix: string, pace?: HintPace): Promise<void>;
  /** Puts timers on the delay queue: each waits min(900 s, due − now). */
  sendTimers(timers: readonly Timer[]): Promise<void>;
}
/** Takes hints off reconcile.fifo before the answer of their invocation does: their runs have ended. */
export interface HintReceipts {
  /** By receipt handle, ten at most; one that is no longer known is no error. Rejects where the queue cannot be asked. */
  finish(receiptHandles: readonly string[]): Promise<void>;
}
/**
 * What came of sending one message of a watcher. accepted: in the queue. ambiguous: unknown, repeat
 * the same body under the same id. unsent: certainly not accepted (throttled, no connection).
 * refused: the queue will never take this body.
 */
export type SendOutcome =
  | {
      readonly kind: 'accepted';
    }
  | {
      readonly kind: 'ambiguous';
      readonly message: string;
    }
  | {
      readonly kind: 'unsent';
      readonly message: string;
      readonly retryAfterMs?: number;
    }
  | {
      readonly kind: 'refused';
      readonly message: string;
    };
/** A message whose body is frozen: repeating it sends the same bytes under the same id. */
export interface FrozenMessage {
  readonly message: WatcherMessage;
  readonly body: string;
  readonly sizeBytes: number;
}
/** The watcher's way into events.fifo: group = cluster, id = cluster/epoch/incarnation/seq. */
export interface EventQueue {
  freeze(message: WatcherMessage): FrozenMessage;
  /** Tries once; rejects for nothing expected. `cutAgeMs`: the age of its cut at this try, beside the body. */
  send(frozen: FrozenMessage, cutAgeMs?: number): Promise<SendOutcome>;
}
