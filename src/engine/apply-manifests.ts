/**
 * Applies YAML manifests of this repository to a cluster that the engine itself started: RBAC, examples.
 *
 * Create what is missing, leave what is there: a user's change to an example survives a restart. It is no
 * `kubectl apply`, and never used on a cluster of a kubeconfig.
 */
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { Transport } from '../adapters/kubernetes/transport/transport.ts';
import { isJsonObject, jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';

const STATUS_CONFLICT = 409;

/** Resources of the kinds in infra/ and examples/; no Secret is among them (S11). */
const PLURALS: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  ResourceQuota: 'resourcequotas',
  ConfigMap: 'configmaps',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  DaemonSet: 'daemonsets',
  Deployment: 'deployments',
  CronJob: 'cronjobs',
  PodDisruptionBudget: 'poddisruptionbudgets',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};

/** Creates every object of the files, in order. Throws when one is refused. */
export async function applyManifests(
  transport: Transport,
  files: readonly string[],
): Promise<void> {
  for (const file of files) {
    for (const object of await readManifest(file)) await create(transport, object);
  }
}

async function readManifest(file: string): Promise<readonly JsonObject[]> {
  return parseAllDocuments(await readFile(file, 'utf8'))
    .map((document) => document.toJS() as unknown)
    .filter(isJsonObject);
}

async function create(transport: Transport, object: JsonObject): Promise<void> {
  const path = collectionPath(object);
  const answer = await transport.send({ method: 'POST', path, body: JSON.stringify(object) });
  if (answer.kind !== 'answered') throw new Error(`POST ${path}: ${answer.message}`);
  if (answer.status < 400 || answer.status === STATUS_CONFLICT) return;
  throw new Error(`POST ${path}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
}

/** Where objects of its kind are created; a namespace in the object decides its scope. */
export function collectionPath(object: JsonObject): string {
  const kind = text(object['kind']);
  const apiVersion = text(object['apiVersion']);
  const plural = PLURALS[kind];
  if (plural === undefined) throw new Error(`no manifest of Rollcall has ${kind}`);
  const prefix = apiVersion.includes('/') ? '/apis' : '/api';
  const namespace = text(jsonMember(object['metadata'], 'namespace'));
  const scope = namespace === '' ? '' : `/namespaces/${namespace}`;
  return `${prefix}/${apiVersion}${scope}/${plural}`;
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
