/**
 * Decoding is a projection: what it has decoded once it leaves alone, to the very same object.
 */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createSchema } from '../../../src/schema/create-schema.ts';
import { KINDS, STRUCTS } from '../../../src/schema/field-table.ts';
import type { GoType, ScalarType } from '../../../src/schema/field-table.ts';

const RUNS = 300;
const DEPTH_MAX = 5;
const schema = createSchema();

const scalars: Readonly<Record<ScalarType, fc.Arbitrary<Json>>> = {
  string: fc.oneof(fc.constant(''), fc.string({ maxLength: 4 })),
  bool: fc.boolean(),
  int32: fc.integer({ min: -2, max: 2 }),
  int64: fc.maxSafeInteger(),
  float64: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bytes: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  time: fc.constantFrom('2026-01-02T03:04:05Z', '2026-02-28T23:59:59.5+01:30'),
  microTime: fc.constantFrom('2026-01-02T03:04:05.000001Z', '2026-01-02T03:04:05.120000-07:00'),
  quantity: fc.oneof(
    fc.constantFrom('1', '1000m', '0.5', '1024Ki', '1e3', '1.5Gi', '-0', '100n', '5000000k'),
    fc.integer(),
  ),
  intOrString: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant('http')),
  raw: fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json),
};

function ofType(type: GoType, depth: number): fc.Arbitrary<Json> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 9, arbitrary: ofTypeNotNull(type, depth) },
  );
}

function ofTypeNotNull(type: GoType, depth: number): fc.Arbitrary<Json> {
  switch (type.kind) {
    case 'pointer':
      return ofTypeNotNull(type.to, depth);
    case 'scalar':
      return scalars[type.scalar];
    case 'struct':
      return ofStruct(type.struct, depth);
    case 'list':
      return fc.array(ofType(type.of, depth), { maxLength: 2 });
    case 'map':
      return fc.dictionary(fc.string({ maxLength: 2 }), ofType(type.of, depth), { maxKeys: 2 });
  }
}

/** Some of the fields, and now and then one that does not exist. */
function ofStruct(struct: string, depth: number): fc.Arbitrary<JsonObject> {
  const fields = [...(STRUCTS.get(struct)?.values() ?? [])].filter(
    ({ name }) => name !== 'apiVersion' && name !== 'kind',
  );
  if (depth >= DEPTH_MAX || fields.length === 0) return fc.constant({});
  const members = fc
    .subarray(fields, { minLength: 0, maxLength: Math.min(fields.length, 4) })
    .chain((chosen) =>
      fc.tuple(
        ...chosen.map(({ name, type }) =>
          ofType(type, depth + 1).map((value): [string, Json] => [name, value]),
        ),
      ),
    );
  return fc
    .tuple(members, fc.constantFrom({}, {}, {}, { unknownField: 1 }))
    .map(([entries, extra]) => ({ ...Object.fromEntries(entries), ...extra }));
}

const kinds = [...KINDS].flatMap(([apiVersion, structs]) =>
  [...structs].map(([kind, struct]) => {
    const [left = '', right] = apiVersion.split('/');
    const group = right === undefined ? '' : left;
    return { struct, named: { group, version: right ?? left, kind } };
  }),
);

test('what has been decoded is left alone', () => {
  fc.assert(
    fc.property(
      fc
        .constantFrom(...kinds)
        .chain(({ struct, named }) => fc.tuple(fc.constant(named), ofStruct(struct, 0))),
      ([named, value]) => {
        const once = schema.decode(named, value);
        assert.equal(once.kind, 'decoded', JSON.stringify(once));
        const twice = schema.decode(named, once.object);
        assert.equal(twice.kind, 'decoded');
        assert.deepEqual(twice.unknownFields, []);
        assert.deepEqual(twice.object, once.object);
        assert.equal(twice.object, once.object);
      },
    ),
    { numRuns: RUNS },
  );
});

test('decoding never throws, whatever the value', () => {
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.jsonValue(), ({ named }, value) => {
      const outcome = schema.decode(named, value);
      assert.ok(outcome.kind === 'decoded' || outcome.kind === 'malformed');
    }),
    { numRuns: RUNS },
  );
});
