/**
 * The queue as the sender sees it, with every try noted (vitals.ts). Changes nothing of what happens.
 */
import type { EventQueue } from '../../ports/queues/queue.ts';
import type { Vitals } from './vitals.ts';

/** The same queue, observed. */
export function observeQueue(queue: EventQueue, vitals: Vitals): EventQueue {
  return {
    freeze: (message) => queue.freeze(message),
    send: async (frozen, cutAgeMs) => {
      vitals.noteSending();
      const isAnnouncement = frozen.message.body.kind === 'announcement';
      try {
        const outcome = await queue.send(frozen, cutAgeMs);
        vitals.noteSent(outcome, isAnnouncement);
        return outcome;
      } catch (cause) {
        // The port says that this cannot be; the sender counts it as a bug and tries again.
        vitals.noteSent({ kind: 'ambiguous', message: 'the send rejected' }, isAnnouncement);
        throw cause;
      }
    },
  };
}
