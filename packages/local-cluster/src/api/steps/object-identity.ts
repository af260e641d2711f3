/** What the server gives a new object: a generated name and a UID, both from the Random port. */
import type { ApiObject } from '../../objects/api-object.ts';
import type { Random } from '@rollcall/base/ports/random.ts';

/** No vowels, no digits that look like letters: generated names form no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const BASE_LENGTH_MAX = 63 - SUFFIX_LENGTH;

/** A name from a prefix: cut so that with five random characters it has 63 at most. */
export function generateName(random: Random, prefix: string): string {
  let name = prefix.slice(0, BASE_LENGTH_MAX);
  for (let index = 0; index < SUFFIX_LENGTH; index += 1) {
    name += ALPHABET.charAt(Math.floor(random.next() * ALPHABET.length));
  }
  return name;
}

/** A version 4 UUID. */
export function generateUid(random: Random): string {
  const words = [0, 0, 0, 0].map(() => Math.floor(random.next() * 2 ** 32));
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}

/** The object as it is stored: the long gone selfLink is not, though a dry run still shows it. */
export function withoutSelfLink(object: ApiObject): ApiObject {
  if (object.metadata['selfLink'] === undefined) return object;
  const { selfLink: _selfLink, ...metadata } = object.metadata;
  return { ...object, metadata }; // the other members are all there
}
