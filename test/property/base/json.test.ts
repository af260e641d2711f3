/** Two JSON values are the same exactly if their canonical texts are equal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, isSameJson, type Json } from '@rollcall/base/json.ts';

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
});
