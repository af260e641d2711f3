/** Objects of a slice as an item has them come back as they were (ADR 0076). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeBody, encodeBody } from '../../../../src/adapters/dynamodb/item-codec.ts';
import { encodeObjects, openObjects } from '../../../../src/adapters/dynamodb/slice-codec.ts';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import type {
  NodeProjection,
  OpaqueProjection,
  PodProjection,
  Projection,
  RevisionProjection,
} from '../../../../src/core/model/projections.ts';
import type { Slice } from '../../../../src/core/model/view-items.ts';

const KEY = { pk: 'PODS#x', sk: 'SLICE#0' };
const HOSTNAME = 'kubernetes.io/hostname';

const word = fc.constantFrom('', 'a', 'b"', 'é\n', 'ip-10-0-0-1.example');
const timeMs = fc.integer({ min: 0, max: 4_000_000_000_000 });
const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
const identity = {
  name,
  uid: fc.uuid().map((text) => uid(text)),
  resourceVersion: fc.nat().map((version) => resourceVersion(String(version))),
};
const labels = fc.dictionary(
  fc.constantFrom('app', 'zone', 'pool', HOSTNAME),
  fc.oneof(word, name),
);

const nodes: fc.Arbitrary<NodeProjection> = fc.record(
  {
    kind: fc.constant('Node' as const),
    ...identity,
    name: name.map((text) => nodeName(text)),
    labels,
    taints: fc.array(fc.record({ key: word, effect: fc.constantFrom('NoSchedule', 'NoExecute') }), {
      maxLength: 1,
    }),
    unschedulable: fc.boolean(),
    isReady: fc.boolean(),
    isTerminating: fc.boolean(),
    createdAtMs: timeMs,
    system: fc.record({
      kernelVersion: word,
      osImage: word,
      containerRuntimeVersion: word,
      kubeletVersion: word,
      bootId: word,
    }),
  },
  {
    requiredKeys: [
      'kind',
      'name',
      'uid',
      'resourceVersion',
      'labels',
      'taints',
      'unschedulable',
      'isReady',
      'isTerminating',
    ],
  },
);

const target = name.map((text) => nodeName(text));
const pods: fc.Arbitrary<PodProjection> = fc
  .record(
    {
      kind: fc.constant('Pod' as const),
      namespace: fc.constantFrom('a', 'b'),
      ...identity,
      labels,
      phase: fc.constantFrom('Pending' as const, 'Running' as const),
      isReady: fc.boolean(),
      createdAtMs: timeMs,
      isTerminating: fc.boolean(),
      ownerUid: fc.constantFrom(uid('o-1'), uid('o-2')),
      reason: fc.constantFrom('Evicted', 'NodeLost'),
      readyChangedAtMs: timeMs,
      boundNode: target,
      targetNode: target,
      trouble: fc.record({ restarts: fc.integer({ min: 1, max: 9 }), waiting: word }),
    },
    {
      requiredKeys: [
        'kind',
        'namespace',
        'name',
        'uid',
        'resourceVersion',
        'labels',
        'phase',
        'isReady',
        'createdAtMs',
        'isTerminating',
      ],
    },
  )
  .chain((pod) => fc.constantFrom(pod, onTarget(pod)));

/** Most run where they were aimed at. */
function onTarget({ targetNode, ...pod }: PodProjection): PodProjection {
  return targetNode === undefined ? pod : { ...pod, targetNode, boundNode: targetNode };
}

const others: fc.Arbitrary<OpaqueProjection | RevisionProjection> = fc.oneof(
  fc.record({
    kind: fc.constant('Opaque' as const),
    of: fc.constantFrom('Pod' as const, 'Node' as const),
    ...identity,
    reason: fc.constantFrom('too-large' as const, 'undecodable' as const),
  }),
  fc.record({
    kind: fc.constant('ControllerRevision' as const),
    namespace: fc.constant('a'),
    ...identity,
    labels,
    revision: fc.nat(),
    isTerminating: fc.boolean(),
  }),
);

function slicesOf(most: fc.Arbitrary<Projection>): fc.Arbitrary<Slice['objects']> {
  const object = fc.oneof({ weight: 30, arbitrary: most }, { weight: 1, arbitrary: others });
  const hash = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  return fc
    .tuple(most, fc.array(object, { minLength: 70, maxLength: 90 }))
    .chain(([first, rest]) =>
      fc.tuple(...[first, ...rest].map((one) => fc.record({ object: fc.constant(one), hash }))),
    );
}

const store = (objects: Slice['objects']): Uint8Array => encodeObjects(KEY, objects);
const open = (body: Uint8Array): Slice['objects'] => openObjects(KEY, body)();
const isList = (body: Uint8Array): boolean => Array.isArray(decodeBody(KEY, body));

/** As many pods as are worth columns. */
function manyPods(
  change: (index: number) => Partial<PodProjection> = () => ({}),
): Slice['objects'] {
  return Array.from({ length: 64 }, (_, index) => ({
    object: {
      kind: 'Pod',
      namespace: 'a',
      name: `p-${String(index)}`,
      uid: uid(`u-${String(index)}`),
      resourceVersion: resourceVersion(String(index + 1)),
      labels: { app: 'a' },
      phase: 'Running',
      isReady: true,
      createdAtMs: 1000 + index,
      isTerminating: false,
      ...change(index),
    },
    hash: index,
  }));
}

describe('the objects of a slice in an item', () => {
  for (const [what, most] of [
    ['nodes', nodes],
    ['pods', pods],
  ] as const) {
    it(`come back as they were, in their order: ${what}, and what else stands among them`, () => {
      fc.assert(
        fc.property(slicesOf(most), (generated) => {
          const objects = JSON.parse(JSON.stringify(generated)) as Slice['objects'];
          const item = store(objects);
          assert.ok(!isList(item));
          assert.deepEqual(open(item), objects);
          // What was decoded is encoded to the same again.
          assert.deepEqual(store(open(item)), item);
        }),
        { numRuns: 40, endOnFailure: true },
      );
    });
  }

  it('share what they have in common, and have their members in one order', () => {
    const isOdd = (index: number): boolean => index % 2 === 1;
    const found = open(store(manyPods((index) => ({ isReady: isOdd(index) }))));
    const [first, , third] = found.map(({ object }) => object as PodProjection);
    assert.ok(first !== undefined && third !== undefined);
    assert.equal(first.labels, third.labels);
    const orders = new Set(found.map(({ object }) => Object.keys(object).join()));
    assert.equal(orders.size, 1);
  });

  it('are a list where they are few, or of another kind', () => {
    const few = manyPods().slice(1);
    for (const objects of [[], few]) {
      const item = store(objects);
      assert.deepEqual(decodeBody(KEY, item), objects);
      assert.deepEqual(open(item), objects);
    }
  });

  it('keep members that only a newer release knows', () => {
    const objects = manyPods(() => ({ shine: { bright: true } }) as Partial<PodProjection>);
    assert.deepEqual(open(store(objects)), objects);
  });

  it('of a newer form are refused by name, and so is what is damaged', () => {
    assert.throws(() => open(encodeBody(KEY, { form: 2 })), {
      name: 'ItemUnreadableError',
      message:
        'PODS#x SLICE#0: columns of form 2 are unknown to this release; a newer one wrote them',
    });
    assert.throws(() => open(Uint8Array.of(0x01, 9, 9)), { code: 'item-unreadable' });
  });
});
