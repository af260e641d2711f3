/**
 * A real API server with the rights and policies of takeover, for what the functions may do with DaemonSets of fleets.
 *
 * Files are applied as people do it, by a client-side `kubectl apply`: its three-way merge takes away what a file no longer has. No
 * loop runs: what a test puts there stays.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Manifest } from '../../../src/cli/fleet/fleet-manifests.ts';
import { createApiClient, type ApiClient, type ApiResponse } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { repositoryPath } from '../scenarios/repository.ts';

/** Where the DaemonSets are. */
export const SETS = '/apis/apps/v1/namespaces/default/daemonsets';
/** What a cluster in takeover is given, for kubectl. */
export const TAKEOVER = ['-k', repositoryPath('infra/overlays/functions/takeover')];

export interface FleetRightsStage {
  readonly admin: ApiClient;
  readonly functions: ApiClient;
  readonly kubectl: Kubectl;
  readonly install: (manifests: readonly Manifest[]) => Promise<void>;
  /** Resolves once every policy that was written before is in force. */
  readonly inForce: () => Promise<void>;
  /** What the functions are answered who apply the DaemonSet of that name with this image, or this pod. */
  readonly apply: (name: string, pod: string | object, query?: string) => Promise<ApiResponse>;
  readonly stop: () => Promise<void>;
}

/** A DaemonSet with this image, or this pod. */
export function daemonSet(name: string, pod: string | object): object {
  const spec = typeof pod === 'string' ? { containers: [{ name: 'x', image: pod }] } : pod;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: {
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec },
    },
  };
}

/** Starts it; the caller owes `stop()`. */
export async function openFleetRightsStage(name: string): Promise<FleetRightsStage> {
  const controlPlane = await startControlPlane({ name, loops: 'off', auditLog: false });
  const cacheDirectory = mkdtempSync(join(tmpdir(), 'rollcall-kubectl-'));
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  const functions = createApiClient(controlPlane.connectionOf('functions'));
  const { kubectlPath: program, kubeconfigPath } = controlPlane;
  const kubectl = bindKubectl({ program, kubeconfigPath, cacheDirectory });
  const install = async (manifests: readonly Manifest[]): Promise<void> => {
    const input = manifests.map((manifest) => stringify(manifest)).join('---\n');
    await kubectl.succeed('apply -f -', { input });
  };
  let markers = 0;
  const stage: FleetRightsStage = {
    admin,
    functions,
    kubectl,
    install,
    // They are known in the order in which they were written: once the newest denies, all before it do.
    inForce: async () => {
      markers += 1;
      const marker = `marker-${String(markers)}`;
      await install(markerOf(marker));
      const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
      const body = { metadata: { name: marker } };
      await pollUntil({ deadlineMs: 60_000, description: marker }, async () => {
        const { status } = await admin.request({ method: 'POST', path, body });
        return status === 422 ? true : undefined;
      });
    },
    apply: (set, pod, query = '') =>
      functions.request({
        method: 'PATCH',
        path: `${SETS}/${set}?fieldManager=rollcall&fieldValidation=Strict${query}`,
        contentType: 'application/apply-patch+yaml',
        body: daemonSet(set, pod),
      }),
    stop: async () => {
      admin.close();
      functions.close();
      await controlPlane.stop();
      rmSync(cacheDirectory, { recursive: true, force: true });
    },
  };
  try {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await admin.post(accounts, { metadata: { name: 'default' } });
    await kubectl.succeed(['apply', ...TAKEOVER]);
  } catch (error) {
    await stage.stop();
    throw error;
  }
  return stage;
}

/** Roles are known a moment after they were written. */
export async function untilAnswered(
  status: number,
  ask: () => Promise<ApiResponse>,
): Promise<void> {
  const description = `an answer of ${String(status)}`;
  await pollUntil({ deadlineMs: 60_000, description }, async () =>
    (await ask()).status === status ? true : undefined,
  );
}

/** A policy that refuses a ConfigMap of this name, and its binding. */
function markerOf(name: string): readonly Manifest[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const rule = {
    apiGroups: [''],
    apiVersions: ['*'],
    resources: ['configmaps'],
    operations: ['CREATE'],
  };
  const validations = [{ expression: `object.metadata.name != '${name}'` }];
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints: { resourceRules: [rule] }, validations },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}
