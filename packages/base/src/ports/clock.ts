/**
 * Time as a port: no decision and no loop reads a clock or sets a timer otherwise.
 *
 * The simulation runs the same code on virtual time. Wall time may step and skew; only `monotonicMs`
 * measures durations. Client clocks appear in no safety argument (faults §4).
 */

/** Cancels a timer; harmless when it has fired. */
export type Cancel = () => void;

/** A source of time and timers. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds of a clock that never steps. */
  monotonicMs(): number;
  /** Calls back once after `delayMs`. */
  after(delayMs: number, callback: () => void): Cancel;
  /** Resolves after `delayMs`, or at once when the signal aborts (it never rejects). */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}
