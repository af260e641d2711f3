/**
 * The manifests that name DaemonSets one by one, for scripts/admission-policy.ts (docs/adr/0017).
 *
 * A policy with every DaemonSet as a parameter can only say "all of them agree", never "one of them is the owner".
 * A binding that names one DaemonSet and denies without it can. So: a policy that refuses every owner that is not
 * listed, and for each listed one a binding of `rollcall-owner`. A binding looks its parameter up before any condition
 * is asked, for everybody's pods that it selects; it selects only pods with the labels of that DaemonSet's selector,
 * and the policy demands these labels, so nothing slips past the binding.
 */
import * as v from 'valibot';

/** A manifest. */
export type Manifest = Readonly<Record<string, unknown>>;

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

/** Reads `kubectl get daemonsets -A -o json`. Throws for anything else. */
export function readDaemonSetList(json: string): readonly ListedDaemonSet[] {
  return v.parse(listSchema, JSON.parse(json)).items;
}

/** The user names of infra/admission/policy.yaml. */
const ROLLCALL =
  "request.userInfo.username in ['system:serviceaccount:rollcall-system:rollcall-functions', 'rollcall-functions']";

const apiVersion = 'admissionregistration.k8s.io/v1';

/** The manifests for these DaemonSets; every other one is refused. */
export function listedPolicy(daemonSets: readonly ListedDaemonSet[]): readonly Manifest[] {
  const metadata = { name: 'rollcall-listed' };
  const policy = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['CREATE'] },
        ],
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
            'Rollcall creates pods only for the DaemonSets that scripts/admission-policy.ts listed',
          expression:
            'variables.owners.size() == 1 && variables.owners.all(o, o in variables.listed && ' +
            "variables.listed[o].all(k, object.metadata.?labels[?k].orValue('') == variables.listed[o][k]))",
        },
      ],
    },
  };
  const kind = 'ValidatingAdmissionPolicyBinding';
  const spec = { policyName: 'rollcall-listed', validationActions: ['Deny'] };
  return [policy, { apiVersion, kind, metadata, spec }, ...daemonSets.map(bindingOf)];
}

function bindingOf({ namespace, name: daemonSet, labels }: ListedDaemonSet): Manifest {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    // No namespace holds a dot, so no two DaemonSets share a name here.
    metadata: { name: `rollcall-owner.${namespace}.${daemonSet}` },
    spec: {
      policyName: 'rollcall-owner',
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
