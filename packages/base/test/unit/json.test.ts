/** JSON values: one text for one meaning, and reading deep into foreign objects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
  it('goes by names and values, not by their order (against canonical texts: test/property/base/json.test.ts)', () => {
    const value = { a: [1, { b: null }], c: 'x' };
    assert.ok(isSameJson(value, { c: 'x', d: undefined, a: [1, { b: null }] }));
    for (const other of [{ ...value, c: 'y' }, { ...value, d: 1 }, { a: value.a }, [value], null]) {
      assert.ok(!isSameJson(value, other) && !isSameJson(other, value));
    }
    assert.ok(!isSameJson([1, 2], [1]) && !isSameJson([1], { 0: 1 }));
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
