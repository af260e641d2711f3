/**
 * The Random port over node:crypto: jitter and unique ids.
 *
 * Ids are drawn from the system's generator, so that two processes started in the same millisecond
 * still differ (incarnations, timer ids: protocol 12 and 14). Not a source of secrets.
 */
import { randomBytes } from 'node:crypto';
import type { Random } from '../ports/random.ts';

/** 2^48: how many values six random bytes take. */
const SIX_BYTES = 0x1_0000_0000_0000;
/** 26 digits of base 36 hold 128 bits. */
const ID_DIGITS = 26;
const ID_BYTES = 16;

/** A random source over node:crypto. `uniqueId` gives 26 characters of [0-9a-z] from 128 bits. */
export function createSystemRandom(): Random {
  return {
    next: () => randomBytes(6).readUIntBE(0, 6) / SIX_BYTES,
    uniqueId: () => {
      const value = BigInt(`0x${randomBytes(ID_BYTES).toString('hex')}`);
      return value.toString(36).padStart(ID_DIGITS, '0');
    },
  };
}
