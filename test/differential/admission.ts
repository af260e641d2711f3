/**
 * Admission that refuses the pods of some nodes at one place: a policy of its own, made and removed again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../conformance/control-plane/api.ts';
import { nodeNameOf, type Place } from './place.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const EFFECT_DEADLINE_MS = 120_000;
const ASK_PERIOD_MS = 100;

const TARGET =
  'object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution' +
  '.nodeSelectorTerms[0].matchFields[0].values[0]';

/** From now on pods for these nodes, and only these, are refused. Resolves when that has taken effect. */
export async function applyAdmission(
  { side, place }: StepTarget,
  nodes: readonly string[],
): Promise<StepOutcome> {
  const { admin } = side;
  await liftAdmission(admin, place);
  const names = nodes.map((node) => nodeNameOf(place, node));
  if (names.length > 0) await refuse(admin, { place, names });
  const node = names[0] ?? nodeNameOf(place, 'n1');
  const endsAtMs = performance.now() + EFFECT_DEADLINE_MS;
  while (performance.now() < endsAtMs) {
    if ((await isRefusedFor(admin, { place, node })) === names.length > 0) return 'done';
    await delay(ASK_PERIOD_MS);
  }
  return 'no effect';
}

/** Removes what `applyAdmission` made at the place, if anything. */
export async function liftAdmission(admin: ApiClient, place: Place): Promise<void> {
  for (const collection of [BINDINGS, POLICIES]) {
    await admin.request({ method: 'DELETE', path: `${collection}/${place.namespace}` });
  }
}

async function refuse(
  admin: ApiClient,
  { place, names }: { readonly place: Place; readonly names: readonly string[] },
): Promise<void> {
  const name = place.namespace;
  await admin.post(POLICIES, {
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place.namespace } },
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      matchConditions: [
        {
          name: 'made-for-a-node',
          expression: 'has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)',
        },
      ],
      validations: [
        {
          expression: `!(${TARGET} in ${JSON.stringify(names)})`,
          message: 'refused by the scenario',
        },
      ],
    },
  });
  await admin.post(BINDINGS, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
}

async function isRefusedFor(
  admin: ApiClient,
  { place, node }: { readonly place: Place; readonly node: string },
): Promise<boolean> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const response = await admin.request({
    method: 'POST',
    path: `/api/v1/namespaces/${place.namespace}/pods?dryRun=All`,
    body: {
      metadata: { name: 'admission-probe' },
      spec: {
        containers: [{ name: 'agent', image: 'registry.example/agent:1' }],
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
        },
      },
    },
  });
  return response.status === 422 || response.status === 403;
}
