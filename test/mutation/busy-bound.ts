/**
 * Ends a test that a mutant makes run on and on without giving way: no timer can fire then.
 *
 * Code that is tried asks at each place that may be changed which mutant is active (Stryker writes it so), so that question is where
 * an endless loop can be stopped: past the bound it throws. Time is processor time of this thread: a busy machine ends
 * nothing. A loop that passes no such place is left to Stryker, which replaces the worker.
 */
import type { InstrumenterContext } from '@stryker-mutator/api/core';

/** So many questions lie between two looks at the clock. */
const QUESTIONS = 10_000;

export class BusyBound {
  #activeMutant: string | undefined;
  #questions = 0;
  #endsMs = Infinity;
  #isOver = false;

  constructor(context: InstrumenterContext) {
    Object.defineProperty(context, 'activeMutant', { get: () => this.#answer() });
  }

  /** From now on this is the answer; `undefined` is none. */
  activate(mutant: string | undefined): void {
    this.#activeMutant = mutant;
  }

  /** A test begins that may take so much of the processor. */
  begin(boundMs: number): void {
    this.#isOver = false;
    this.#questions = 0;
    this.#endsMs = processorMs() + boundMs;
  }

  /** The test is over; true if it was stopped. */
  end(): boolean {
    this.#endsMs = Infinity;
    return this.#isOver;
  }

  #answer(): string | undefined {
    this.#questions += 1;
    if (this.#questions % QUESTIONS === 0 && processorMs() > this.#endsMs) this.#isOver = true;
    if (this.#isOver && this.#endsMs < Infinity) throw new Error('busy without an end');
    return this.#activeMutant;
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
