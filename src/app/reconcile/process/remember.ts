/**
 * A bounded memory of a warm process: what was noted last stays, the oldest leaves. Forgetting is never wrong, only slower.
 */

const KEYS_MAX = 10_000;

/** Notes a value under its key, as the newest. */
export function remember<T>(memory: Map<string, T>, key: string, value: T): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= KEYS_MAX) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}
