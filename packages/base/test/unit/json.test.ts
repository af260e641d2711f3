/** JSON values: one text for one meaning, and reading deep into foreign objects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, isSameJson, jsonItems, jsonMember } from '../../src/json.ts';
import type { Json } from '../../src/json.ts';

describe('canonicalJson', () => {
  it('sorts keys at every depth, and keeps the order of lists', () => {
    const value = { c: 'x', a: [2, { z: null, b: true }, 1], '"': -0.5 };
    assert.equal(canonicalJson(value), '{"\\"":-0.5,"a":[2,{"b":true,"z":null},1],"c":"x"}');
  });

  it('leaves out undefined members, as JSON does', () => {
    assert.equal(canonicalJson({ a: undefined, b: 1 }), '{"b":1}');
    assert.equal(canonicalJson(undefined), 'null');
  });

  it('is JSON that says the same', () => {
    const value = { list: [[], {}, ['a', 'b']], deep: { er: { text: 'ü "quoted", too' } } };
    assert.deepEqual(JSON.parse(canonicalJson(value)), value);
  });
});

describe('isSameJson', () => {
  /** Few names and values, so that many are the same; names that every object has from its prototype. */
  const value = fc.letrec<{ readonly any: Json }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<Json>(null, 0, 1, '', 'a', true),
      fc.array(tie('any'), { maxLength: 2 }),
      fc.dictionary(
        fc.constantFrom('a', 'b', 'toString'),
        fc.option(tie('any'), { nil: undefined }) as fc.Arbitrary<Json>,
        { maxKeys: 2 },
      ),
    ),
  })).any;

  it('says what canonical texts say', () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        assert.equal(isSameJson(left, right), canonicalJson(left) === canonicalJson(right));
        assert.ok(isSameJson(left, structuredClone(left)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not take for a member what an object has from its prototype', () => {
    assert.ok(!isSameJson(JSON.parse('{"__proto__":{}}') as Json, {}));
    assert.ok(!isSameJson({}, JSON.parse('{"__proto__":{}}') as Json));
    assert.ok(!isSameJson({ constructor: {} }, { toString: {} }));
    assert.ok(isSameJson(undefined, null));
  });
});

describe('reading into what may be anything', () => {
  it('finds members of objects and items of lists, and nothing anywhere else', () => {
    assert.equal(jsonMember({ a: 1 }, 'a'), 1);
    assert.deepEqual(jsonItems([1, 2]), [1, 2]);
    for (const other of [undefined, null, 'text', 5, true]) {
      assert.equal(jsonMember(other, 'length'), undefined);
      assert.deepEqual(jsonItems(other), []);
    }
    assert.equal(jsonMember([1], 'length'), undefined);
    assert.deepEqual(jsonItems({ length: 1, 0: 'a' }), []);
  });
});
