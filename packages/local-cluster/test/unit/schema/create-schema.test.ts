/**
 * Decoding against what kube-apiserver v1.36.3 answered to POST …?dryRun=All (recorded-decodes.json).
 *
 * `isExact` marks kinds without defaults, where the answer is the decoded request and what a create adds to metadata.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createSchema } from '../../../src/schema/create-schema.ts';
import type { DecodeOutcome, GroupVersionKind } from '../../../src/schema/schema.ts';

interface RecordedDecode {
  readonly title: string;
  readonly kind: GroupVersionKind;
  readonly request: JsonObject;
  readonly status: number;
  readonly object?: JsonObject & { readonly metadata: JsonObject };
  readonly isExact?: boolean;
  readonly isStrict?: boolean;
  readonly message?: string;
}

const recorded = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'recorded-decodes.json'), 'utf8'),
) as readonly RecordedDecode[];
const schema = createSchema();
const POD: GroupVersionKind = { group: '', version: 'v1', kind: 'Pod' };

function decoded(outcome: DecodeOutcome): Extract<DecodeOutcome, { kind: 'decoded' }> {
  assert.equal(outcome.kind, 'decoded', JSON.stringify(outcome));
  return outcome;
}

/** The whole of an object, apart from what a create adds. */
function withoutCreation(object: JsonObject): Json {
  const {
    uid: _uid,
    creationTimestamp: _creationTimestamp,
    namespace: _namespace,
    generation: _generation,
    ...metadata
  } = object['metadata'] as JsonObject;
  return { ...object, metadata };
}

describe('decode of what the real API server took', () => {
  for (const { title, kind, request, object, isExact } of recorded) {
    if (object === undefined) continue;
    test(`${title}: its answer passes unchanged, as the same object`, () => {
      const outcome = decoded(schema.decode(kind, object));
      assert.deepEqual(outcome.unknownFields, []);
      assert.deepEqual(outcome.object, object);
      assert.equal(outcome.object, object);
    });
    if (isExact === true) {
      test(`${title}: the request becomes the answer`, () => {
        const outcome = decoded(schema.decode(kind, request));
        assert.deepEqual(withoutCreation(outcome.object), withoutCreation(object));
      });
    }
  }
});

/** Go says at which character of a time it gave up; we do not. */
function withoutPosition(message: string): string {
  return message.replace(/: cannot parse ".*" as ".*"$/, '');
}

describe('decode of what the real API server refused', () => {
  for (const { title, kind, request, message, isStrict } of recorded) {
    if (message === undefined) continue;
    test(`${title}: ${message}`, () => {
      const outcome = schema.decode(kind, request);
      if (isStrict === true) {
        const listed = decoded(outcome).unknownFields.map((field) => `unknown field "${field}"`);
        assert.equal(message.split('strict decoding error: ')[1], listed.join(', '));
      } else {
        assert.equal(outcome.kind, 'malformed');
        assert.equal(withoutPosition(outcome.message), withoutPosition(message));
      }
    });
  }
});

describe('decode', () => {
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
    assert.equal(schema.field('core.v1.VolumeSource', 'emptyDir')?.shape, 'object');
    assert.equal(schema.field('meta.v1.ObjectMeta', 'labels')?.shape, 'map');
    assert.equal(schema.field('meta.v1.ObjectMeta', 'creationTimestamp')?.shape, 'scalar');
    assert.equal(schema.field('core.v1.Volume', 'core.v1.VolumeSource'), undefined);
    assert.equal(schema.field('core.v1.Pod', 'constructor'), undefined);
  });
});
