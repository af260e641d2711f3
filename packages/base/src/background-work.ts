/**
 * Work begun beside the main work: only the end of an invocation waits for it.
 *
 * A process that answered may be frozen with requests under way, so a handler awaits `ended` before it answers. A failure is
 * logged, with its cause, and fails nothing else. It bounds no time: what is begun ends by its own time-outs.
 */
import type { Log } from './ports/log.ts';

/** Of one invocation. */
export class BackgroundWork {
  readonly #log: Log;
  readonly #failed: string;
  readonly #underWay = new Set<Promise<void>>();

  /** `failed`: what is logged of work that failed. */
  constructor(on: { readonly log: Log; readonly failed: string }) {
    this.#log = on.log;
    this.#failed = on.failed;
  }

  /** False while something is under way. */
  get isOver(): boolean {
    return this.#underWay.size === 0;
  }

  /** Takes what was begun. */
  take(work: Promise<unknown>): void {
    const told = work
      .then(
        () => undefined,
        (error: unknown) => {
          this.#log.error(this.#failed, {}, error);
        },
      )
      .finally(() => this.#underWay.delete(told));
    this.#underWay.add(told);
  }

  /** Ends when nothing is under way, what was taken meanwhile included; never rejects. */
  async ended(): Promise<void> {
    while (!this.isOver) await Promise.all(this.#underWay);
  }
}
