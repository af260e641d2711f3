/** ControllerRevisions as an API server stores them, for tests of history. */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { revisionData } from '../../src/core/history/revisions.ts';
import { OWNER_UID, daemonSet } from './core-fixtures.ts';

export interface StoredRevisionOptions {
  readonly revision?: number;
  /** The template whose data it holds: `daemonSet()` by default. */
  readonly of?: DaemonSetObject;
  readonly data?: JsonObject;
  readonly metadata?: JsonObject;
}

/** A revision that `daemonSet()` owns and its selector matches, with hash `hash-NAME`. */
export function storedRevision(
  name: string,
  options: StoredRevisionOptions = {},
): KubernetesObject {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '7',
      creationTimestamp: '2026-11-21T10:00:00Z',
      labels: { app: 'agent', 'controller-revision-hash': `hash-${name}` },
      ownerReferences: [{ uid: OWNER_UID, controller: true }],
      ...options.metadata,
    },
    data: options.data ?? revisionData(options.of ?? daemonSet()),
    revision: options.revision ?? 1,
  };
  return object as unknown as KubernetesObject; // raw JSON of the shape above
}
