/** Pods: stable defaults, service accounts, QoS class, generation, grace of a deletion. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../../src/objects/api-object.ts';
import {
  acceptedByRules,
  causesOf,
  createByRules,
  resourceNamed,
  updateByRules,
  withPath,
} from '../../../support/resource-rules.ts';

const PODS = resourceNamed('pods');
const BASE: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'test-namespace' },
  spec: {
    containers: [{ name: 'c', image: 'nginx:1' }],
    initContainers: [{ name: 'i', image: 'a' }],
  },
};

function specOf(pod: ApiObject): JsonObject {
  const { spec } = pod as { readonly spec?: JsonObject };
  assert.ok(spec);
  return spec;
}

test('a pod with all its defaults comes back as the very same object', () => {
  const pod = acceptedByRules(PODS, BASE);
  assert.equal(PODS.rules.applyDefaults(pod), pod);
});

test('every container mounts the token, unless pod or account do not want it', () => {
  const [container] = specOf(acceptedByRules(PODS, BASE)).containers as readonly JsonObject[];
  assert.deepEqual(container?.volumeMounts, [
    {
      mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
      name: 'kube-api-access-bcdfg',
      readOnly: true,
    },
  ]);
  const plain = acceptedByRules(PODS, withPath(BASE, 'spec.automountServiceAccountToken', false));
  assert.equal(specOf(plain).volumes, undefined);
});

test('a container that mounts something else at the place of the token keeps it', () => {
  const mount = { name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  const body = withPath(
    withPath(withPath(BASE, 'spec.initContainers', []), 'spec.containers.0.volumeMounts', [mount]),
    'spec.volumes',
    [{ name: 'own', emptyDir: {} }],
  );
  assert.deepEqual(specOf(acceptedByRules(PODS, body)).volumes, [{ name: 'own', emptyDir: {} }]);
});

test('a pod without its account is refused with 403', () => {
  const outcome = createByRules(PODS, withPath(BASE, 'spec.serviceAccountName', 'nobody'));
  assert.ok(outcome.kind === 'refused');
  assert.equal(outcome.refusal.code, 403);
  assert.equal(
    outcome.refusal.message,
    'pods "p" is forbidden: error looking up service account test-namespace/nobody: serviceaccount "nobody" not found',
  );
});

test('a pod that is created bound gets the zone of its node', () => {
  const pod = acceptedByRules(PODS, withPath(BASE, 'spec.nodeName', 'zoned'));
  assert.deepEqual(pod.metadata.labels, { 'topology.kubernetes.io/zone': 'a' });
});

test('the class follows from requests and limits of cpu and memory', () => {
  const classes: readonly (readonly [JsonObject, string])[] = [
    [{}, 'BestEffort'],
    [{ requests: { cpu: '0' } }, 'BestEffort'],
    [{ requests: { cpu: '1' } }, 'Burstable'],
    [{ limits: { cpu: '1' } }, 'Burstable'],
    [{ limits: { cpu: '1', memory: '1Gi' } }, 'Guaranteed'],
    [
      { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } },
      'Guaranteed',
    ],
    [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } }, 'Burstable'],
  ];
  const single = withPath(BASE, 'spec.initContainers', []);
  for (const [resources, expected] of classes) {
    const pod = acceptedByRules(PODS, withPath(single, 'spec.containers.0.resources', resources));
    assert.equal((pod.status as JsonObject).qosClass, expected, JSON.stringify(resources));
  }
});

test('generation grows with the spec and with nothing else', () => {
  const current = acceptedByRules(PODS, BASE);
  const generationAfter = (path: string, value: JsonObject | string): number | undefined => {
    const outcome = updateByRules(PODS, { next: withPath(current, path, value), current });
    assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
    return outcome.object.metadata.generation;
  };
  assert.equal(current.metadata.generation, 1);
  assert.equal(generationAfter('metadata.labels', { a: 'b' }), 1);
  assert.equal(generationAfter('status.phase', 'Running'), 1);
  assert.equal(generationAfter('spec.containers.0.image', 'nginx:2'), 2);
});

test('grace: asked, else of the spec; none when unbound or ended; at least one second', () => {
  const grace = (path: string, value: string, asked?: number): number | undefined =>
    PODS.rules.deletionGraceSeconds?.(
      // Paths lead to an object of the same kind.
      withPath(acceptedByRules(PODS, BASE), path, value) as ApiObject,
      asked,
    );
  assert.equal(grace('spec.nodeName', 'n'), 30);
  assert.equal(grace('spec.nodeName', 'n', 5), 5);
  assert.equal(grace('spec.nodeName', 'n', -5), 1);
  assert.equal(grace('spec.nodeName', ''), 0);
  const ended = withPath(
    withPath(acceptedByRules(PODS, BASE), 'spec.nodeName', 'n'),
    'status.phase',
    'Failed',
  );
  assert.equal(PODS.rules.deletionGraceSeconds?.(ended as ApiObject, 30), 0);
});

test('an ended container may not come back unless the policy restarts it', () => {
  const ended = {
    name: 'c',
    image: 'a',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode: 1 } },
  };
  const status = { phase: 'Running', qosClass: 'BestEffort', containerStatuses: [ended] };
  const causesWith = (policy: string): readonly string[] => {
    const pod = acceptedByRules(PODS, withPath(BASE, 'spec.restartPolicy', policy));
    const current: ApiObject = { ...pod, status };
    const next = withPath(current, 'status.containerStatuses.0.state', { running: {} });
    const outcome = updateByRules(PODS, { next, current, view: 'status' });
    return outcome.kind === 'invalid' ? causesOf(outcome.errors) : [];
  };
  assert.deepEqual(causesWith('Always'), []);
  assert.deepEqual(causesWith('OnFailure'), []);
  assert.deepEqual(causesWith('Never'), ['FieldValueForbidden status.containerStatuses[0].state']);
});

test('a status that leaves out class and observed generations keeps them', () => {
  const ready = { type: 'Ready', status: 'True' };
  const current: ApiObject = {
    ...acceptedByRules(PODS, BASE),
    status: {
      phase: 'Running',
      qosClass: 'BestEffort',
      observedGeneration: 1,
      conditions: [{ ...ready, observedGeneration: 1 }],
    },
  };
  const next: JsonObject = { ...current, status: { phase: 'Running', conditions: [ready] } };
  const outcome = updateByRules(PODS, { next, current, view: 'status' });
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
  const { qosClass, observedGeneration, conditions } = outcome.object.status as JsonObject;
  assert.equal(qosClass, 'BestEffort');
  assert.equal(observedGeneration, 1);
  assert.equal((conditions as readonly JsonObject[])[0]?.observedGeneration, 1);
});

test('a terminating pod takes no new finalizer', () => {
  const pod = acceptedByRules(PODS, BASE);
  const current: ApiObject = {
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:30Z' },
  };
  const outcome = updateByRules(PODS, {
    next: withPath(current, 'metadata.finalizers', ['a/b']),
    current,
  });
  assert.ok(outcome.kind === 'invalid');
  assert.ok(causesOf(outcome.errors).includes('FieldValueForbidden metadata.finalizers'));
});

test('a field selector of two nodes is refused in the words of kube-apiserver 1.36.3', () => {
  const field = 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution';
  const fields = [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }];
  const body = withPath(BASE, `spec.${field}`, { nodeSelectorTerms: [{ matchFields: fields }] });
  const outcome = createByRules(PODS, body);
  assert.ok(outcome.kind === 'invalid');
  assert.deepEqual(
    outcome.errors.map(({ detail }) => detail),
    ["must be only one value when `operator` is 'In' or 'NotIn' for node field selector"],
  );
});
