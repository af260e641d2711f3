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

test('a status that leaves out class and observed generations keeps them', () => {
  const current: ApiObject = {
    ...acceptedByRules(PODS, BASE),
    status: {
      phase: 'Running',
      qosClass: 'BestEffort',
      observedGeneration: 1,
    },
  };
  const next: JsonObject = { ...current, status: { phase: 'Running' } };
  const outcome = updateByRules(PODS, { next, current, view: 'status' });
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
  const { qosClass, observedGeneration } = outcome.object.status as JsonObject;
  assert.equal(qosClass, 'BestEffort');
  assert.equal(observedGeneration, 1);
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

test('what a pod may not say is refused by its field', () => {
  const container = { name: 'c', image: 'nginx:1' };
  const refused: readonly (readonly [JsonObject, readonly string[]])[] = [
    [{ name: '' }, ['FieldValueRequired spec.containers[0].name']],
    [{ name: 'A' }, ['FieldValueInvalid spec.containers[0].name']],
    [{ name: 'i' }, ['FieldValueDuplicate spec.initContainers[0].name']],
    [{ image: '' }, ['FieldValueRequired spec.containers[0].image']],
    [
      { ports: [{ containerPort: 0 }] },
      ['FieldValueRequired spec.containers[0].ports[0].containerPort'],
    ],
    [
      { ports: [{ containerPort: 65_536 }] },
      ['FieldValueInvalid spec.containers[0].ports[0].containerPort'],
    ],
    [{ env: [{ value: 'x' }] }, ['FieldValueRequired spec.containers[0].env[0].name']],
    [
      { env: [{ name: 'A', value: 'x', valueFrom: {} }] },
      ['FieldValueInvalid spec.containers[0].env[0].valueFrom'],
    ],
    [
      { volumeMounts: [{ name: 'none', mountPath: '/x' }] },
      ['FieldValueNotFound spec.containers[0].volumeMounts[0].name'],
    ],
    [
      { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      ['FieldValueInvalid spec.containers[0].resources.requests'],
    ],
  ];
  for (const [change, causes] of refused) {
    const body = withPath(BASE, 'spec.containers', [{ ...container, ...change }]);
    const outcome = createByRules(PODS, body);
    assert.deepEqual(outcome.kind === 'invalid' && causesOf(outcome.errors), causes);
  }
  const dns = createByRules(PODS, withPath(BASE, 'spec.dnsPolicy', 'Odd'));
  assert.deepEqual(dns.kind === 'invalid' && causesOf(dns.errors), [
    'FieldValueNotSupported spec.dnsPolicy',
  ]);
  const sources = { configMap: { name: 'c' }, emptyDir: {} };
  const mixed = createByRules(PODS, withPath(BASE, 'spec.volumes', [{ name: 'v', ...sources }]));
  assert.deepEqual(mixed.kind === 'invalid' && causesOf(mixed.errors), [
    'FieldValueForbidden spec.volumes[0].configMap',
  ]);
  const volumes = [{ name: 'v' }, { name: 'v' }];
  const twice = createByRules(PODS, withPath(BASE, 'spec.volumes', volumes));
  assert.deepEqual(twice.kind === 'invalid' && causesOf(twice.errors), [
    'FieldValueDuplicate spec.volumes[1].name',
  ]);
});

test('an update changes images and tolerations, and nothing else of the spec', () => {
  const current = acceptedByRules(PODS, BASE);
  const causesFor = (path: string, value: JsonObject[string]): readonly string[] => {
    const outcome = updateByRules(PODS, { next: withPath(current, path, value), current });
    return outcome.kind === 'invalid' ? causesOf(outcome.errors) : [];
  };
  assert.deepEqual(causesFor('spec.containers.0.image', 'nginx:2'), []);
  assert.deepEqual(causesFor('spec.tolerations', [{ operator: 'Exists' }]), []);
  assert.deepEqual(causesFor('spec.hostname', 'h'), ['FieldValueForbidden spec']);
  const more = [
    { name: 'c', image: 'a' },
    { name: 'd', image: 'a' },
  ];
  assert.deepEqual(causesFor('spec.containers', more), ['FieldValueForbidden spec.containers']);
  assert.deepEqual(causesFor('spec.containers.0.command', ['x']), ['FieldValueForbidden spec']);
});

test('a pod keeps its priority and its two default tolerations through an update', () => {
  const current = acceptedByRules(
    PODS,
    withPath(BASE, 'spec.priorityClassName', 'system-node-critical'),
  );
  const next = withPath(withPath(current, 'spec.priority', undefined), 'spec.tolerations', []);
  const outcome = updateByRules(PODS, { next, current });
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
  assert.deepEqual(specOf(outcome.object), specOf(current));
  const unknown = createByRules(PODS, withPath(BASE, 'spec.priorityClassName', 'none'));
  assert.ok(unknown.kind === 'refused' && unknown.refusal.code === 403);
});
