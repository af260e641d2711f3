/** What counts as the same template, whatever text it stands in (spec 2.10, #78633). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isExtension, meaningOf } from '../../../../src/core/history/history-meaning.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { STRUCTS, type FieldDefinition } from '@rollcall/local-cluster/schema/field-table.ts';

const same = (left: Json, right: Json): boolean => meaningOf(left) === meaningOf(right);

describe('meaningOf: the same', () => {
  const equal: readonly [string, Json, Json][] = [
    ['other key order', { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }],
    ['a null member', { metadata: { creationTimestamp: null } }, {}],
    ['an empty list', { spec: { volumes: [], containers: [1] } }, { spec: { containers: [1] } }],
    ['an empty structure', { containers: [{ resources: {} }] }, { containers: [{}] }],
    ['an empty map', { nodeSelector: {}, labels: {} }, {}],
    ['an empty text', { env: [{ name: 'A', value: '' }] }, { env: [{ name: 'A' }] }],
    ['nulls in a map', { labels: { a: 'b', c: null } }, { labels: { a: 'b' } }],
    ['emptiness inside out', { metadata: { labels: {}, annotations: null } }, {}],
  ];
  for (const [title, left, right] of equal) {
    it(`with ${title}`, () => assert.ok(same(left, right)));
  }
});

describe('meaningOf: not the same, because Go keeps it', () => {
  const different: readonly [string, Json, Json][] = [
    ['emptyDir {}', { name: 'v', emptyDir: {} }, { name: 'v' }],
    ['namespaceSelector {}', { namespaceSelector: {} }, {}],
    ['labelSelector {}', { labelSelector: {} }, {}],
    ['an empty value of a label', { labels: { a: '' } }, { labels: {} }],
    ['an empty nodeSelector value', { nodeSelector: { name: '' } }, {}],
    ['storageClassName ""', { storageClassName: '' }, {}],
    ['false', { optional: false }, {}],
    ['zero', { runAsUser: 0 }, {}],
    ['the order of a list', { args: ['a', 'b'] }, { args: ['b', 'a'] }],
    ['an empty item of a list', { args: ['', 'b'] }, { args: ['b'] }],
    ['a null item of a list', { args: [null, 'b'] }, { args: ['b'] }],
    ['an empty object as item', { tolerations: [{}] }, {}],
    ['another type', { value: '1' }, { value: 1 }],
  ];
  for (const [title, left, right] of different) {
    it(title, () => assert.ok(!same(left, right)));
  }

  it('a key named __proto__', () => {
    const left = JSON.parse('{"labels":{"__proto__":"a"},"x":{"__proto__":{"b":1}}}') as Json;
    assert.ok(!same(left, { labels: {}, x: {} }));
  });
});

describe('meaningOf follows the Go types of a pod template', () => {
  const isStructure = ({ type }: FieldDefinition): boolean =>
    type.kind === 'struct' || type.kind === 'map';
  const fieldsOf = (struct: string): readonly FieldDefinition[] => [
    ...(STRUCTS.get(struct)?.values() ?? []),
  ];
  /** What many templates have; other plain texts count, which costs a rollout at worst. */
  const everyday = [
    ...['PodTemplateSpec', 'PodSpec', 'Container', 'ContainerPort', 'EnvVar', 'EnvFromSource'],
    ...[
      'ObjectFieldSelector',
      'ResourceFieldSelector',
      'ConfigMapKeySelector',
      'SecretKeySelector',
    ],
    ...['VolumeMount', 'VolumeDevice', 'HTTPGetAction', 'HTTPHeader', 'TCPSocketAction'],
    ...['Toleration', 'NodeSelectorRequirement', 'PreferredSchedulingTerm', 'PodAffinityTerm'],
    ...['WeightedPodAffinityTerm', 'TopologySpreadConstraint', 'ResourceRequirements', 'Volume'],
    ...['HostPathVolumeSource', 'EmptyDirVolumeSource', 'KeyToPath', 'DownwardAPIVolumeFile'],
  ].flatMap((struct) => fieldsOf(`core.v1.${struct}`));
  const metadata = fieldsOf('meta.v1.ObjectMeta').filter(({ name }) =>
    ['name', 'generateName', 'namespace', 'labels', 'annotations'].includes(name),
  );
  const drivers = ['core.v1.FlexVolumeSource', 'core.v1.CSIVolumeSource', 'meta.v1.LabelSelector']
    .flatMap(fieldsOf)
    .filter(({ name }) => name !== 'driver');
  const counted = ['restartPolicy', 'overhead'];
  const plain = [...everyday, ...metadata, ...drivers].filter(
    ({ name }) => !counted.includes(name),
  );

  it('so is an empty structure or map that Go does not point to', () => {
    const structures = plain.filter(isStructure);
    assert.ok(structures.length > 12);
    for (const { name } of structures) assert.ok(same({ [name]: {} }, {}), name);
  });
});

describe('isExtension', () => {
  const template = {
    metadata: { labels: { app: 'a' } },
    spec: { containers: [{ name: 'c', args: ['x'] }], securityContext: {} },
  };

  it('takes null, empty texts, lists and objects for absent', () => {
    for (const empty of [null, '', [], {}]) {
      assert.ok(isExtension({ a: 1, b: empty }, { a: 1, b: 5, c: 6 }), JSON.stringify(empty));
    }
  });

  const contradicting: readonly [string, JsonObject][] = [
    ['another value', { containers: [{ name: 'c', args: ['y'] }] }],
    ['a longer list', { containers: [{ name: 'c', args: ['x', 'y'] }] }],
    ['a list where an object was', { containers: { name: 'c' } }],
    ['a text where a list was', { containers: 'c' }],
  ];
  for (const [title, spec] of contradicting) {
    it(`does not hold for ${title}`, () => {
      assert.ok(!isExtension(template, { ...template, spec }));
    });
  }

  it('does not hold for a text where an object was', () => {
    assert.ok(!isExtension(template, { ...template, spec: 'spec' }));
  });

  it('does not hold where each has something that the other lacks', () => {
    assert.ok(!isExtension({ a: 1, b: 1 }, { a: 1, c: 1 }));
  });
});

describe('both comparisons, over generated JSON', () => {
  const json = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as Json);

  it('are reflexive, and equal meaning is an extension', () => {
    fc.assert(
      fc.property(json, json, (left, right) => {
        assert.ok(same(left, structuredClone(left)));
        assert.ok(isExtension(left, left));
        if (same(left, right)) assert.ok(isExtension(left, right));
      }),
      { numRuns: 300 },
    );
  });
});
