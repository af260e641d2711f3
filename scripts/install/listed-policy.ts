/**
 * The manifests that name DaemonSets one by one, for scripts/install/admission-policy.ts (docs/adr/0017).
 *
 * A policy with every DaemonSet as a parameter can only say "all of them agree", never "one of them is the owner".
 * A binding that names one DaemonSet and denies without it can. So: a policy that refuses every owner that is not
 * listed, and for each listed one a binding of `rollcall-owner` and of `rollcall-history-owner`. A binding looks its
 * parameter up before any condition is asked, for everybody's objects that it selects; it selects only those with the
 * labels of that DaemonSet's selector, and the policy demands these labels, so nothing slips past the binding.
 */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '@rollcall/base/json.ts';
import { celLiteral } from './injected.ts';
import type { Injected } from './injected.ts';

/** A manifest. */
export type Manifest = Readonly<Record<string, unknown>>;

/** What is read of infra/admission/policy.yaml. */
interface ShippedPolicy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly variables: readonly { readonly name: string }[] };
}

/** What is needed of a DaemonSet. */
export interface ListedDaemonSet {
  readonly namespace: string;
  readonly name: string;
  /** Labels that its selector demands of every pod; they never change. */
  readonly labels: Readonly<Record<string, string>>;
}

const name = v.pipe(v.string(), v.regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/));
const label = v.pipe(v.string(), v.regex(/^[-A-Za-z0-9_./]*$/));

const listSchema = v.object({
  items: v.array(
    v.pipe(
      v.object({
        kind: v.literal('DaemonSet'),
        metadata: v.object({ namespace: name, name }),
        spec: v.object({
          selector: v.object({ matchLabels: v.optional(v.record(label, label), {}) }),
        }),
      }),
      v.transform(({ metadata, spec }) => ({ ...metadata, labels: spec.selector.matchLabels })),
    ),
  ),
});

/** Its DaemonSets as they are. */
export function readRawDaemonSets(json: string): readonly JsonObject[] {
  const { items } = JSON.parse(json) as { readonly items: readonly JsonObject[] };
  return items;
}

/** Reads `kubectl get daemonsets -A -o json`. Throws for anything else. */
export function readDaemonSetList(json: string): readonly ListedDaemonSet[] {
  return v.parse(listSchema, JSON.parse(json)).items;
}

/** The user names of infra/admission/policy.yaml. */
const ROLLCALL =
  "request.userInfo.username in ['system:serviceaccount:rollcall-system:rollcall-functions', 'rollcall-functions']";

const apiVersion = 'admissionregistration.k8s.io/v1';

/** The manifests for these DaemonSets; every other one is refused. `injected` is by namespace/name of a DaemonSet. */
export function listedPolicy(
  daemonSets: readonly ListedDaemonSet[],
  injected: ReadonlyMap<string, Injected> = new Map(),
): readonly Manifest[] {
  const metadata = { name: 'rollcall-listed' };
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [created('', 'pods'), created('apps', 'controllerrevisions')],
      },
      matchConditions: [{ name: 'rollcall', expression: ROLLCALL }],
      variables: [
        { name: 'listed', expression: listExpression(daemonSets) },
        {
          name: 'owners',
          expression:
            "object.metadata.?ownerReferences.orValue([]).map(o, request.namespace + '/' + o.name)",
        },
      ],
      validations: [
        {
          message:
            'Rollcall creates pods and revisions only for the DaemonSets that scripts/install/admission-policy.ts listed',
          expression:
            'variables.owners.size() == 1 && variables.owners.all(o, o in variables.listed && ' +
            "variables.listed[o].all(k, object.metadata.?labels[?k].orValue('') == variables.listed[o][k]))",
        },
      ],
    },
  };
  const kind = 'ValidatingAdmissionPolicyBinding';
  const spec = { policyName: 'rollcall-listed', validationActions: ['Deny'] };
  const bindings = daemonSets.flatMap((listed) => {
    const additions = injected.get(`${listed.namespace}/${listed.name}`);
    const own = additions === undefined ? [] : [ownerPolicy(listed, additions)];
    const comparing = additions === undefined ? 'rollcall-owner' : nameOf(listed, 'rollcall-owner');
    return [
      ...own,
      bindingOf(listed, 'rollcall-owner', comparing),
      bindingOf(listed, 'rollcall-history-owner'),
    ];
  });
  return [policy, { apiVersion, kind, metadata, spec }, ...bindings];
}

/** rollcall-owner for one DaemonSet, which lets pass what webhooks add to its pods. */
function ownerPolicy(listed: ListedDaemonSet, additions: Injected): Manifest {
  const text = readFileSync(new URL('../../infra/admission/policy.yaml', import.meta.url), 'utf8');
  const shipped = parseAllDocuments(text)
    .map((document) => document.toJS() as ShippedPolicy)
    .find(({ kind, metadata }) => metadata.name === 'rollcall-owner' && !kind.endsWith('Binding'));
  if (shipped === undefined) throw new Error('infra/admission/policy.yaml has no rollcall-owner');
  const expression = celLiteral({ ...additions });
  const variables = shipped.spec.variables.map((variable) =>
    variable.name === 'injected' ? { ...variable, expression } : variable,
  );
  const metadata = { name: nameOf(listed, 'rollcall-owner') };
  return { ...shipped, metadata, spec: { ...shipped.spec, variables } };
}

/** No namespace holds a dot, so no two DaemonSets share a name here. */
function nameOf({ namespace, name: daemonSet }: ListedDaemonSet, policy: string): string {
  return `${policy}.${namespace}.${daemonSet}`;
}

function created(apiGroup: string, resource: string): Manifest {
  const operations = ['CREATE'];
  return { apiGroups: [apiGroup], apiVersions: ['*'], resources: [resource], operations };
}

function bindingOf(
  listed: ListedDaemonSet,
  policy: 'rollcall-owner' | 'rollcall-history-owner',
  policyName: string = policy,
): Manifest {
  const { namespace, name: daemonSet, labels } = listed;
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: nameOf(listed, policy) },
    spec: {
      policyName,
      validationActions: ['Deny'],
      paramRef: { namespace, name: daemonSet, parameterNotFoundAction: 'Deny' },
      matchResources: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        objectSelector: { matchLabels: labels },
      },
    },
  };
}

/** A CEL map from namespace/name to labels. The schema lets in no character that CEL would read otherwise. */
function listExpression(daemonSets: readonly ListedDaemonSet[]): string {
  const entries = daemonSets.map(({ namespace, name: daemonSet, labels }) => {
    const pairs = Object.entries(labels).map(([key, value]) => `'${key}': '${value}'`);
    return `'${namespace}/${daemonSet}': {${pairs.join(', ')}}`;
  });
  return entries.length === 0 ? "{'': {'': ''}}" : `{${entries.join(', ')}}`;
}
