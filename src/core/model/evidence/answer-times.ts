/**
 * How long an API server took to answer our own requests, as their transport measured it (ADR 0062).
 *
 * Of requests of one object on a connection that was there before: neither its making nor a wait for it is in the time, nor is a list,
 * whose length is the cluster's. Values only; what they mean is judged in core/health/answer-times.ts.
 */

/** One request that was answered, or that was given up because it was not. */
export interface AnswerTiming {
  /** Verb and resource, as `get pods` or `patch daemonsets/status`: only like is compared with like. */
  readonly kind: string;
  /** When it ended, by the clock of the process that sent it. */
  readonly atMs: number;
  readonly tookMs: number;
}

/** The quarter of a minute in which requests ended, as its first millisecond, and what the middle one of them took. */
export type AnswerSample = readonly [quarterMs: number, tookMs: number];

/** Samples by kind of request, the oldest first (core/health/answer-times.ts has the bounds). */
export type AnswerSamples = Readonly<Record<string, readonly AnswerSample[]>>;
