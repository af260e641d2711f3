/**
 * The rules of a shipped RBAC manifest one by one, and roles with one verb less, each for a service account of its own.
 *
 * Read from the YAML, so that a verb that is added cannot be forgotten by a test.
 */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { ApiClient } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { repositoryPath } from '../scenarios/repository.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The rules of a manifest: of its one ClusterRole and its one Role. */
export interface Rules {
  readonly cluster: readonly Rule[];
  readonly namespaced: readonly Rule[];
}

/** One verb on one resource, as a rule gives it. */
export interface Right {
  readonly scope: keyof Rules;
  readonly rule: number;
  readonly resource: string;
  readonly verb: string;
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const NAMESPACE = 'rollcall-system';

/** Reads the rules of a manifest. */
export function readRules(path: string): Rules {
  const objects = parseAllDocuments(readFileSync(repositoryPath(path), 'utf8')).map(
    (document) => document.toJS() as { readonly kind: string; readonly rules?: readonly Rule[] },
  );
  const rulesOf = (kind: string): readonly Rule[] =>
    objects.filter((object) => object.kind === kind).flatMap(({ rules = [] }) => rules);
  return { cluster: rulesOf('ClusterRole'), namespaced: rulesOf('Role') };
}

/** Every verb on every resource of every rule. */
export function rightsOf(rules: Rules): readonly Right[] {
  return (['cluster', 'namespaced'] as const).flatMap((scope) =>
    rules[scope].flatMap(({ resources, verbs }, rule) =>
      resources.flatMap((resource) => verbs.map((verb) => ({ scope, rule, resource, verb }))),
    ),
  );
}

/** The rules without one right. */
export function withoutRight(rules: Rules, right: Right): Rules {
  const reduced = rules[right.scope].flatMap((rule, index) =>
    index === right.rule
      ? [
          { ...rule, resources: rule.resources.filter((one) => one !== right.resource) },
          {
            ...rule,
            resources: [right.resource],
            verbs: rule.verbs.filter((verb) => verb !== right.verb),
          },
        ].filter(({ resources, verbs }) => resources.length > 0 && verbs.length > 0)
      : [rule],
  );
  return { ...rules, [right.scope]: reduced };
}

/** Makes a service account with these rights and answers a token for it. */
export async function tokenWith(admin: ApiClient, name: string, rules: Rules): Promise<string> {
  const subjects = [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }];
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = { name };
  const account = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  await admin.post(account, { metadata });
  await admin.post(`${RBAC}/clusterroles`, { metadata, rules: rules.cluster });
  const clusterRole = { apiGroup, kind: 'ClusterRole', name };
  await admin.post(`${RBAC}/clusterrolebindings`, { metadata, roleRef: clusterRole, subjects });
  const inNamespace = `${RBAC}/namespaces/${NAMESPACE}`;
  await admin.post(`${inNamespace}/roles`, { metadata, rules: rules.namespaced });
  const role = { apiGroup, kind: 'Role', name };
  await admin.post(`${inNamespace}/rolebindings`, { metadata, roleRef: role, subjects });
  const answer = await admin.post(`${account}/${name}/token`, {
    spec: { expirationSeconds: 3600 },
  });
  return (answer['status'] as { readonly token: string }).token;
}

/**
 * Waits until the authorizer has read roles and bindings: whoever the client is has each of these rights. An API server
 * follows them by watches, each on its own, so that one right in force says nothing about another.
 */
export async function untilInForce(client: ApiClient, rules: Rules): Promise<void> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  for (const right of rightsOf(rules)) {
    const description = `${right.verb} ${right.resource} in force`;
    const spec = { resourceAttributes: attributesOf(rules, right) };
    await pollUntil({ deadlineMs: 60_000, description }, async () => {
      const { status } = await client.post(path, { spec });
      return (status as { readonly allowed: boolean }).allowed ? true : undefined;
    });
  }
}

function attributesOf(rules: Rules, { scope, rule, resource, verb }: Right): object {
  const { apiGroups = [''], resourceNames = [''] } = rules[scope][rule] ?? {};
  const [plural = '', subresource = ''] = resource.split('/');
  return {
    verb,
    group: apiGroups[0],
    resource: plural,
    subresource,
    name: resourceNames[0],
    namespace: scope === 'namespaced' ? NAMESPACE : '',
  };
}
