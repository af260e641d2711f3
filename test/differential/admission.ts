/**
 * Admission that refuses the pods of some nodes: one policy for the whole cluster, told by an annotation of
 * each namespace which nodes it refuses.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../conformance/control-plane/api.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';
import { nodeNameOf } from './place.ts';

const NAME = 'differential-refused-nodes';
const ANNOTATION = 'differential.rollcall.test/refused-nodes';
const ADMISSION_PATH = '/apis/admissionregistration.k8s.io/v1';
const EFFECT_DEADLINE_MS = 20_000;
const ASK_PERIOD_MS = 100;

const TARGET =
  'object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution' +
  '.nodeSelectorTerms[0].matchFields[0].values[0]';

/** Creates the policy; it refuses nothing yet. */
export async function createAdmissionPolicy(admin: ApiClient): Promise<void> {
  const refused = `namespaceObject.metadata.annotations['${ANNOTATION}']`;
  await admin.post(`${ADMISSION_PATH}/validatingadmissionpolicies`, {
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
        ],
      },
      matchConditions: [
        {
          name: 'some-are-refused',
          expression: `has(namespaceObject.metadata.annotations) && '${ANNOTATION}' in namespaceObject.metadata.annotations`,
        },
        {
          name: 'made-for-a-node',
          expression: 'has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)',
        },
      ],
      validations: [
        { expression: `!(${TARGET} in ${refused}.split(','))`, message: 'refused by the scenario' },
      ],
    },
  });
  await admin.post(`${ADMISSION_PATH}/validatingadmissionpolicybindings`, {
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ['Deny'] },
  });
}

/** From now on pods for these nodes, and only these, are refused. Resolves when that has taken effect. */
export async function applyAdmission(
  { side, place }: StepTarget,
  nodes: readonly string[],
): Promise<StepOutcome> {
  const names = nodes.map((node) => nodeNameOf(place, node));
  const value = names.length === 0 ? null : names.join(',');
  await side.admin.patch(`/api/v1/namespaces/${place.namespace}`, {
    metadata: { annotations: { [ANNOTATION]: value } },
  });
  const probe = names[0] ?? nodeNameOf(place, 'n1');
  const endsAtMs = performance.now() + EFFECT_DEADLINE_MS;
  while (performance.now() < endsAtMs) {
    const isRefused = await isRefusedFor(side.admin, { namespace: place.namespace, node: probe });
    if (isRefused === names.length > 0) return 'done';
    await delay(ASK_PERIOD_MS);
  }
  return 'no effect';
}

async function isRefusedFor(
  admin: ApiClient,
  { namespace, node }: { readonly namespace: string; readonly node: string },
): Promise<boolean> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const response = await admin.request({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
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
