/**
 * The rights by which the watcher reads content that is part of revisions, for scripts/install/content-rights.ts (ADR 0061).
 *
 * `get` on single names and nothing else: for each namespace one Role with the objects that its DaemonSets ask for at that
 * moment, and one for the key. What a policy selects is decided where the watcher decides it.
 */
import * as v from 'valibot';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { createPolicyReader } from '../../src/adapters/policy/policy-reader.ts';
import { findConfigReferences } from '../../src/core/config/references.ts';
import type { ConfigName } from '../../src/core/model/projections.ts';
import { POLICY_ANNOTATION } from '../../src/core/policy/rollout-policy.ts';
import { CONFIG_KEY } from '../../src/watcher/content/content-reader.ts';
import type { Manifest } from '../../src/cli/fleet/fleet-manifests.ts';

const name = v.pipe(v.string(), v.regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/));
const listSchema = v.object({
  items: v.array(
    v.looseObject({
      kind: v.literal('DaemonSet'),
      metadata: v.looseObject({
        namespace: name,
        name,
        annotations: v.optional(v.record(v.string(), v.string())),
      }),
      spec: v.looseObject({ template: v.looseObject({}) }),
    }),
  ),
});

/** Objects by namespace. */
export type ContentNames = ReadonlyMap<string, readonly ConfigName[]>;

/** What the DaemonSets of `kubectl get daemonsets -A -o json` ask for. Throws for anything else. */
export function contentOf(json: string): ContentNames {
  const policies = createPolicyReader();
  const byNamespace = new Map<string, ConfigName[]>();
  for (const item of v.parse(listSchema, JSON.parse(json)).items) {
    const reading = policies.read(item.metadata.annotations?.[POLICY_ANNOTATION]);
    if (reading.kind !== 'policy' || reading.policy.config === undefined) continue;
    const daemonSet = item as unknown as DaemonSetObject; // an API server's answer
    const { references } = findConfigReferences(daemonSet, reading.policy.config);
    const { namespace } = item.metadata;
    const names = byNamespace.get(namespace) ?? [];
    byNamespace.set(namespace, [...names, ...references]);
  }
  return byNamespace;
}

const RBAC = 'rbac.authorization.k8s.io';

/** Roles and their bindings, one pair for each namespace, and one for the key. */
export function contentRights(content: ContentNames): readonly Manifest[] {
  if (content.size === 0) return [];
  const key = { namespace: CONFIG_KEY.namespace, name: 'rollcall-content-key' };
  return [
    ...rightsIn(key, [CONFIG_KEY]),
    ...[...content].flatMap(([namespace, objects]) =>
      rightsIn({ namespace, name: 'rollcall-content' }, objects),
    ),
  ];
}

function rightsIn(
  metadata: { readonly namespace: string; readonly name: string },
  objects: readonly ConfigName[],
): readonly Manifest[] {
  const rules = (['ConfigMap', 'Secret'] as const).flatMap((kind) => {
    const names = objects.filter((each) => each.kind === kind).map((each) => each.name);
    const resources = [kind === 'ConfigMap' ? 'configmaps' : 'secrets'];
    // A rule without names would be one for all of them.
    if (names.length === 0) return [];
    return [
      { apiGroups: [''], resources, resourceNames: [...new Set(names)].sort(), verbs: ['get'] },
    ];
  });
  if (rules.length === 0) return [];
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
      subjects: [
        { kind: 'ServiceAccount', namespace: 'rollcall-system', name: 'rollcall-watcher' },
      ],
    },
  ];
}
