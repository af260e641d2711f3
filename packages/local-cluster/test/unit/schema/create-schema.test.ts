/** Decoding: what Go's decoder takes, drops, omits and refuses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createSchema } from '../../../src/schema/create-schema.ts';
import type { DecodeOutcome, GroupVersionKind } from '../../../src/schema/schema.ts';

const schema = createSchema();
const POD: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' };

function decoded(outcome: DecodeOutcome): Extract<DecodeOutcome, { kind: 'decoded' }> {
  assert.equal(outcome.kind, 'decoded', JSON.stringify(outcome));
  return outcome;
}

const core = (kind: string): GroupVersionKind => ({ group: '', version: 'v1', kind });
const LEASE = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };
const podWith = (container: JsonObject): JsonObject => ({ spec: { containers: [container] } });

describe('decode writes', () => {
  const taken: readonly (readonly [string, GroupVersionKind, JsonObject, JsonObject])[] = [
    [
      'times in UTC, those that are always written as null',
      core('Event'),
      { involvedObject: {}, eventTime: '2026-01-02T03:04:05.123456+01:00' },
      {
        involvedObject: {},
        ...{ source: {}, firstTimestamp: null, lastTimestamp: null },
        eventTime: '2026-01-02T02:04:05.123456Z',
        ...{ reportingComponent: '', reportingInstance: '' },
      },
    ],
    [
      'zeros behind pointers, and no null',
      LEASE,
      { spec: { holderIdentity: '', leaseTransitions: 0, acquireTime: null } },
      { spec: { holderIdentity: '', leaseTransitions: 0 } },
    ],
    ['no empty maps', core('ConfigMap'), { data: {}, binaryData: null, immutable: null }, {}],
    ['bytes as they are', core('Secret'), { data: { a: 'Yg==' } }, { data: { a: 'Yg==' } }],
    [
      'quantities in their canonical form',
      core('Pod'),
      podWith({ name: 'a', resources: { limits: { cpu: '0.5', memory: '1024Mi' } } }),
      {
        spec: {
          containers: [{ name: 'a', resources: { limits: { cpu: '500m', memory: '1Gi' } } }],
        },
        status: {},
      },
    ],
  ];
  for (const [title, kind, request, expected] of taken) {
    test(title, () => {
      const { object, unknownFields } = decoded(schema.decode(kind, { metadata: {}, ...request }));
      const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = object;
      assert.deepEqual(rest, expected);
      assert.deepEqual(unknownFields, []);
      assert.equal(decoded(schema.decode(kind, object)).object, object, 'the second time the same');
    });
  }
});

describe('decode refuses', () => {
  const unmarshal = 'json: cannot unmarshal';
  const refused: readonly (readonly [kind: string, request: JsonObject, failure: string])[] = [
    [
      'Pod',
      podWith({ name: 'a', ports: [{ containerPort: '80' }] }),
      `${unmarshal} string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32`,
    ],
    [
      'Pod',
      podWith({ name: 7 }),
      `${unmarshal} number into Go struct field Container.spec.containers.name of type string`,
    ],
    [
      'Pod',
      { spec: { priority: 1.5 } },
      `${unmarshal} number 1.5 into Go struct field PodSpec.spec.priority of type int32`,
    ],
    [
      'Pod',
      { spec: { priority: 3_000_000_000 } },
      `${unmarshal} number 3000000000 into Go struct field PodSpec.spec.priority of type int32`,
    ],
    [
      'Pod',
      { spec: { containers: {} } },
      `${unmarshal} object into Go struct field PodSpec.spec.containers of type []v1.Container`,
    ],
    ['Pod', { spec: [] }, `${unmarshal} array into Go struct field Pod.spec of type v1.PodSpec`],
    [
      'ConfigMap',
      { data: { a: true } },
      `${unmarshal} bool into Go struct field ConfigMap.data of type string`,
    ],
    [
      'ConfigMap',
      { data: [] },
      `${unmarshal} array into Go struct field ConfigMap.data of type map[string]string`,
    ],
    [
      'Event',
      { firstTimestamp: 'yesterday' },
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    [
      'Pod',
      podWith({ name: 'a', resources: { limits: { cpu: 'abc' } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['Secret', { data: { a: '*' } }, 'illegal base64 data at input byte 0'],
  ];
  for (const [kind, request, failure] of refused) {
    test(failure, () => {
      assert.deepEqual(schema.decode(core(kind), request), {
        kind: 'malformed',
        message: `${kind} in version "v1" cannot be handled as a ${kind}: ${failure}`,
      });
    });
  }

  test('micro times of another precision', () => {
    for (const renewTime of ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.1234567Z']) {
      assert.equal(schema.decode(LEASE, { spec: { renewTime } }).kind, 'malformed');
    }
  });
});

describe('decode', () => {
  test('names unknown fields by their path', () => {
    const request = {
      spec: { foo: 1, containers: [{ name: 'a', env: [{ Value: 'x' }] }, { baz: {} }] },
    };
    const metadata = { x: null, ownerReferences: [{ z: 1 }] };
    assert.deepEqual(decoded(schema.decode(POD, { metadata, ...request })).unknownFields, [
      'metadata.x',
      'metadata.ownerReferences[0].z',
      'spec.foo',
      'spec.containers[0].env[0].Value',
      'spec.containers[1].baz',
    ]);
  });

  test('shares the parts that do not change', () => {
    const container = { name: 'a', image: 'i', resources: {} };
    const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [container], foo: 1 } };
    const { object } = decoded(schema.decode(POD, pod));
    const spec = object['spec'] as { readonly containers: readonly unknown[] };
    assert.equal(spec.containers, pod.spec.containers);
    assert.deepEqual(object['spec'], { containers: [container] });
  });

  test('names the object when it does not name itself', () => {
    const { object } = decoded(schema.decode(POD, {}));
    assert.deepEqual(object, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {},
      spec: { containers: null },
      status: {},
    });
  });

  test('takes an empty list that is always written for none, as protobuf in etcd does', () => {
    const kind = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role' };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: {} };
    assert.deepEqual(decoded(schema.decode(kind, { ...role, rules: [] })).object, {
      ...role,
      rules: null,
    });
  });

  test('keeps map entries that have the names of built-in properties', () => {
    const text = '{"metadata":{},"data":{"__proto__":null,"constructor":"x"}}';
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
    const { object } = decoded(schema.decode(kind, JSON.parse(text) as Json));
    assert.deepEqual(Object.entries(object['data'] as JsonObject), [
      ['__proto__', ''],
      ['constructor', 'x'],
    ]);
  });

  test('matches names of fields in their exact case', () => {
    const { unknownFields } = decoded(schema.decode(POD, { Spec: {}, constructor: 1 }));
    assert.deepEqual(unknownFields, ['Spec', 'constructor']);
  });

  test('refuses kinds that it does not know, and bodies that are no objects', () => {
    assert.equal(schema.decode({ ...POD, kind: 'Gateway' }, {}).kind, 'malformed');
    assert.equal(schema.decode(POD, [1]).kind, 'malformed');
  });

  test('knows DeleteOptions in every group', () => {
    const kind = { group: 'apps', version: 'v1', kind: 'DeleteOptions' };
    assert.equal(schema.structOf(kind), 'meta.v1.DeleteOptions');
    assert.equal(schema.structOf({ ...kind, kind: 'Pod' }), undefined);
  });
});

describe('field', () => {
  test('says how lists merge', () => {
    assert.deepEqual(schema.field('core.v1.PodSpec', 'containers'), {
      shape: 'list',
      struct: 'core.v1.Container',
      patchStrategies: ['merge'],
      patchMergeKey: 'name',
    });
    assert.deepEqual(schema.field('core.v1.PodSpec', 'volumes')?.patchStrategies, [
      'merge',
      'retainKeys',
    ]);
    assert.deepEqual(schema.field('meta.v1.ObjectMeta', 'finalizers'), {
      shape: 'list',
      patchStrategies: ['merge'],
    });
    assert.deepEqual(schema.field('core.v1.PodSpec', 'tolerations'), {
      shape: 'list',
      struct: 'core.v1.Toleration',
      patchStrategies: [],
    });
  });

  test('says what is an object, a map, a scalar, or nothing', () => {
    assert.equal(schema.field('core.v1.Pod', 'spec')?.struct, 'core.v1.PodSpec');
    assert.equal(schema.field('core.v1.Volume', 'emptyDir')?.shape, 'object');
    assert.equal(schema.field('meta.v1.ObjectMeta', 'labels')?.shape, 'map');
    assert.equal(schema.field('meta.v1.ObjectMeta', 'creationTimestamp')?.shape, 'scalar');
    assert.equal(schema.field('core.v1.Pod', 'constructor'), undefined);
  });
});
