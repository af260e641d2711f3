/**
 * Which rules a user has: bindings and roles of the store, and the built-in ones, resolved for one user.
 *
 * Pure functions over the store's present state; rbac.ts remembers the results. A binding whose role is missing grants
 * nothing and is told about.
 */
import type { User } from '../api/request/api-request.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { Store } from '../store/store.ts';
import { BUILT_IN_BINDINGS, BUILT_IN_CLUSTER_ROLES } from './built-in-roles.ts';
import type { PolicyRule } from './policy-rules.ts';

/** Rules that one binding gives, and where they come from. */
export interface Grant {
  readonly rules: readonly PolicyRule[];
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "z"`. */
  readonly source: string;
}

/** What bindings of one scope give to a user. */
export interface Grants {
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
export function clusterGrants(store: Store, user: User): Grants {
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
export function namespaceGrants(store: Store, user: User, namespace: string): Grants {
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
