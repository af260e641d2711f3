/**
 * Which rights an identity needs in a cluster, verb by verb: read from the RBAC manifests that are
 * shipped, never written a second time.
 *
 * Takes manifests as parsed documents. In mode observe the functions only identify the cluster and ask
 * its watcher for a snapshot; that is told by the resource, from the same rules.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Of a mode that decides nothing. */
const OBSERVE_RESOURCES: readonly string[] = ['namespaces', 'leases'];

/** Permissions of all Roles and ClusterRoles among the documents. */
export function permissionsOf(documents: readonly unknown[]): readonly Permission[] {
  return documents.flatMap((document) => {
    if (!isRole(document)) return [];
    const { namespace } = document.metadata;
    const scope = document.kind === 'Role' && namespace !== undefined ? { namespace } : {};
    return document.rules.flatMap((rule) => expand(rule, scope));
  });
}

/** What the functions need in this mode, of what the manifest of their mode gives them (takeover's in observe). */
export function neededInMode(
  permissions: readonly Permission[],
  mode: ClusterMode,
): readonly Permission[] {
  if (mode !== 'observe') return permissions;
  return permissions.filter(({ resource }) => OBSERVE_RESOURCES.includes(resource));
}

function expand(rule: Rule, scope: { readonly namespace?: string }): readonly Permission[] {
  const names = rule.resourceNames ?? [undefined];
  return rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        names.map((name) => ({
          group,
          resource,
          verb,
          ...defined({ name }),
          ...scope,
        })),
      ),
    ),
  );
}

interface RoleDocument {
  readonly kind: 'Role' | 'ClusterRole';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly Rule[];
}

/** The manifests are the package's own: their form is a test's business. */
function isRole(document: unknown): document is RoleDocument {
  if (typeof document !== 'object' || document === null) return false;
  const { kind, rules } = document as { readonly kind?: unknown; readonly rules?: unknown };
  return (kind === 'Role' || kind === 'ClusterRole') && Array.isArray(rules);
}
