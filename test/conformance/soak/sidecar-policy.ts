/**
 * An injector of sidecars, as service meshes have them: each pod gets a container, a label and an annotation that its
 * DaemonSet's template does not say. A policy inside the API server, because a webhook would need a server of its own.
 */
import type { ApiClient } from '../control-plane/api.ts';

const NAME = 'soak-sidecars';
const COLLECTION = '/apis/admissionregistration.k8s.io/v1';
const SETTLE_ATTEMPTS_MAX = 100;
const SETTLE_MS = 200;

const SIDECAR = `
Object{
  metadata: Object.metadata{
    labels: {"mesh.example/injected": "true"},
    annotations: {"mesh.example/status": "injected"}
  },
  spec: Object.spec{
    containers: [Object.spec.containers{name: "mesh-proxy", image: "registry.example/proxy:1"}]
  }
}`;

/** Installs it, and waits until pods get their sidecar. */
export async function injectSidecars(admin: ApiClient): Promise<void> {
  await admin.post(`${COLLECTION}/mutatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: SIDECAR } }],
    },
  });
  await admin.post(`${COLLECTION}/mutatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME },
  });
  for (let attempt = 1; attempt <= SETTLE_ATTEMPTS_MAX; attempt += 1) {
    if (await isInjecting(admin)) return;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  }
  throw new Error('no pod got its sidecar');
}

async function isInjecting(admin: ApiClient): Promise<boolean> {
  const pod = await admin.post('/api/v1/namespaces/default/pods?dryRun=All', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'asked' },
    spec: { containers: [{ name: 'own', image: 'registry.example/own:1' }] },
  });
  const { containers } = pod['spec'] as { readonly containers: readonly unknown[] };
  return containers.length === 2;
}
