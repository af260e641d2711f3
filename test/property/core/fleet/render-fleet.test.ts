// Overrides mean in a cluster what the same patches mean to an API server: the local cluster's, whose types are Go's.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { applyStrategicMergePatch } from '@rollcall/base/patch/strategic-merge-patch.ts';
import { createSchema } from '@rollcall/local-cluster/schema/create-schema.ts';
import { fleetRenderer } from '../../../../src/core/fleet/render-fleet.ts';
import { factsOf, fleetOf, manifestOf } from '../../../support/fleet-samples.ts';

const schema = createSchema();
const letter = fc.constantFrom('agent', 'b', 'c');
const text = fc.constantFrom('x', 'y');
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 1 });

const env = fc.uniqueArray(fc.record({ name: letter, value: text }), {
  selector: ({ name }) => name,
  maxLength: 3,
});
const ports = fc.uniqueArray(
  fc.record({ containerPort: fc.constantFrom(80, 81), protocol: fc.constantFrom('TCP', 'UDP') }),
  { selector: ({ containerPort }) => containerPort, maxLength: 2 },
);
const container = fc.record({
  name: letter,
  image: text,
  env: optional(env),
  ports: optional(ports),
  args: optional(fc.array(text, { maxLength: 2 })),
  resources: optional(fc.constant({ limits: { cpu: '1' } })),
});
const containers = fc.uniqueArray(container, { selector: ({ name }) => name, maxLength: 3 });
const removal = letter.map((name) => ({ $patch: 'delete', name }));
const volume = fc.oneof(
  fc.record({ name: letter, emptyDir: fc.constant({}) }),
  fc.record({ name: letter, hostPath: fc.constant({ path: '/' }), emptyDir: fc.constant(null) }),
);
const podSpec = fc.record({
  containers: optional(
    fc
      .tuple(containers, fc.array(removal, { maxLength: 1 }))
      .map(([some, gone]) => [...some, ...gone]),
  ),
  tolerations: optional(fc.array(fc.record({ key: letter }), { maxLength: 2 })),
  volumes: optional(fc.uniqueArray(volume, { selector: ({ name }) => name, maxLength: 2 })),
  nodeSelector: optional(fc.dictionary(letter, fc.option(text), { noNullPrototype: true })),
  dnsPolicy: optional(fc.constantFrom(null, 'Default')),
});

/** As it comes from a text: without what is undefined. */
function plain(value: unknown): JsonObject {
  const json = JSON.parse(JSON.stringify(value)) as Json;
  assert.ok(isJsonObject(json));
  return json;
}

describe('fleetRenderer', () => {
  it('merges as an API server does', () => {
    let rendered = 0;
    fc.assert(
      fc.property(podSpec, podSpec, (first, second) => {
        const patches = [first, second].map((spec) => plain({ spec: { template: { spec } } }));
        const overrides = patches.map((strategicMerge, index) => ({
          name: `o${String(index)}`,
          strategicMerge,
        }));
        const fleet = fleetOf({
          overrides,
          template: manifestOf({ volumes: [{ name: 'b', emptyDir: {} }] }),
        });
        const rendering = fleetRenderer(fleet)(factsOf('c'));
        const struct = schema.structOf({ group: 'apps', version: 'v1', kind: 'DaemonSet' });
        let expected: Json = fleet.manifest;
        for (const patch of patches) {
          assert.ok(isJsonObject(expected));
          const outcome = applyStrategicMergePatch(expected, patch, { schema, struct });
          if (outcome.kind !== 'patched') {
            assert.equal(rendering.kind, 'refused');
            return;
          }
          expected = outcome.value;
        }
        if (rendering.kind === 'refused') return;
        rendered += 1;
        const spec: object = rendering.manifest.spec;
        assert.ok(isJsonObject(expected));
        assert.equal(canonicalJson(spec as JsonObject), canonicalJson(expected['spec']));
      }),
    );
    assert.ok(rendered > 20, `only ${String(rendered)} were rendered`);
  });

  it('refuses or renders whatever patch comes, and never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.array(fc.jsonValue()), (merge, operations) => {
        const strategicMerge = plain({ spec: { template: merge }, metadata: merge });
        const jsonPatch = operations.map((one) => (isJsonObject(one as Json) ? one : { op: one }));
        const fleet = {
          ...fleetOf({}),
          overrides: [{ name: 'any', strategicMerge, jsonPatch: jsonPatch as JsonObject[] }],
        };
        const { kind } = fleetRenderer(fleet)(factsOf('c'));
        assert.ok(kind === 'rendered' || kind === 'refused');
      }),
    );
  });
});
