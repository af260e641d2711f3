/** Strategic merge patch: each directive and each refusal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { withSortedRaw } from '../../../../src/api/patch/sorted-raw.ts';
import { applyStrategicMergePatch } from '@rollcall/base/patch/strategic-merge-patch.ts';
import { createSchema } from '../../../../src/schema/create-schema.ts';

const schema = createSchema();
const struct = schema.structOf({ group: '', version: 'v1', kind: 'Pod' });

function patched(target: JsonObject, patch: Json): Json {
  const outcome = applyStrategicMergePatch(target, patch, { schema, struct });
  return outcome.kind === 'patched' ? outcome.value : outcome.kind;
}

const containers = (...names: string[]): JsonObject[] => names.map((name) => ({ name }));

describe('applyStrategicMergePatch', () => {
  const CASES: readonly (readonly [
    what: string,
    target: JsonObject,
    patch: Json,
    expected: Json,
  ])[] = [
    [
      'merges items by their key',
      {
        spec: {
          containers: [
            { name: 'a', image: '1' },
            { name: 'b', image: '1' },
          ],
        },
      },
      { spec: { containers: [{ name: 'b', image: '2' }] } },
      {
        spec: {
          containers: [
            { name: 'a', image: '1' },
            { name: 'b', image: '2' },
          ],
        },
      },
    ],
    [
      'puts named items into the order of the patch, others before what they were before',
      { spec: { containers: containers('a', 'b', 'c', 'd') } },
      { spec: { containers: containers('d', 'b') } },
      { spec: { containers: containers('a', 'c', 'd', 'b') } },
    ],
    [
      'adds new items where the patch has them',
      { spec: { containers: containers('a', 'b') } },
      { spec: { containers: containers('new', 'b') } },
      { spec: { containers: containers('new', 'a', 'b') } },
    ],
    [
      'follows $setElementOrder',
      { spec: { containers: containers('a', 'b', 'server') } },
      {
        spec: {
          '$setElementOrder/containers': containers('n', 'b', 'a'),
          containers: containers('n'),
        },
      },
      { spec: { containers: containers('n', 'b', 'a', 'server') } },
    ],
    [
      'refuses a $setElementOrder that lacks what the patch has',
      { spec: { containers: containers('a') } },
      { spec: { '$setElementOrder/containers': containers('a'), containers: containers('n') } },
      'failed',
    ],
    [
      'deletes items',
      { spec: { containers: containers('a', 'b') } },
      { spec: { containers: [{ name: 'a', $patch: 'delete' }] } },
      { spec: { containers: containers('b') } },
    ],
    [
      'replaces a list',
      { spec: { containers: containers('a', 'b') } },
      { spec: { containers: [{ $patch: 'replace' }, { name: 'c' }] } },
      { spec: { containers: containers('c') } },
    ],
    [
      'replaces lists that do not merge',
      { spec: { tolerations: [{ key: 'a' }] } },
      { spec: { tolerations: [{ key: 'b' }] } },
      { spec: { tolerations: [{ key: 'b' }] } },
    ],
    [
      'merges lists of scalars as sets',
      { metadata: { finalizers: ['a/x', 'b/x'] } },
      { metadata: { finalizers: ['c/x', 'a/x'] } },
      { metadata: { finalizers: ['c/x', 'a/x', 'b/x'] } },
    ],
    [
      'takes scalars away',
      { metadata: { finalizers: ['a/x', 'b/x'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/x', 'z/x'] } },
      { metadata: { finalizers: ['b/x'] } },
    ],
    [
      'removes by null, also where there is nothing',
      { metadata: { labels: { a: '1' } } },
      { metadata: { labels: { a: null, b: null }, annotations: { c: null } } },
      { metadata: { labels: {}, annotations: {} } },
    ],
    [
      'keeps only what $retainKeys lists',
      { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      {
        spec: {
          volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }],
        },
      },
      { spec: { volumes: [{ name: 'v', hostPath: { path: '/x' } }] } },
    ],
    [
      'refuses a patch beyond its $retainKeys',
      { spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
      { spec: { volumes: [{ name: 'v', $retainKeys: ['name'], hostPath: { path: '/x' } }] } },
      'malformed',
    ],
    [
      'replaces an object',
      { spec: { nodeSelector: { a: '1' } } },
      { spec: { nodeSelector: { $patch: 'replace', b: '2' } } },
      { spec: { nodeSelector: { b: '2' } } },
    ],
    [
      'empties an object',
      { spec: { nodeSelector: { a: '1' } } },
      { spec: { nodeSelector: { $patch: 'delete' } } },
      { spec: { nodeSelector: {} } },
    ],
    [
      'needs the key of an item',
      { spec: { containers: containers('a') } },
      { spec: { containers: [{ image: 'x' }] } },
      'failed',
    ],
    ['knows no other directive', { spec: {} }, { spec: { $patch: 'foo' } }, 'failed'],
    [
      'wants a field behind $setElementOrder',
      { spec: {} },
      { spec: { $setElementOrder: [] } },
      'malformed',
    ],
    [
      'takes no lists of different things',
      { metadata: { finalizers: ['a/x'] } },
      { metadata: { finalizers: [{}] } },
      'failed',
    ],
    [
      'takes no lists of lists',
      { metadata: { finalizers: [] } },
      { metadata: { finalizers: [['a']] } },
      'inapplicable',
    ],
    ['refuses a patch that is no object', {}, [], 'malformed'],
  ];
  for (const [what, target, patch, expected] of CASES) {
    it(what, () => {
      const before = JSON.stringify(target);
      assert.deepEqual(patched(target, patch), expected);
      assert.equal(JSON.stringify(target), before, 'the target is unchanged');
    });
  }
});

describe('raw JSON under a strategic merge patch', () => {
  const kind = { group: 'apps', version: 'v1', kind: 'ControllerRevision' };
  const types = { schema, struct: schema.structOf(kind) };
  const revision: JsonObject = { data: { spec: { b: 1, a: 1 }, list: [1] } };
  const apply = (patch: JsonObject): Json => {
    const outcome = applyStrategicMergePatch(revision, patch, types);
    return outcome.kind === 'patched' ? outcome.value : outcome.kind;
  };

  it('takes and loses members', () => {
    assert.deepEqual(apply({ data: { added: { deep: 1 }, list: null } }), {
      data: { spec: { b: 1, a: 1 }, added: { deep: 1 } },
    });
  });

  it('is not merged any deeper: nobody knows its types', () => {
    assert.equal(apply({ data: { spec: { a: 2 } } }), 'failed');
    assert.equal(apply({ data: { list: [2] } }), 'failed');
  });

  it('comes out sorted, touched or not', () => {
    assert.equal(
      JSON.stringify(withSortedRaw(revision, types)),
      '{"data":{"list":[1],"spec":{"a":1,"b":1}}}',
    );
    const pod: JsonObject = { spec: { b: 1, a: 1 } };
    assert.equal(withSortedRaw(pod, { schema, struct }), pod);
  });
});
