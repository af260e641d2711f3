/**
 * What one run found out about an API server, from its own requests (L3).
 *
 * An answer is an answer, whatever it says: a refusal, a conflict and a 404 come from a server that is
 * alive. A failure is none, or one that cannot be trusted: no connection, a time-out, a 5xx, garbage. A wish
 * to be left alone (429, Retry-After) is neither: it is back-pressure, which slows and opens nothing.
 * A run whose server stopped answering gives up: it costs one time-out, not one for each request it had in
 * mind. Durations are measured, never read from texts.
 */
import type { Finding, NotedTrouble } from '../../core/model/breaker.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterAccess } from '../../ports/cluster/cluster-access.ts';
/** What one call to an API server showed. */
export type Talk = 'answered' | 'failed' | 'neutral';
/** The talk of one run; shared by all its attempts. */
export declare class TalkTally {
  #private;
  /** What an operator has to mend. */
  readonly met: Set<NotedTrouble>;
  constructor(clock: Clock);
  /** True once asking on would only cost the time that other clusters wait for. */
  get hasGivenUp(): boolean;
  get isSlow(): boolean;
  /** For how long the API server asked to be left alone, from now on; 0: it did not, or that is over. */
  get askedMs(): number;
  /** Notes a Retry-After, if there was one; the latest end counts. */
  noteAsked(retryAfterMs: number | undefined): void;
  measure<T>(call: () => Promise<T>, judge: (answer: T) => Talk): Promise<T>;
  /**
   * What it comes to. Some failures among answers are a server that is alive (row 12); a time-out at the
   * end, or no answer at all, is not.
   */
  get kind(): Finding['kind'];
}
/** Judges every call, and makes none once the run gave up: that answers as one certainly not sent. */
export declare function talliedAccess(
  access: ClusterAccess,
  {
    tally,
    clock,
  }: {
    readonly tally: TalkTally;
    readonly clock: Clock;
  },
): ClusterAccess;
