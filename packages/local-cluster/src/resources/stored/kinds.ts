/**
 * The built-in kinds that are stored and inert: everything that the release serves (kinds.json, generated) and that has no
 * definition of its own here.
 *
 * Differs from Kubernetes: each group in one version; `status` is the only subresource; of the strategies, generations and
 * what a PUT may do are as there.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { createSchema } from '../../schema/create-schema.ts';
import type { GroupVersionKind } from '../../schema/schema.ts';
import type { Resource } from '../shared/resource.ts';
import { applyServiceDefaults } from './service-defaults.ts';
import { defineStored } from './define-stored.ts';
import kinds from './kinds.json' with { type: 'json' };

/** Another form of the core group's events, which are alive. */
const OTHER_FORMS: ReadonlySet<string> = new Set(['events.events.k8s.io']);

/** From the strategies of the release (pkg/registry): which count generations… */
const GENERATIONS: ReadonlySet<string> = new Set([
  'cronjobs',
  'customresourcedefinitions',
  'deployments',
  'deviceclasses',
  'endpointslices',
  'flowschemas',
  'ingressclasses',
  'ingresses',
  'jobs',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'networkpolicies',
  'poddisruptionbudgets',
  'prioritylevelconfigurations',
  'replicasets',
  'replicationcontrollers',
  'resourceslices',
  'statefulsets',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
]);
/** … which take no PUT without a version… */
const CONDITIONAL: ReadonlySet<string> = new Set([
  'csidrivers',
  'csinodes',
  'csistoragecapacities',
  'customresourcedefinitions',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'poddisruptionbudgets',
  'runtimeclasses',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
  'volumeattachments',
]);
/** … and which a PUT creates. */
const CREATED_BY_PUT: ReadonlySet<string> = new Set([
  'endpoints',
  'limitranges',
  'runtimeclasses',
  'services',
]);

/** A real cluster enforces these, and this one does not: a creation warns. */
const NOT_ENFORCED: ReadonlySet<string> = new Set([
  'LimitRange',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ResourceQuota',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]);

/** The resources of all built-in kinds but those that are alive. */
export function storedResources(alive: readonly Resource[]): readonly Resource[] {
  const living = new Set(alive.map(({ resourceName }) => resourceName as string));
  return kinds
    .filter(({ plural, group }) => {
      const name = group === '' ? plural : `${plural}.${group}`;
      return !living.has(name) && !OTHER_FORMS.has(name);
    })
    .map((each) =>
      defineStored({
        group: each.group,
        version: each.version,
        kind: each.kind,
        plural: each.plural,
        singular: each.singular,
        isNamespaced: each.isNamespaced,
        shortNames: each.shortNames,
        categories: each.categories,
        hasStatus: each.subresources.includes('status'),
        countsGenerations: GENERATIONS.has(each.plural),
        allowsUnconditionalUpdate: !CONDITIONAL.has(each.plural),
        allowsCreateOnUpdate: CREATED_BY_PUT.has(each.plural),
        emptyStatus: emptyStatusOf(each),
        ...(each.kind === 'Service' ? { applyDefaults: applyServiceDefaults } : {}),
        ...(NOT_ENFORCED.has(each.kind)
          ? { warning: `${each.kind} is stored, not enforced, by a local cluster` }
          : {}),
      }),
    );
}

/** The status that Go writes for an object without one. */
function emptyStatusOf(kind: GroupVersionKind): () => JsonObject | undefined {
  let status: { readonly value: JsonObject | undefined } | undefined;
  return () => {
    if (status === undefined) {
      const decoded = createSchema().decode(kind, {});
      const object = decoded.kind === 'decoded' ? decoded.object : undefined;
      status = { value: object?.['status'] as JsonObject | undefined };
    }
    return status.value;
  };
}
