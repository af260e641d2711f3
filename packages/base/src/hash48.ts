/**
 * A 48-bit hash of text: small enough for an exact number, wide enough that a fleet's names do not meet by chance.
 *
 * The same on every machine and in every version: hashes are stored and compared (protocol 19). It detects change and
 * spreads load; it does not withstand malice.
 */

/** A 48-bit hash of text as a non-negative integer. */
export function hash48(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (low >>> 0) + (high & 0xffff) * 0x1_0000_0000;
}
