/** Label selectors (spec 2.2, 2.4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileSelector, isEmptySelector } from '../../src/label-selector.ts';
import type { LabelSelector } from '../../src/objects.ts';

describe('isEmptySelector (spec 2.3 step 4)', () => {
  const rows: readonly [string, LabelSelector | undefined, boolean][] = [
    ['nothing at all', undefined, true],
    ['no members', {}, true],
    ['empty members', { matchLabels: {}, matchExpressions: [] }, true],
    ['a label', { matchLabels: { a: 'b' } }, false],
    ['an expression', { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, false],
  ];
  for (const [title, selector, expected] of rows) {
    it(`is ${expected} for ${title}`, () => assert.equal(isEmptySelector(selector), expected));
  }
});

describe('compileSelector (spec 2.4)', () => {
  const labels = { app: 'agent', tier: 'node' };
  const expression = (
    key: string,
    operator: string,
    values?: readonly string[],
  ): LabelSelector => ({
    matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }],
  });
  const rows: readonly [string, LabelSelector, boolean][] = [
    ['all labels', { matchLabels: { app: 'agent', tier: 'node' } }, true],
    ['one label of two', { matchLabels: { app: 'agent', tier: 'edge' } }, false],
    ['an inherited member', { matchLabels: { toString: 'x' } }, false],
    ['In with the value', expression('app', 'In', ['x', 'agent']), true],
    ['In without the value', expression('app', 'In', ['x']), false],
    ['In of an absent label', expression('gone', 'In', ['x']), false],
    ['NotIn with the value', expression('app', 'NotIn', ['agent']), false],
    ['NotIn without the value', expression('app', 'NotIn', ['x']), true],
    ['NotIn of an absent label', expression('gone', 'NotIn', ['x']), true],
    ['Exists', expression('app', 'Exists'), true],
    ['Exists of an absent label', expression('gone', 'Exists'), false],
    ['DoesNotExist', expression('app', 'DoesNotExist'), false],
    ['DoesNotExist of an absent label', expression('gone', 'DoesNotExist'), true],
    [
      'labels and expressions, of which one fails',
      { matchLabels: { app: 'agent' }, ...expression('tier', 'DoesNotExist') },
      false,
    ],
  ];
  for (const [title, selector, expected] of rows) {
    it(`${expected ? 'matches' : 'does not match'} ${title}`, () => {
      const compiled = compileSelector(selector);
      assert.equal(compiled.invalid, undefined);
      assert.equal(compiled.matches(labels), expected);
    });
  }

  const invalid: readonly [string, LabelSelector | undefined, RegExp][] = [
    ['an empty selector', {}, /empty/],
    ['no selector', undefined, /empty/],
    ['In without values', expression('app', 'In', []), /needs values/],
    ['NotIn without values', expression('app', 'NotIn'), /needs values/],
    ['Exists with values', expression('app', 'Exists', ['x']), /takes no values/],
    ['DoesNotExist with values', expression('app', 'DoesNotExist', ['x']), /takes no values/],
    ['an unknown operator', expression('app', 'Near', ['x']), /not known/],
  ];
  for (const [title, selector, message] of invalid) {
    it(`matches nothing and says why for ${title}`, () => {
      const compiled = compileSelector(selector);
      assert.match(compiled.invalid ?? '', message);
      assert.equal(compiled.matches(labels), false);
    });
  }
});
