/**
 * RBAC over the roles and bindings of the store: the authorizer of the local API server.
 *
 * Rules of a user are resolved once and remembered until any role or binding changes, so that a warm decision costs a
 * walk over a handful of rules. The store tells of changes in a later microtask; until then the old rules count, as they
 * do for a real API server's informers. Escalation checks on writing roles are not made.
 */
import type { Authorizer, RequestAttributes, User } from '../api/request/api-request.ts';
import type { ResourceName } from '../objects/api-object.ts';
import type { Store } from '../store/store.ts';
import { ADMINISTRATORS_GROUP } from './built-in-roles.ts';
import { ruleAllows } from './policy-rules.ts';
import type { PolicyRule } from './policy-rules.ts';
import { clusterGrants, namespaceGrants } from './role-grants.ts';
import type { Grants } from './role-grants.ts';

/** Decides, and can say what a user may do at all. */
export interface RbacAuthorizer extends Authorizer {
  /** All rules of a user in a namespace (cluster-wide ones included), for SelfSubjectRulesReview. */
  rulesFor(user: User, namespace: string): readonly PolicyRule[];
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

const ALLOWED_AS_ADMINISTRATOR: Decision = { allowed: true, reason: '' };

/** Makes the authorizer; it watches the store for as long as the store lives. */
export function createRbacAuthorizer(store: Store): RbacAuthorizer {
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
    rulesFor: (user, namespace) =>
      grantsIn(user, namespace).flatMap(({ grants }) => grants.flatMap(({ rules }) => rules)),
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
