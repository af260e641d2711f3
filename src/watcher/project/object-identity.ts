/**
 * Who a raw object is: kind, uid, name, version. The least that must be readable about anything.
 *
 * Names and uids that no Kubernetes object can have are refused, because they could spoil a message.
 */
import { isResourceVersion, uid } from '../../core/model/identifiers.ts';
import type { ResourceVersion, Uid } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../core/model/projections.ts';
import { isNamespace, isObjectName, isToken } from './wire-bounds.ts';
import { rawJson, readObject, readText, requireText } from '../../core/projections/raw-fields.ts';

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
    const metadata = readObject(rawJson(raw), 'metadata', raiseFault);
    const namespace = readText(metadata, 'namespace', raiseFault);
    const version = requireText(metadata, 'resourceVersion', raiseFault);
    if (!isResourceVersion(version)) return 'resourceVersion is no version';
    const isNamespaced = kind !== 'Node';
    if (isNamespaced && !isNamespace(namespace ?? '')) return 'namespace is no name';
    const ownUid = requireText(metadata, 'uid', raiseFault);
    if (!isToken(ownUid)) return 'uid is no token';
    const name = requireText(metadata, 'name', raiseFault);
    if (!isObjectName(name)) return 'name is no name';
    return {
      of: kind,
      uid: uid(ownUid),
      name,
      resourceVersion: version,
      ...(isNamespaced && namespace !== undefined ? { namespace } : {}),
    };
  } catch (cause) {
    if (cause instanceof UnexpectedFieldError) return cause.message;
    throw cause;
  }
}

/** A field that is not what the Kubernetes API documents. */
class UnexpectedFieldError extends Error {
  override readonly name = 'UnexpectedFieldError';
}

/** Refuses a field. */
export function raiseFault(message: string): never {
  throw new UnexpectedFieldError(message);
}
