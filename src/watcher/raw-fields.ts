/**
 * Reads fields of raw Kubernetes objects without trusting their types.
 *
 * An absent field is undefined; a field of another type than documented throws
 * {@link UnexpectedFieldError}, which makes its object opaque (protocol 22) and nothing else.
 */
import { isJsonObject } from '../core/model/json.ts';
import type { JsonObject } from '../core/model/json.ts';

/** A field that is not what the Kubernetes API documents. */
export class UnexpectedFieldError extends Error {
  override readonly name = 'UnexpectedFieldError';
}

const EMPTY: JsonObject = {};

/** A member that is an object; an empty object when absent or null. */
export function readObject(parent: JsonObject, field: string): JsonObject {
  const value = parent[field];
  if (value === undefined || value === null) return EMPTY;
  if (isJsonObject(value)) return value;
  throw new UnexpectedFieldError(`${field} is not an object`);
}

/** A member that is a list of objects; empty when absent or null. */
export function readObjects(parent: JsonObject, field: string): readonly JsonObject[] {
  const value = parent[field];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every(isJsonObject)) return value;
  throw new UnexpectedFieldError(`${field} is not a list of objects`);
}

/** A member that is text; undefined when absent or null. */
export function readText(parent: JsonObject, field: string): string | undefined {
  const value = parent[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new UnexpectedFieldError(`${field} is not text`);
}

/** A member that must be there and be text that is not empty. */
export function requireText(parent: JsonObject, field: string): string {
  const value = readText(parent, field);
  if (value === undefined || value === '') throw new UnexpectedFieldError(`${field} is missing`);
  return value;
}

/** A member that is a whole number; undefined when absent or null. */
export function readInteger(parent: JsonObject, field: string): number | undefined {
  const value = parent[field];
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value)) return value as number;
  throw new UnexpectedFieldError(`${field} is not a whole number`);
}

/** A map of text to text; empty when absent or null. */
export function readTexts(parent: JsonObject, field: string): Readonly<Record<string, string>> {
  const value = readObject(parent, field);
  for (const key in value) {
    if (typeof value[key] !== 'string') throw new UnexpectedFieldError(`${field} is not all text`);
  }
  return value as Readonly<Record<string, string>>;
}

/** A time as the API server writes it, in milliseconds since 1970; undefined when absent. */
export function readTimeMs(parent: JsonObject, field: string): number | undefined {
  const value = readText(parent, field);
  if (value === undefined) return undefined;
  const timeMs = Date.parse(value);
  if (Number.isNaN(timeMs)) throw new UnexpectedFieldError(`${field} is not a time`);
  return timeMs;
}
