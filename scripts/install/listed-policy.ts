/**
 * The manifests that name DaemonSets one by one, for scripts/install/admission-policy.ts (docs/adr/0063).
 *
 * A policy with every DaemonSet as a parameter can only say "all of them agree", never "one of them is the owner".
 * A binding that names one DaemonSet and denies without it can. So: a policy that refuses every owner that is not
 * listed, and for each listed one a binding of each policy that has it, or a copy of its template (ADR 0063), as its
 * parameter. Pods that name a copy are compared with that, all others with the DaemonSet; what compares the former is
 * printed before what lets them pass the latter. A binding looks its parameter up before any condition is asked, for everybody's objects that it selects; it selects only those with the
 * labels of that DaemonSet's selector, and the policy demands these labels, so nothing slips past the binding.
 */
import * as v from 'valibot';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  COPY_LABEL,
  COPY_SLOTS,
  copyMarker,
  copyName,
} from '../../src/core/admission/template-copy.ts';
import { FROM_FUNCTIONS, type Manifest } from '../../src/cli/fleet/fleet-manifests.ts';
import { celLiteral, type Injected } from './injected.ts';
import { provenOwnerPolicy, provenPolicy, shippedOwnerPolicy } from './proven-policy.ts';
import type { ShippedPolicy } from './proven-policy.ts';

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
        resourceRules: [
          written('', 'pods', ['CREATE']),
          written('apps', 'controllerrevisions', ['CREATE']),
          written('', 'podtemplates', ['CREATE', 'UPDATE']),
        ],
      },
      matchConditions: [{ name: 'rollcall', expression: FROM_FUNCTIONS }],
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
            'Rollcall creates pods, revisions and copies only for the DaemonSets that scripts/install/admission-policy.ts listed',
          expression:
            'variables.owners.size() == 1 && variables.owners.all(o, o in variables.listed && ' +
            "variables.listed[o].all(k, object.metadata.?labels[?k].orValue('') == variables.listed[o][k]))",
        },
      ],
    },
  };
  const kind = 'ValidatingAdmissionPolicyBinding';
  const spec = { policyName: 'rollcall-listed', validationActions: ['Deny'] };
  const shipped = shippedOwnerPolicy();
  const all = daemonSets.flatMap((listed) =>
    manifestsOf(listed, shipped, injected.get(`${listed.namespace}/${listed.name}`)),
  );
  const proven = [provenPolicy(shipped), provenOwnerPolicy(shipped)].map((each) => ({ ...each }));
  return [policy, { apiVersion, kind, metadata, spec }, ...proven, ...all];
}

/** What one DaemonSet needs. */
function manifestsOf(
  listed: ListedDaemonSet,
  shipped: ShippedPolicy,
  additions: Injected | undefined,
): readonly Manifest[] {
  const owner = additions === undefined ? shipped : withInjected(listed, shipped, additions);
  const own =
    additions === undefined ? [] : [provenPolicy(owner, nameOf(listed, 'rollcall-proven'))];
  const proven = own[0]?.metadata.name ?? 'rollcall-proven';
  const markers = COPY_SLOTS.map(copyMarker);
  return [
    ...own.map((each) => ({ ...each })),
    bindingOf(listed, 'rollcall-proven-owner', { marked: { operator: 'In', values: markers } }),
    ...COPY_SLOTS.map((slot) =>
      bindingOf(listed, `rollcall-${copyMarker(slot)}`, {
        policyName: proven,
        parameter: copyName(listed.name, slot),
        marked: { operator: 'In', values: [copyMarker(slot)] },
      }),
    ),
    ...(additions === undefined ? [] : [{ ...owner }]),
    bindingOf(listed, 'rollcall-owner', {
      policyName: owner.metadata.name,
      marked: { operator: 'NotIn', values: markers },
    }),
    bindingOf(listed, 'rollcall-history-owner'),
    bindingOf(listed, 'rollcall-copies-owner'),
  ];
}

/** rollcall-owner for one DaemonSet, which lets pass what webhooks add to its pods. */
function withInjected(
  listed: ListedDaemonSet,
  shipped: ShippedPolicy,
  additions: Injected,
): ShippedPolicy {
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

function written(apiGroup: string, resource: string, operations: readonly string[]): Manifest {
  return { apiGroups: [apiGroup], apiVersions: ['*'], resources: [resource], operations };
}

interface BindingOptions {
  /** Absent: the policy of that name. */
  readonly policyName?: string;
  /** Name of the parameter; absent: the DaemonSet's. */
  readonly parameter?: string;
  /** Which pods of its labels, by the label that names a copy; absent: all. */
  readonly marked?: { readonly operator: 'In' | 'NotIn'; readonly values: readonly string[] };
}

function bindingOf(
  listed: ListedDaemonSet,
  policy: string,
  { policyName = policy, parameter = listed.name, marked }: BindingOptions = {},
): Manifest {
  const { namespace, labels } = listed;
  const objectSelector = {
    matchLabels: labels,
    ...(marked === undefined ? {} : { matchExpressions: [{ key: COPY_LABEL, ...marked }] }),
  };
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: nameOf(listed, policy) },
    spec: {
      policyName,
      validationActions: ['Deny'],
      paramRef: { namespace, name: parameter, parameterNotFoundAction: 'Deny' },
      matchResources: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        objectSelector,
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
