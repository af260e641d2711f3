/** JSON Merge Patch: the vectors of RFC 7386. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@rollcall/base/json.ts';
import { applyMergePatch } from '../../../../src/api/patch/merge-patch.ts';

describe('applyMergePatch', () => {
  // RFC 7386, appendix A.
  const VECTORS: readonly (readonly [target: Json, patch: Json, result: Json])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of VECTORS) {
    it(`merges ${JSON.stringify(patch)} into ${JSON.stringify(target)}`, () => {
      assert.deepEqual(applyMergePatch(target, patch), result);
    });
  }

  it('shares what it does not touch', () => {
    const target = { kept: { a: 1 }, changed: 1 };
    const merged = applyMergePatch(target, { changed: 2 }) as typeof target;
    assert.equal(merged.kept, target.kept);
    assert.equal(target.changed, 1);
  });

  it('takes __proto__ as a member like any other', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}}') as Json;
    const merged = applyMergePatch({}, patch) as object;
    assert.ok(Object.hasOwn(merged, '__proto__'));
    assert.equal(Object.getPrototypeOf(merged), Object.prototype);
  });
});
