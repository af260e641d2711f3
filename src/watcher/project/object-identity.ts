/**
 * Who a raw object is: kind, uid, name, version. The least that must be readable about anything.
 *
 * Names and uids that no Kubernetes object can have are refused, because they could spoil a message.
 */
import { isResourceVersion, uid } from '../../core/model/identifiers.ts';
import type { ResourceVersion, Uid } from '../../core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../core/model/projections.ts';
import { isNamespace, isObjectName, isToken } from './wire-bounds.ts';
import * as raw from '../../core/projections/raw-fields.ts';

/** Names one object of a kind, whatever its content. */
export interface ObjectIdentity {
  readonly of: WatchedKind;
  readonly uid: Uid;
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion: ResourceVersion;
}

/** The identity of an object, or why it has none. */
export function identify(kind: WatchedKind, raw: KubernetesObject): ObjectIdentity | string {
  try {
    const metadata = readObject(raw as unknown as JsonObject, 'metadata');
    const namespace = readText(metadata, 'namespace');
    const version = requireText(metadata, 'resourceVersion');
    if (!isResourceVersion(version)) return 'resourceVersion is no version';
    const isNamespaced = kind !== 'Node';
    if (isNamespaced && !isNamespace(namespace ?? '')) return 'namespace is no name';
    return {
      of: kind,
      uid: uid(requireToken(metadata, 'uid')),
      name: requireName(metadata, 'name'),
      resourceVersion: version,
      ...(isNamespaced && namespace !== undefined ? { namespace } : {}),
    };
  } catch (cause) {
    if (cause instanceof UnexpectedFieldError) return cause.message;
    throw cause;
  }
}

function requireName(metadata: JsonObject, field: string): string {
  const name = requireText(metadata, field);
  if (!isObjectName(name)) throw new UnexpectedFieldError(`${field} is no name`);
  return name;
}

function requireToken(metadata: JsonObject, field: string): string {
  const token = requireText(metadata, field);
  if (!isToken(token)) throw new UnexpectedFieldError(`${field} is no token`);
  return token;
}

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
