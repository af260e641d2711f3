/**
 * The manifests that name the DaemonSets whose pods may go in copilot, for scripts/install/copilot-policy.ts (ADR 0056).
 *
 * The shipped policy infra/copilot/listed.yaml with names put in; nothing else of it is written a second time. A name is
 * a namespace and a name of the API server's alphabet: no character of it means anything in CEL.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { parseAllDocuments } from 'yaml';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { copilotStanding } from '../../src/core/may-act/opt-in.ts';
import type { Manifest } from '../../src/cli/fleet/fleet-manifests.ts';

/** A DaemonSet by its names. */
interface Named {
  readonly namespace: string;
  readonly name: string;
}

const name = v.pipe(v.string(), v.regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/));
const listSchema = v.object({
  items: v.array(
    v.looseObject({
      kind: v.literal('DaemonSet'),
      metadata: v.looseObject({ namespace: name, name }),
      spec: v.looseObject({}),
    }),
  ),
});

/** Those of `kubectl get daemonsets -A -o json` that opt in under OnDelete. Throws for anything else. */
export function optedIn(json: string): readonly Named[] {
  const { items } = v.parse(listSchema, JSON.parse(json));
  return items
    .filter((item) => copilotStanding(item as unknown as DaemonSetObject) === 'followed') // an API server's answer
    .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
}

/** The shipped policy and its binding, for these. */
export function copilotPolicy(daemonSets: readonly Named[]): readonly Manifest[] {
  const file = new URL('../../infra/copilot/listed.yaml', import.meta.url);
  const documents = parseAllDocuments(readFileSync(file, 'utf8'));
  const names = daemonSets.map((each) => `'${each.namespace}/${each.name}'`);
  return documents.map((document) => {
    const manifest = document.toJS() as ShippedPolicy;
    const variables = manifest.spec.variables?.map((variable) =>
      variable.name === 'listed' ? { ...variable, expression: `[${names.join(', ')}]` } : variable,
    );
    return variables === undefined
      ? { ...manifest }
      : { ...manifest, spec: { ...manifest.spec, variables } };
  });
}

interface ShippedPolicy {
  readonly spec: {
    readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  };
}

const RBAC = 'rbac.authorization.k8s.io';

/** For each a Role and its binding: patch of this one DaemonSet, by service account and by EKS access entry. */
export function rollbackRights(daemonSets: readonly Named[]): readonly Manifest[] {
  return daemonSets.flatMap((each) => {
    const metadata = { namespace: each.namespace, name: `rollcall-rollback.${each.name}` };
    const rule = { apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: [each.name] };
    const account = { kind: 'ServiceAccount', namespace: 'rollcall-system' };
    const who = { name: 'rollcall-functions' };
    return [
      { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules: [{ ...rule, verbs: ['patch'] }] },
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
        subjects: [
          { ...account, ...who },
          { apiGroup: RBAC, kind: 'User', ...who },
        ],
      },
    ];
  });
}
