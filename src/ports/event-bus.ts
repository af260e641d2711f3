/**
 * A broker of events, as Amazon EventBridge is one (issue 18): takes events, says of each what became of it.
 *
 * At least once and in no order; whoever puts an event again uses the same id. Nothing is retried here.
 */

/** One event. */
export interface BusEntry {
  /** What rules of the bus choose by. */
  readonly type: string;
  readonly atMs: number;
  /** JSON text. */
  readonly detail: string;
}

/** What became of one. */
export type PutOutcome =
  | { readonly kind: 'put' }
  /** Not taken, or not known to be: it may be put again. */
  | { readonly kind: 'retry'; readonly code: string }
  /** It never will be: missing right, no such bus, malformed. */
  | { readonly kind: 'refused'; readonly code: string };

/** A bus. */
export interface EventBus {
  /** One outcome each, in their order. Never rejects. */
  put(entries: readonly BusEntry[]): Promise<readonly PutOutcome[]>;
}
