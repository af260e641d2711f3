/**
 * What a batch begins beside its records and awaits at its end: requests for snapshots (L3, row 61, A.8).
 *
 * No record waits for an API server, neither of its own cluster nor of another; the invocation does, since a process
 * that answered may be frozen with requests under way. All of them share three seconds from the first one on. A failure
 * fails no record: `resync` repeats the request while the view is incomplete.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { BackgroundWork } from '@rollcall/base/background-work.ts';

/** Of one batch. */
export class BatchBackgroundWork {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #work: BackgroundWork;
  #sinceMs: number | undefined;

  constructor({ clock, log }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly log: Log }) {
    this.#clock = clock;
    this.#work = new BackgroundWork({
      log,
      failed: 'what a batch began beside its records failed',
    });
  }

  /** Begins something with the milliseconds that it has; a rejection is logged, with its cause. */
  begin(talk: (withinMs: number) => Promise<unknown>): void {
    const nowMs = this.#clock.monotonicMs();
    this.#sinceMs ??= nowMs;
    this.#work.take(talk(Math.max(0, this.#sinceMs + TALK_MS - nowMs)));
  }

  /** Ends when all that was begun has ended; never rejects. */
  ended(): Promise<void> {
    return this.#work.ended();
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
