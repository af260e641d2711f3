/** Small Kubernetes objects for tests of the local cluster's store, server and clients. */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata } from '../../src/objects/api-object.ts';

/** What a test says of an object; the rest is filled in. */
export interface ObjectWishes {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly nodeName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly status?: JsonObject;
}

/** A pod, not stored yet. */
export function storablePod(wishes: ObjectWishes): ApiObject {
  const { nodeName, status } = wishes;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf({ namespace: 'default', ...wishes }),
    spec: nodeName === undefined ? {} : { nodeName },
    ...(status === undefined ? {} : { status }),
  };
}

/** A node, not stored yet. */
export function storableNode(wishes: ObjectWishes): ApiObject {
  const { status } = wishes;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: metadataOf(wishes),
    ...(status === undefined ? {} : { status }),
  };
}

function metadataOf({ name, namespace, uid, labels }: ObjectWishes): Metadata {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: uid ?? `uid-of-${name}`,
    resourceVersion: '',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(labels === undefined ? {} : { labels }),
  };
}
