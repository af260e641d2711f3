/**
 * The time that `ingest` has for an API server: three seconds for all of it, connecting too (L3, row 61).
 *
 * A batch holds records of several clusters. Connecting, checking whose server it is and one request may
 * take eighteen seconds together where nobody answers; the function would be stopped after ten, and
 * everybody's records would come again half a minute later. What is still under way then ends by its own
 * time-outs, and nobody waits for it: a request for a snapshot is repeated by `resync`, a Lease is read
 * again with the message.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** For all that one batch, or one message outside of a batch, has to say to an API server. Milliseconds. */
export const TALK_MS = 3_000;

/** How long is waited, and on which clock. */
export interface TalkBound {
  readonly clock: Pick<Clock, 'after'>;
  readonly withinMs?: number;
}

/** What came of talking, or `otherwise` once the time is over. Rejects as `talk` does, until then. */
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
