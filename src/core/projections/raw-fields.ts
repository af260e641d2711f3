/**
 * Reads fields of raw Kubernetes objects without trusting their types.
 *
 * An absent field is undefined. A field of another type than documented is told to `onFault`, which may throw:
 * the sender makes the whole object opaque (protocol 22). If it returns, the field counts as absent.
 */
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';

/** Told of a field that is not what the Kubernetes API documents. */
export type OnFault = (message: string) => void;

const EMPTY: JsonObject = {};

/** The same raw value, to be read without trusting its type. */
export function rawJson(raw: KubernetesObject): JsonObject {
  return raw as unknown as JsonObject; // the same raw value, read without trusting its type
}

/** A member that is an object; an empty object when absent or null. */
export function readObject(parent: JsonObject, field: string, onFault: OnFault): JsonObject {
  const value = parent[field];
  if (value === undefined || value === null) return EMPTY;
  if (isJsonObject(value)) return value;
  onFault(`${field} is not an object`);
  return EMPTY;
}

/** A member that is a list of objects; empty when absent or null. */
export function readObjects(
  parent: JsonObject,
  field: string,
  onFault: OnFault,
): readonly JsonObject[] {
  const value = parent[field];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every(isJsonObject)) return value;
  onFault(`${field} is not a list of objects`);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A member that is text; undefined when absent or null. */
export function readText(parent: JsonObject, field: string, onFault: OnFault): string | undefined {
  const value = parent[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  onFault(`${field} is not text`);
  return undefined;
}

/** A member that must be there and be text that is not empty. */
export function requireText(parent: JsonObject, field: string, onFault: OnFault): string {
  const value = readText(parent, field, onFault) ?? '';
  if (value === '') onFault(`${field} is missing`);
  return value;
}

/** A member that is a whole number; undefined when absent or null. */
export function readInteger(
  parent: JsonObject,
  field: string,
  onFault: OnFault,
): number | undefined {
  const value = parent[field];
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value)) return value as number;
  onFault(`${field} is not a whole number`);
  return undefined;
}

/** A map of text to text; empty when absent or null. */
export function readTexts(
  parent: JsonObject,
  field: string,
  onFault: OnFault,
): Readonly<Record<string, string>> {
  const value = readObject(parent, field, onFault);
  for (const key in value) {
    if (typeof value[key] === 'string') continue;
    onFault(`${field} is not all text`);
    const texts = Object.entries(value).filter((entry) => typeof entry[1] === 'string');
    return Object.fromEntries(texts) as Readonly<Record<string, string>>;
  }
  return value as Readonly<Record<string, string>>;
}

/** A time as the API server writes it, in milliseconds since 1970; undefined when absent, or before that. */
export function readTimeMs(
  parent: JsonObject,
  field: string,
  onFault: OnFault,
): number | undefined {
  const value = readText(parent, field, onFault);
  if (value === undefined) return undefined;
  const timeMs = Date.parse(value);
  if (Number.isNaN(timeMs)) onFault(`${field} is not a time`);
  return timeMs >= 0 ? timeMs : undefined;
}

/** Long enough for every reason that a kubelet gives, and for every name of a system. */
const WORD_LENGTH_MAX = 256;

/**
 * Words of a status, as another client wrote them: cut and made printable, as messages take them (wordSchema); undefined
 * when there is none.
 */
export function boundedWord(value: string | undefined, sharing?: Sharing): string | undefined {
  const word = (value ?? '').slice(0, WORD_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?');
  if (word === '') return undefined;
  return sharing === undefined ? word : sharing.text(word);
}

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** Shares equal texts and label maps, where ten thousand projections are kept. */
export interface Sharing {
  text(value: string): string;
  labels(value: Labels): Labels;
}

/** How fields are read. */
export interface Reading {
  readonly onFault: OnFault;
  readonly sharing: Sharing;
}
