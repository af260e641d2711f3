/** Conditions and updates that the local table knows; every other is refused. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Expressions } from '../../../src/dynamodb/expressions.ts';
import type { WireItem } from '../../../src/dynamodb/values.ts';

const item: WireItem = { pk: { S: 'p' }, stamp: { S: 'b' }, version: { N: '9' } };
const given = {
  ExpressionAttributeNames: { '#v': 'version', '#m': 'map', '#c': 'count' },
  ExpressionAttributeValues: {
    ':a': { S: 'a' },
    ':b': { S: 'b' },
    ':ten': { N: '10' },
    ':bytes': { B: 'AA==' },
  },
};

function holds(text: string): boolean {
  return new Expressions(given).condition(text)(item);
}

function updated(text: string, stored: WireItem = item): WireItem {
  return new Expressions(given).update(text)(stored);
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
    assert.equal(holds('absent < :ten OR absent = :ten'), false);
  });

  it('binds AND before OR, and NOT before both', () => {
    assert.equal(holds('stamp = :b OR stamp = :a AND stamp = :a'), true);
    assert.equal(holds('(stamp = :b OR stamp = :a) AND stamp = :a'), false);
    assert.equal(holds('NOT stamp = :a AND attribute_exists(pk)'), true);
    assert.equal(holds('attribute_not_exists(pk) OR attribute_not_exists(#v)'), false);
  });

  it('compares bytes by their order', () => {
    assert.equal(holds(':bytes <= :bytes AND NOT :bytes < :bytes'), true);
  });

  it('of any other form is refused, never true', () => {
    const others = ['', 'a =', 'a[0] = :a', 'size(a) > :a', 'begins_with(stamp)', 'a + b = :a'];
    for (const text of [...others, 'stamp = :a stamp', '(stamp = :a', 'a BETWEEN :a AND :b']) {
      assert.throws(() => holds(text), /does not know/, text);
    }
    assert.throws(() => holds('stamp = :none'), /:none is not defined/);
    assert.throws(() => holds('count = :a'), /reserved keyword: count/);
  });
});

describe('an update', () => {
  it('sets, adds and removes, each from what stood there before', () => {
    const text = 'SET stamp = :a, former = stamp ADD #v :ten REMOVE pk2';
    assert.deepEqual(updated(text, { ...item, pk2: { S: 'x' } }), {
      ...item,
      stamp: { S: 'a' },
      former: { S: 'b' },
      version: { N: '19' },
    });
  });

  it('changes one member of a map, which must be there', () => {
    const map = { M: { one: { S: 'x' }, other: { S: 'y' } } };
    const after = { M: { one: { S: 'a' }, other: { S: 'y' } } };
    assert.deepEqual(updated('SET #m.one = :a', { ...item, map })['map'], after);
    assert.throws(() => updated('SET #m.one = :a'), /not in the item/);
  });

  it('of a key, of one path twice, or of any other form is refused', () => {
    assert.throws(() => updated('SET sk = :a'), /part of the key/);
    assert.throws(() => updated('SET stamp = :a, stamp = :b'), /overlap/);
    for (const text of ['SET stamp :a', 'SET l = list_append(l, :a)', 'PUT stamp = :a', 'SET']) {
      assert.throws(() => updated(text), /does not know/, text);
    }
  });
});

it('placeholders that nothing used are refused', () => {
  const expressions = new Expressions({ ExpressionAttributeValues: { ':a': { S: 'a' } } });
  assert.throws(() => {
    expressions.end();
  }, /unused/);
});
