/** Work that goes on beside who looks: begun again so long after it began, and never beside itself. */

/** One such work; whoever has it done waits for none of it. */
export class Paced {
  readonly #everyMs: number;
  readonly #work: () => Promise<unknown>;
  #dueMs = 0;
  #running: Promise<unknown> | undefined;

  #failure: { readonly error: unknown } | undefined;

  constructor(everyMs: number, work: () => Promise<unknown>) {
    this.#everyMs = everyMs;
    this.#work = work;
  }

  /** Begins it if it is due, and not under way. Throws what the last one failed with. */
  run(nowMs: number): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#running !== undefined || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + this.#everyMs;
    this.#running = this.#work()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }
}
