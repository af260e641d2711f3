/**
 * Applies YAML manifests of this repository to a test cluster: the examples, the shipped RBAC.
 *
 * Create, or replace the spec where the object exists; enough for tests, no `kubectl apply`.
 */
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { ApiClient, KubernetesObject } from '../control-plane/api.ts';

const COLLECTIONS: Readonly<Record<string, { readonly prefix: string; readonly plural: string }>> =
  {
    Namespace: { prefix: '/api/v1', plural: 'namespaces' },
    ServiceAccount: { prefix: '/api/v1', plural: 'serviceaccounts' },
    DaemonSet: { prefix: '/apis/apps/v1', plural: 'daemonsets' },
    ClusterRole: { prefix: '/apis/rbac.authorization.k8s.io/v1', plural: 'clusterroles' },
    ClusterRoleBinding: {
      prefix: '/apis/rbac.authorization.k8s.io/v1',
      plural: 'clusterrolebindings',
    },
    Role: { prefix: '/apis/rbac.authorization.k8s.io/v1', plural: 'roles' },
    RoleBinding: { prefix: '/apis/rbac.authorization.k8s.io/v1', plural: 'rolebindings' },
    CustomResourceDefinition: {
      prefix: '/apis/apiextensions.k8s.io/v1',
      plural: 'customresourcedefinitions',
    },
    ValidatingAdmissionPolicy: {
      prefix: '/apis/admissionregistration.k8s.io/v1',
      plural: 'validatingadmissionpolicies',
    },
    ValidatingAdmissionPolicyBinding: {
      prefix: '/apis/admissionregistration.k8s.io/v1',
      plural: 'validatingadmissionpolicybindings',
    },
  };

/** The collection in which an object of this kind lives. */
export function collectionPath(object: KubernetesObject): string {
  const collection = COLLECTIONS[object.kind ?? ''];
  if (collection === undefined)
    throw new Error(`manifests.ts knows no kind ${String(object.kind)}`);
  const { namespace } = object.metadata;
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${collection.prefix}${scope}/${collection.plural}`;
}

async function readManifest(path: string): Promise<KubernetesObject[]> {
  const text = await readFile(path, 'utf8');
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** Creates the object; one that exists already is left as it is. */
export async function createIfMissing(admin: ApiClient, object: KubernetesObject): Promise<void> {
  const path = collectionPath(object);
  const response = await admin.request({ method: 'POST', path, body: object });
  if (response.status >= 400 && response.status !== 409) {
    throw new Error(`POST ${path}: ${String(response.status)} ${JSON.stringify(response.body)}`);
  }
}

/** Creates every object of the files, in order. */
export async function applyFiles(admin: ApiClient, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    for (const object of await readManifest(path)) await createIfMissing(admin, object);
  }
}
