/**
 * A real API server with the shipped rights and admission policies, and DaemonSets whose pods are tried on it.
 *
 * It runs alone: nothing collects, schedules or runs what a test creates. Creates are dry runs where nothing needs to
 * stay; admission is the same. `rollcall` is the identity that the policies fence, `admin` nobody of theirs.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import { podFromTemplate, prepareTemplate } from '../../../src/core/pod/pod-template.ts';
import { createApiClient, type ApiClient, type ApiResponse } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { WIDE_NAMESPACE, wideDaemonSet, type DraftPod } from './wide-daemon-set.ts';

/** Where the DaemonSets of WIDE_NAMESPACE are. */
export const DAEMON_SETS = `/apis/apps/v1/namespaces/${WIDE_NAMESPACE}/daemonsets`;

export interface AdmissionStage {
  readonly admin: ApiClient;
  readonly rollcall: ApiClient;
  /** wideDaemonSet('wide'), as the API server keeps it. */
  readonly wide: DaemonSetObject;
  /** Creates a DaemonSet in WIDE_NAMESPACE. */
  readonly createDaemonSet: (body: JsonObject) => Promise<DaemonSetObject>;
  readonly stop: () => Promise<void>;
}

/** Starts it; it answers when policies and their parameters are in force. */
export async function openAdmissionStage(
  admissionPlugins: readonly string[] = [],
): Promise<AdmissionStage> {
  const controlPlane = await startControlPlane({ loops: 'off', auditLog: false, admissionPlugins });
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  const rollcall = createApiClient(controlPlane.connectionOf('functions'));
  const stop = async (): Promise<void> => {
    admin.close();
    rollcall.close();
    await controlPlane.stop();
  };
  try {
    const files = [
      'infra/functions/rbac.yaml',
      'infra/admission/policy.yaml',
      'infra/admission/every-daemon-set.yaml',
    ];
    await applyFiles(admin, files.map(repositoryPath));
    await furnish(admin);
    const createDaemonSet = async (body: JsonObject): Promise<DaemonSetObject> =>
      (await admin.post(DAEMON_SETS, body)) as unknown as DaemonSetObject; // raw JSON either way
    const wide = await createDaemonSet(wideDaemonSet('wide'));
    await untilInForce(rollcall, wide);
    return { admin, rollcall, wide, createDaemonSet, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What pods need to be let in; no loop makes it here. */
async function furnish(admin: ApiClient): Promise<void> {
  await admin.post('/api/v1/namespaces', { metadata: { name: WIDE_NAMESPACE } });
  const accounts = `/api/v1/namespaces/${WIDE_NAMESPACE}/serviceaccounts`;
  for (const name of ['default', 'agent', 'admin'])
    await admin.post(accounts, { metadata: { name } });
  const metadata = { name: 'other' };
  await admin.post('/apis/node.k8s.io/v1/runtimeclasses', { metadata, handler: 'other' });
}

/** Policies are read once a second, and parameters when a policy names their kind. */
async function untilInForce(rollcall: ApiClient, wide: DaemonSetObject): Promise<void> {
  const description = 'the policies, and their parameters, in force';
  await pollUntil({ deadlineMs: 120_000, description }, async () => {
    const tampered = await dryRun(
      rollcall,
      changed(wide, (pod) => (pod.spec['hostPID'] = true)),
    );
    const shapeless = await dryRun(
      rollcall,
      changed(wide, (pod) => (pod.metadata.ownerReferences = [])),
    );
    const good = await dryRun(rollcall, podOf(wide));
    return tampered.status === 422 && shapeless.status === 422 && good.status === 201
      ? true
      : undefined;
  });
}

export function podOf(daemonSet: DaemonSetObject, name = 'pod-1'): JsonObject {
  return podFromTemplate(prepareTemplate(daemonSet, 'abc'), { node: nodeName('n-1'), name });
}

/** The same with a change; a copy, so that a change harms no other test. */
export function changed(daemonSet: DaemonSetObject, change: (pod: DraftPod) => void): JsonObject {
  const pod = structuredClone(podOf(daemonSet));
  change(pod as unknown as DraftPod); // a pod of the wide DaemonSet has these fields
  return pod;
}

/** The messages of all validations of the shipped policies of these names. */
export function rulesOf(policies: RegExp): readonly string[] {
  const text = readFileSync(repositoryPath('infra/admission/policy.yaml'), 'utf8');
  return parseAllDocuments(text).flatMap((document) => {
    const { metadata, spec } = document.toJS() as {
      readonly metadata: { readonly name: string };
      readonly spec: { readonly validations?: readonly { readonly message: string }[] };
    };
    return policies.test(metadata.name)
      ? (spec.validations ?? []).map(({ message }) => message)
      : [];
  });
}

/** Asks for a pod to be created, and nothing to be kept. */
export function dryRun(client: ApiClient, pod: JsonObject): Promise<ApiResponse> {
  const { namespace } = pod['metadata'] as { readonly namespace: string };
  return client.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
    body: pod,
  });
}

/** What a Status says. */
export function messageOf({ body }: ApiResponse): string {
  return (body as { message?: string }).message ?? '';
}

/** Fails unless a policy of Rollcall's refused, in these words. */
export function assertDenied(response: ApiResponse, refusal: RegExp): void {
  assert.equal(response.status, 422, `${String(response.status)}: ${messageOf(response)}`);
  assert.match(messageOf(response), /^.*ValidatingAdmissionPolicy 'rollcall-/);
  assert.match(messageOf(response), refusal);
}

/** Fails unless the API server accepted. */
export function assertAccepted(response: ApiResponse): void {
  assert.ok(response.status < 300, `${String(response.status)}: ${messageOf(response)}`);
}

/** What came of requests that a suite sends; `seen` keeps every refusal, so that it can tell which rules it has met. */
export function judging(seen: string[]): {
  readonly denied: (request: Promise<ApiResponse>, refusal: RegExp) => Promise<void>;
  readonly accepted: (request: Promise<ApiResponse>) => Promise<KubernetesObject>;
} {
  return {
    denied: async (request, refusal) => {
      const response = await request;
      seen.push(messageOf(response));
      assertDenied(response, refusal);
    },
    accepted: async (request) => {
      const response = await request;
      assertAccepted(response);
      return response.body as KubernetesObject;
    },
  };
}
