/**
 * Keeps a warm process from sending the same due time again and again (protocol 12).
 *
 * A skip close before a due time sends it once more, because the hint that led to the skip may have
 * been its last timer. When many hints of one key arrive together, one repetition is enough: without
 * this, each of them would leave a timer, each timer a skip, and each skip a timer. It forgets after a
 * second, so a timer that comes too early is always replaced; a cold process simply sends.
 */

const REPEAT_MS = 1000;
const KEYS_MAX = 10_000;

/** What was sent again, by key. */
export class Resends {
  readonly #sent = new Map<string, { readonly dueAtMs: number; readonly atMs: number }>();

  /** Whether to send this due time of this key again; notes that it is sent. */
  take(key: string, dueAtMs: number, monotonicMs: number): boolean {
    const last = this.#sent.get(key);
    if (last?.dueAtMs === dueAtMs && monotonicMs - last.atMs < REPEAT_MS) return false;
    this.#sent.delete(key);
    this.#sent.set(key, { dueAtMs, atMs: monotonicMs });
    if (this.#sent.size > KEYS_MAX) {
      const [oldest] = this.#sent.keys();
      if (oldest !== undefined) this.#sent.delete(oldest);
    }
    return true;
  }
}
