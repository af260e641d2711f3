/**
 * Reads fields of raw Kubernetes objects; what is not as documented throws.
 *
 * An {@link UnexpectedFieldError} makes its object opaque (protocol 22) and nothing else.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import * as raw from '../../core/projections/raw-fields.ts';

/** A field that is not what the Kubernetes API documents. */
export class UnexpectedFieldError extends Error {
  override readonly name = 'UnexpectedFieldError';
}

/** Refuses a field. */
export function raiseFault(message: string): never {
  throw new UnexpectedFieldError(message);
}

/** A member that is an object; an empty object when absent or null. */
export function readObject(parent: JsonObject, field: string): JsonObject {
  return raw.readObject(parent, field, raiseFault);
}

/** A member that is text; undefined when absent or null. */
export function readText(parent: JsonObject, field: string): string | undefined {
  return raw.readText(parent, field, raiseFault);
}

/** A member that must be there and be text that is not empty. */
export function requireText(parent: JsonObject, field: string): string {
  return raw.requireText(parent, field, raiseFault);
}

/** A member that is a whole number; undefined when absent or null. */
export function readInteger(parent: JsonObject, field: string): number | undefined {
  return raw.readInteger(parent, field, raiseFault);
}

/** A map of text to text; empty when absent or null. */
export function readTexts(parent: JsonObject, field: string): Readonly<Record<string, string>> {
  return raw.readTexts(parent, field, raiseFault);
}
