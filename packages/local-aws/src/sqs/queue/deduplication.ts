// What a FIFO queue remembers of its senders, so that a repeated send is not a second message.
//
// Invariant: an id is remembered for 300 seconds from the send that was accepted, whether or not the message was
// received or deleted since; a repeat does not prolong it. Entries are added in the order of time, so the oldest
// stand first and pruning touches only what has expired. The scope (queue or message group) is in the key.

/** How long SQS remembers a deduplication id. */
const deduplicationWindowMs = 300_000;

/** The accepted send that a repeat is answered with. */
export interface RememberedSend {
  readonly key: string;
  readonly atMs: number;
  readonly messageId: string;
  readonly sequence: number;
}

/** The deduplication ids of one queue. */
export class DeduplicationWindow {
  readonly #sends = new Map<string, RememberedSend>();

  /** The accepted send under this key, if it is still remembered. */
  find(key: string, nowMs: number): RememberedSend | undefined {
    this.prune(nowMs);
    return this.#sends.get(key);
  }

  /** Remembers an accepted send. */
  remember(send: RememberedSend): void {
    this.#sends.set(send.key, send);
  }

  /** Forgets what has expired. */
  prune(nowMs: number): void {
    for (const send of this.#sends.values()) {
      if (send.atMs + deduplicationWindowMs > nowMs) return;
      this.#sends.delete(send.key);
    }
  }

  /** Everything that is remembered, for compaction of the journal. */
  entries(): Iterable<RememberedSend> {
    return this.#sends.values();
  }
}
