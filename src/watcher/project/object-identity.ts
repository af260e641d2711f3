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
import { UnexpectedFieldError, readObject, readText, requireText } from './raw-fields.ts';
import { isNamespace, isObjectName, isToken } from './wire-bounds.ts';

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
