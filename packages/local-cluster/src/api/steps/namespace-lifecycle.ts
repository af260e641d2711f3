/**
 * The NamespaceLifecycle admission: nothing is created in a namespace that is missing or going, and the namespaces that
 * a cluster cannot be without are not deleted.
 *
 * It comes before all validation. Subresources that are created (bindings, evictions) are creates to it, as upstream.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { Resource } from '../../resources/shared/resource.ts';
import type { Status } from '../request/api-request.ts';
import type { ResourceCall } from './resource-call.ts';
import { failure, forbidden } from '../request/statuses.ts';
import { resourceSubject } from '../request/status-subject.ts';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);

/** 404 or 403 for a create into a namespace that cannot take it. */
export function namespaceRefusal(call: ResourceCall, name: string): Status | undefined {
  const { resource, namespace, services } = call;
  if (!resource.isNamespaced || namespace === undefined) return undefined;
  const found = services.store.get({ resource: 'namespaces', name: namespace });
  if (found === undefined) {
    return failure({
      code: 404,
      reason: 'NotFound',
      message: `namespaces "${namespace}" not found`,
      details: { name: namespace, kind: 'namespaces' },
    });
  }
  if (!isTerminating(found)) return undefined;
  return forbidden(
    resourceSubject(resource, name),
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** 403 for a deletion of one of the cluster's own namespaces. */
export function immortalRefusal(resource: Resource, name: string): Status | undefined {
  if (resource.resourceName !== 'namespaces' || !IMMORTAL.has(name)) return undefined;
  return forbidden(resourceSubject(resource, name), 'this namespace may not be deleted');
}

function isTerminating(namespace: ApiObject): boolean {
  return isJsonObject(namespace.status) && namespace.status.phase === 'Terminating';
}
