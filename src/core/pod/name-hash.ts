/**
 * Ten letters that stand for a text: the suffix of slot names and of our own revision hashes.
 *
 * SHA-256 over UTF-8 bytes; letter i is the i-th pair of digest bytes, read as a big-endian 16-bit
 * number, modulo 27, in Kubernetes' alphabet of 27 characters that spell no words (ADR 0005). The
 * byte order and the alphabet never change: names of existing pods depend on them.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';

const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** How many letters a hash has: 27^10 values, so that 5,000 nodes never clash (faults §4). */
export const NAME_HASH_LENGTH = 10;

/** Ten letters of a text; equal texts have equal letters, for ever (ADR 0005). */
export function nameHash(text: string): string {
  const digest = sha256(utf8ToBytes(text));
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
  let letters = '';
  for (let index = 0; index < NAME_HASH_LENGTH; index += 1) {
    letters += ALPHABET.charAt(view.getUint16(index * 2) % ALPHABET.length);
  }
  return letters;
}
