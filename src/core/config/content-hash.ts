/**
 * Hashes of content: of one object under the cluster's key, and of all objects that count together (ADR 0061).
 *
 * A Secret may hold a short word, and a hash without a key would let anybody who reads the view try all of them. The key
 * stays in the cluster, and so do names and namespaces of what is equal: the same content in two objects has two hashes.
 * Only what pods can load is hashed (data, binaryData): labels, annotations and versions move without it.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ConfigName } from '../model/projections.ts';
import { configNameText } from './references.ts';

/** 80 bits: nobody can look for a second content without the key. */
const OBJECT_CHARACTERS = 20;
const KEY_ID_CHARACTERS = 8;
/** What two combinations of a few changes meet by with a chance of one in a million millions; it stands in a label. */
const TOGETHER_CHARACTERS = 10;
const SCOPE_CHARACTERS = 8;
/** Keys of fewer bytes could be tried. */
const KEY_BYTES_MIN = 16;

/** A key, and the word by which it is told apart from others. */
export interface ConfigKey {
  readonly bytes: Uint8Array;
  readonly id: string;
}

/** The key of these bytes; undefined: too short. */
export function configKeyOf(bytes: Uint8Array): ConfigKey | undefined {
  if (bytes.length < KEY_BYTES_MIN) return undefined;
  return { bytes, id: keyed(bytes, 'rollcall config key').slice(0, KEY_ID_CHARACTERS) };
}

/** Hash of what pods can load of an object. */
export function hashContent(
  key: ConfigKey,
  { kind, name, namespace }: ConfigName & { readonly namespace: string },
  object: KubernetesObject,
): string {
  const data = (object['data'] ?? {}) as Json; // raw JSON of an API server
  const binaryData = (object['binaryData'] ?? {}) as Json;
  const text = canonicalJson([kind, namespace, name, data, binaryData]);
  return keyed(key.bytes, text).slice(0, OBJECT_CHARACTERS);
}

/** Of an object that pods do without. */
export const ABSENT_HASH = 'absent';

/** Hash of all objects that count, in their order. */
export function hashTogether(objects: readonly (ConfigName & { readonly hash: string })[]): string {
  const lines = objects.map((object) => `${configNameText(object)}=${object.hash}`);
  return plain(lines.join('\n')).slice(0, TOGETHER_CHARACTERS);
}

/** What tells hashes apart that do not compare: of other objects, or under another key. */
export function scopeOf(key: string, objects: readonly ConfigName[]): string {
  return plain([key, ...objects.map(configNameText)].join('\n')).slice(0, SCOPE_CHARACTERS);
}

function plain(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

function keyed(bytes: Uint8Array, text: string): string {
  return bytesToHex(hmac(sha256, bytes, utf8ToBytes(text)));
}
