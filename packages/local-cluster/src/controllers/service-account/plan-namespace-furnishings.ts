/**
 * What every active namespace has: the ServiceAccount `default`, and the ConfigMap `kube-root-ca.crt`.
 *
 * Pure: says what is missing or wrong in one namespace. The ConfigMap's data is put right when somebody changes it.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { isNamespaceActive } from '../shared/object-views.ts';

/** Name of the ConfigMap with the cluster's authority. */
export const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';
/** Name of the ServiceAccount that pods run under unless they say otherwise. */
export const DEFAULT_ACCOUNT = 'default';

const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

/** One thing to do in a namespace. */
export type NamespaceFurnishing =
  | { readonly kind: 'create-account'; readonly object: JsonObject }
  | { readonly kind: 'create-root-ca'; readonly object: JsonObject }
  | { readonly kind: 'update-root-ca'; readonly object: JsonObject };

/** What a namespace lacks; nothing while it terminates. */
export function planNamespaceFurnishings(input: {
  readonly namespace: ApiObject;
  readonly account: ApiObject | undefined;
  readonly rootCa: ApiObject | undefined;
  /** Undefined: this cluster publishes none. */
  readonly caPem: string | undefined;
}): readonly NamespaceFurnishing[] {
  const { namespace, account, rootCa, caPem } = input;
  if (!isNamespaceActive(namespace)) return [];
  const { name } = namespace.metadata;
  const plan: NamespaceFurnishing[] = [];
  if (account === undefined) {
    plan.push({
      kind: 'create-account',
      object: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: DEFAULT_ACCOUNT, namespace: name },
      },
    });
  }
  if (caPem === undefined) return plan;
  if (rootCa === undefined) {
    plan.push({ kind: 'create-root-ca', object: rootCaConfigMap(name, caPem) });
  } else if (!isRight(rootCa, caPem)) {
    const { metadata } = rootCa;
    plan.push({
      kind: 'update-root-ca',
      object: {
        ...rootCa,
        metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations() } },
        data: { 'ca.crt': caPem },
      },
    });
  }
  return plan;
}

function annotations(): Readonly<Record<string, string>> {
  return { 'kubernetes.io/description': DESCRIPTION };
}

function isRight(rootCa: ApiObject, caPem: string): boolean {
  const data = (rootCa['data'] ?? {}) as Readonly<Record<string, string>>;
  return (
    data['ca.crt'] === caPem &&
    Object.keys(data).length === 1 &&
    (rootCa.metadata.annotations?.['kubernetes.io/description'] ?? '') !== ''
  );
}

function rootCaConfigMap(namespace: string, caPem: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: ROOT_CA_CONFIG_MAP, namespace, annotations: annotations() },
    data: { 'ca.crt': caPem },
  };
}
