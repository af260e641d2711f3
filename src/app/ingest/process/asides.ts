/**
 * What a batch begins beside its records and awaits at its end: requests for snapshots (L3, row 61, A.8).
 *
 * No record waits for an API server, neither of its own cluster nor of another; the invocation does, since a process
 * that answered may be frozen with requests under way. All of them share three seconds from the first one on. A failure
 * fails no record: `resync` repeats the request while the view is incomplete.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';

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

/** For all that one batch, or one message outside of a batch, has to say to an API server. Milliseconds. */
export const TALK_MS = 3_000;

interface TalkBound {
  readonly clock: Pick<Clock, 'after'>;
  readonly withinMs?: number;
}

/**
 * What came of talking, or `otherwise` once the time is over; rejects as `talk` does, until then. An API server
 * that does not answer takes eighteen seconds, the function has ten (L3, row 61). What is still under way ends
 * by its own time-outs: a request for a snapshot is repeated by `resync`, a Lease is read again with the message.
 */
export async function withinTalkBound<T>(
  talk: Promise<T>,
  otherwise: T,
  { clock, withinMs = TALK_MS }: TalkBound,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(withinMs, () => {
      resolve(otherwise);
    });
    talk.then(resolve, reject).finally(cancel);
  });
}
