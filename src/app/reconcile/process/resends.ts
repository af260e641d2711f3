/**
 * Keeps a warm process from sending the same due time again and again (protocol 12).
 *
 * A run close before a due time that a timer caused sends it once more, because that timer may have been the
 * one of the due time. When many timers of one key arrive together, one repetition is enough: without
 * this, each of them would leave a timer, and chains would never merge (L5). It forgets after a
 * second, so a timer that comes too early is always replaced; a cold process simply sends.
 * It also knows the timers of looks that no state records.
 */

const REPEAT_MS = 1000;
const KEYS_MAX = 10_000;

/** What was sent again, by key. */
export class Resends {
  readonly #sent = new Map<string, { readonly dueAtMs: number; readonly atMs: number }>();
  readonly #unrecorded = new Map<string, number>();

  /** Whether to send this due time of this key again; notes that it is sent. */
  take(key: string, dueAtMs: number, monotonicMs: number): boolean {
    const last = this.#sent.get(key);
    if (last?.dueAtMs === dueAtMs && monotonicMs - last.atMs < REPEAT_MS) return false;
    this.note(key, dueAtMs, monotonicMs);
    return true;
  }

  /** Notes that this due time of this key was sent just now. */
  note(key: string, dueAtMs: number, monotonicMs: number): void {
    put(this.#sent, key, { dueAtMs, atMs: monotonicMs });
  }

  /** How long it takes until a look that nothing recorded, if one is on its way within that delay. */
  unrecordedWithin(
    key: string,
    at: { readonly monotonicMs: number; readonly delayMs: number },
  ): number | undefined {
    const dueMs = this.#unrecorded.get(key);
    if (dueMs === undefined) return undefined;
    const waitingMs = dueMs - at.monotonicMs;
    return waitingMs > 0 && waitingMs <= at.delayMs ? waitingMs : undefined;
  }

  /** Notes a look that nothing records. */
  noteUnrecorded(key: string, dueMonotonicMs: number): void {
    put(this.#unrecorded, key, dueMonotonicMs);
  }
}

/** The newest last; the oldest leaves. */
function put<T>(memory: Map<string, T>, key: string, value: T): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= KEYS_MAX) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}
