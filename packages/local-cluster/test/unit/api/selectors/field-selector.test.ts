/** Field selectors: terms and escapes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFieldSelector } from '../../../../src/api/selectors/field-selector.ts';

function termsOf(text: string): readonly string[] | string {
  const outcome = parseFieldSelector(text);
  if (outcome.kind === 'malformed') return 'malformed';
  return outcome.terms.map(
    ({ field, isEqual, value }) => `${field} ${isEqual ? 'is' : 'not'} ${value}`,
  );
}

describe('parseFieldSelector', () => {
  const CASES: readonly (readonly [text: string, expected: readonly string[] | 'malformed'])[] = [
    ['', []],
    [',', []],
    ['metadata.name=a', ['metadata.name is a']],
    ['metadata.name==a,spec.nodeName!=', ['metadata.name is a', 'spec.nodeName not ']],
    ['a=b\\,c\\=d\\\\e', ['a is b,c=d\\e']],
    ['a', 'malformed'],
    ['a=b=c', 'malformed'],
    ['a=b\\c', 'malformed'],
  ];
  for (const [text, expected] of CASES) {
    it(`reads '${text}'`, () => {
      assert.deepEqual(termsOf(text), expected);
    });
  }
});
