/**
 * The stack around each handler (being written).
 */
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';

/** What a handler gets beside its event. */
export interface HandlerContext {
  /** Aborted about 700 ms before the function is stopped. */
  readonly signal: AbortSignal;
  /** Milliseconds until the function is stopped. */
  readonly remainingMs: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** One function. */
export interface HandlerDefinition<Event, Result> {
  readonly name: string;
  readonly handle: (event: Event, context: HandlerContext) => Promise<Result>;
}
