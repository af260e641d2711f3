/**
 * RBAC over the roles and bindings of the store: the authorizer of the local API server.
 *
 * Rules of a user are resolved once and remembered until any role or binding changes. The store tells of changes in a
 * later microtask; until then the old rules count, as they do for a real API server's informers.
 *
 * Differs from Kubernetes: what every cluster allows without a stored role is no object here (`kubectl get clusterroles`
 * does not list it), and of the roles for people only `cluster-admin` can be bound.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Authorizer, RequestAttributes, User } from '../api/request/api-request.ts';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import type { Store } from '../store/store.ts';

/** A rule of a Role or ClusterRole. */
interface PolicyRule extends JsonObject {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const RBAC_RESOURCES: readonly ResourceName[] = [
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
];

/** Grants of one user, as far as they have been asked for. */
interface UserGrants {
  readonly cluster: Grants;
  readonly byNamespace: Map<string, Grants>;
}

interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** The group that may do everything. */
const ADMINISTRATORS_GROUP = 'system:masters';
const ALLOWED_AS_ADMINISTRATOR: Decision = { allowed: true, reason: '' };

/** Makes the authorizer; it watches the store for as long as the store lives. */
export function createRbacAuthorizer(store: Store): Authorizer {
  const grantsByUser = new Map<string, UserGrants>();
  for (const resource of RBAC_RESOURCES) {
    store.subscribe({
      resource,
      afterVersion: store.version(),
      onChange: () => {
        grantsByUser.clear();
      },
    });
  }
  const grantsOf = (user: User): UserGrants => {
    const key = `${user.name}\n${user.groups.join('\n')}`;
    const known = grantsByUser.get(key);
    if (known !== undefined) return known;
    const grants = { cluster: clusterGrants(store, user), byNamespace: new Map<string, Grants>() };
    grantsByUser.set(key, grants);
    return grants;
  };
  const grantsIn = (user: User, namespace: string | undefined): readonly Grants[] => {
    const { cluster, byNamespace } = grantsOf(user);
    if (namespace === undefined || namespace === '') return [cluster];
    const known = byNamespace.get(namespace);
    if (known !== undefined) return [cluster, known];
    const grants = namespaceGrants(store, user, namespace);
    byNamespace.set(namespace, grants);
    return [cluster, grants];
  };
  return {
    authorize: (request) =>
      request.user.groups.includes(ADMINISTRATORS_GROUP)
        ? ALLOWED_AS_ADMINISTRATOR
        : decide(request, grantsIn(request.user, request.namespace)),
  };
}

function decide(request: RequestAttributes, scopes: readonly Grants[]): Decision {
  for (const { grants } of scopes) {
    for (const { rules, source } of grants) {
      if (rules.some((rule) => ruleAllows(rule, request))) {
        return { allowed: true, reason: `RBAC: allowed by ${source}` };
      }
    }
  }
  const missing = scopes.flatMap((scope) => scope.missing);
  if (missing.length === 0) return { allowed: false, reason: '' };
  const list = missing.length === 1 ? missing.join('') : `[${missing.join(', ')}]`;
  return { allowed: false, reason: `RBAC: ${list}` };
}

/** Rules that one binding gives, and where they come from. */
interface Grant {
  readonly rules: readonly PolicyRule[];
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`. */
  readonly source: string;
}

/** What bindings of one scope give to a user. */
interface Grants {
  readonly grants: readonly Grant[];
  /** Roles that are bound but missing, as `role.rbac.authorization.k8s.io "x" not found`. */
  readonly missing: readonly string[];
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface BindingView {
  readonly metadata: ApiObject['metadata'];
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly Subject[];
}

/** What cluster role bindings, stored and built in, give to a user everywhere. */
function clusterGrants(store: Store, user: User): Grants {
  const builtIn = BUILT_IN_BINDINGS.filter(({ group }) => user.groups.includes(group)).map(
    ({ role, group }): Grant => ({
      rules: BUILT_IN_CLUSTER_ROLES.get(role) ?? [],
      source: `ClusterRoleBinding "${role}" of ClusterRole "${role}" to Group "${group}"`,
    }),
  );
  const stored = resolve(store, store.list('clusterrolebindings.rbac.authorization.k8s.io'), user);
  return { grants: [...builtIn, ...stored.grants], missing: stored.missing };
}

/** What role bindings of a namespace give to a user there. */
function namespaceGrants(store: Store, user: User, namespace: string): Grants {
  return resolve(store, store.list('rolebindings.rbac.authorization.k8s.io', namespace), user);
}

function resolve(store: Store, bindings: readonly ApiObject[], user: User): Grants {
  const grants: Grant[] = [];
  const missing: string[] = [];
  for (const object of bindings) {
    const binding = object as ApiObject & BindingView;
    const subject = (binding.subjects ?? []).find((each) =>
      isMeant(each, { user, namespace: binding.metadata.namespace ?? '' }),
    );
    if (subject === undefined) continue;
    const rules = rulesOf(store, binding);
    if (rules === undefined) {
      const kind = binding.roleRef.kind.toLowerCase();
      missing.push(`${kind}.rbac.authorization.k8s.io "${binding.roleRef.name}" not found`);
    } else grants.push({ rules, source: sourceOf(binding, subject) });
  }
  return { grants, missing };
}

function isMeant(
  { kind, name, namespace = '' }: Subject,
  by: { readonly user: User; readonly namespace: string },
): boolean {
  if (kind === 'User') return by.user.name === name;
  if (kind === 'Group') return by.user.groups.includes(name);
  if (kind !== 'ServiceAccount') return false;
  const home = namespace === '' ? by.namespace : namespace;
  return home !== '' && by.user.name === `system:serviceaccount:${home}:${name}`;
}

function rulesOf(store: Store, binding: BindingView): readonly PolicyRule[] | undefined {
  const { roleRef, metadata } = binding;
  const { namespace } = metadata;
  if (roleRef.kind === 'Role') {
    if (namespace === undefined) return undefined;
    const resource = 'roles.rbac.authorization.k8s.io';
    return rulesIn(store.get({ resource, namespace, name: roleRef.name }));
  }
  const resource = 'clusterroles.rbac.authorization.k8s.io';
  const stored = rulesIn(store.get({ resource, name: roleRef.name }));
  return stored ?? BUILT_IN_CLUSTER_ROLES.get(roleRef.name);
}

function rulesIn(role: ApiObject | undefined): readonly PolicyRule[] | undefined {
  if (role === undefined) return undefined;
  return (role['rules'] as readonly PolicyRule[] | null | undefined) ?? [];
}

function sourceOf({ metadata, roleRef }: BindingView, subject: Subject): string {
  const kind = metadata.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
  const name =
    metadata.namespace === undefined ? metadata.name : `${metadata.name}/${metadata.namespace}`;
  const who =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? ''}` : subject.name;
  return `${kind} "${name}" of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${who}"`;
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

const BASIC_USER: readonly PolicyRule[] = [
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews'],
  },
];

const DISCOVERY: readonly PolicyRule[] = [
  {
    verbs: ['get'],
    nonResourceURLs: [
      '/api',
      '/api/*',
      '/apis',
      '/apis/*',
      '/healthz',
      '/livez',
      '/openapi',
      '/openapi/*',
      '/readyz',
      '/version',
      '/version/',
    ],
  },
];

const PUBLIC_INFORMATION: readonly PolicyRule[] = [
  {
    verbs: ['get'],
    nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
  },
];

/** Rules of cluster roles that need not be stored; a stored one of that name wins. */
const BUILT_IN_CLUSTER_ROLES: ReadonlyMap<string, readonly PolicyRule[]> = new Map([
  ['cluster-admin', EVERYTHING],
  ['system:basic-user', BASIC_USER],
  ['system:discovery', DISCOVERY],
  ['system:public-info-viewer', PUBLIC_INFORMATION],
]);

/** Who has which of them, without a stored binding. The binding has the role's name. */
const BUILT_IN_BINDINGS: readonly { readonly role: string; readonly group: string }[] = [
  { role: 'cluster-admin', group: ADMINISTRATORS_GROUP },
  { role: 'system:basic-user', group: 'system:authenticated' },
  { role: 'system:discovery', group: 'system:authenticated' },
  { role: 'system:public-info-viewer', group: 'system:authenticated' },
  { role: 'system:public-info-viewer', group: 'system:unauthenticated' },
];

/** Whether the rule allows the request. */
function ruleAllows(rule: PolicyRule, request: RequestAttributes): boolean {
  if (!holds(rule.verbs, request.verb)) return false;
  if (request.resource === '') return allowsPath(rule.nonResourceURLs, request.path);
  return (
    holds(rule.apiGroups, request.group) &&
    allowsResource(rule.resources, request) &&
    allowsName(rule.resourceNames, request.name)
  );
}

function holds(allowed: readonly string[] | undefined, wanted: string): boolean {
  return allowed !== undefined && (allowed.includes(wanted) || allowed.includes('*'));
}

function allowsResource(
  allowed: readonly string[] | undefined,
  { resource, subresource }: RequestAttributes,
): boolean {
  if (allowed === undefined) return false;
  if (subresource === undefined || subresource === '') return holds(allowed, resource);
  return holds(allowed, `${resource}/${subresource}`) || allowed.includes(`*/${subresource}`);
}

function allowsName(allowed: readonly string[] | undefined, name: string | undefined): boolean {
  if (allowed === undefined || allowed.length === 0) return true;
  return allowed.includes(name ?? '');
}

function allowsPath(allowed: readonly string[] | undefined, path: string): boolean {
  if (allowed === undefined) return false;
  return allowed.some(
    (pattern) =>
      pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1))),
  );
}
