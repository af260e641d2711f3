/** Conditions that are read here; every other text is left to dynalite. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionOf, Undecided } from '../../../src/dynamodb/condition.ts';
import type { WireItem } from '../../../src/dynamodb/store.ts';

const item: WireItem = { pk: { S: 'p' }, stamp: { S: 'b' }, version: { N: '9' } };
const of = {
  names: { '#v': 'version' },
  values: { ':a': { S: 'a' }, ':b': { S: 'b' }, ':ten': { N: '10' }, ':bytes': { B: 'AA==' } },
};

function holds(text: string): boolean | undefined {
  return conditionOf(text)?.(item, of);
}

describe('a condition', () => {
  it('compares texts by their order, and numbers as numbers', () => {
    assert.equal(holds('stamp = :b'), true);
    assert.equal(holds('stamp > :a AND stamp <= :b'), true);
    assert.equal(holds('#v < :ten'), true, 'as texts 9 would be above 10');
    assert.equal(holds('stamp <> :b'), false);
  });

  it('finds two types unequal and in no order, and what is missing in none either', () => {
    assert.equal(holds('stamp = :ten'), false);
    assert.equal(holds('stamp <> :ten'), true);
    assert.equal(holds('stamp < :ten OR stamp >= :ten'), false);
    assert.equal(holds('none < :ten OR none = :ten'), false);
  });

  it('binds AND before OR, and NOT before both', () => {
    assert.equal(holds('stamp = :b OR stamp = :a AND stamp = :a'), true);
    assert.equal(holds('(stamp = :b OR stamp = :a) AND stamp = :a'), false);
    assert.equal(holds('NOT stamp = :a AND attribute_exists(pk)'), true);
    assert.equal(holds('attribute_not_exists(pk) OR attribute_not_exists(#v)'), false);
  });

  it('is not decided where two values are not compared here for certain', () => {
    assert.throws(() => holds('stamp = :bytes'), Undecided);
  });

  it('is not known in any other form', () => {
    const others = ['', 'a =', 'a.b = :a', 'a[0] = :a', 'size(a) > :a', 'begins_with(stamp, :a)'];
    for (const text of [...others, 'stamp = :a stamp', '(stamp = :a', 'a BETWEEN :a AND :b']) {
      assert.equal(conditionOf(text), undefined, text);
    }
  });
});
