/**
 * Moves messages that still wait in a dead-letter queue back to the queue that gave them up.
 *
 * Only for hints and timers: they say *look again*, so neither order nor repeats matter. Events are
 * never moved: whoever sends them again is another sender, and they are out of order by then; the
 * function `dead-letter` takes them when it runs again, and the view waits for a snapshot (protocol 18).
 */

/** Queues whose dead letters may be moved. */
export type MovableQueue = 'reconcile' | 'delay';

/** What came of moving. */
export type MoveResult =
  /** SQS moves them by itself from now on. */
  | { readonly kind: 'started'; readonly waiting: number }
  | { readonly kind: 'moved'; readonly moved: number }
  | { readonly kind: 'empty' };

/** Moves what waits. Rejects when a queue fails; what was moved by then stays moved. */
export interface DeadLetterMover {
  move(queue: MovableQueue): Promise<MoveResult>;
}
