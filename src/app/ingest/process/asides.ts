/**
 * What a batch begins beside its records and awaits at its end: requests for snapshots (L3, row 61, A.8).
 *
 * No record waits for an API server, neither of its own cluster nor of another; the invocation does, since a process
 * that answered may be frozen with requests under way. All of them share three seconds from the first one on. A failure
 * fails no record: `resync` repeats the request while the view is incomplete.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { TALK_MS } from './bounded-talk.ts';

/** Of one batch. */
export class Asides {
  readonly #on: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly log: Log };
  readonly #begun: Promise<void>[] = [];
  #sinceMs: number | undefined;

  constructor(on: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly log: Log }) {
    this.#on = on;
  }

  /** Begins something with the milliseconds that it has; a rejection is logged, with its cause. */
  begin(talk: (withinMs: number) => Promise<unknown>): void {
    const nowMs = this.#on.clock.monotonicMs();
    this.#sinceMs ??= nowMs;
    const leftMs = Math.max(0, this.#sinceMs + TALK_MS - nowMs);
    const told = talk(leftMs).then(
      () => undefined,
      (error: unknown) => {
        this.#on.log.error('what a batch began beside its records failed', {}, error);
      },
    );
    this.#begun.push(told);
  }

  /** Ends when all that was begun has ended; never rejects. */
  async ended(): Promise<void> {
    await Promise.all(this.#begun);
  }
}
