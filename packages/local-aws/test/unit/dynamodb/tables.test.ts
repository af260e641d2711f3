/** The tables by themselves: what bounds an answer, what rebuilds them, and what they refuse by name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Tables } from '../../../src/dynamodb/tables.ts';
import type { Fields, TableFact } from '../../../src/dynamodb/tables.ts';
import type { WireItem } from '../../../src/dynamodb/values.ts';

const TABLE = { TableName: 't' };
const LARGE = 'x'.repeat(300_000);

interface Answer {
  readonly Items?: readonly WireItem[];
  readonly LastEvaluatedKey?: WireItem;
  readonly Responses?: Readonly<Record<string, readonly WireItem[]>>;
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: readonly WireItem[] }>>;
}

function open(record?: (fact: TableFact) => void): (name: string, fields: Fields) => Answer {
  const tables = new Tables(record);
  const names = ['pk', 'sk'];
  tables.perform('CreateTable', {
    ...TABLE,
    KeySchema: names.map((AttributeName, index) => ({
      AttributeName,
      KeyType: index === 0 ? 'HASH' : 'RANGE',
    })),
    AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  });
  return (name, fields) =>
    tables.perform(name, 'RequestItems' in fields ? fields : { ...TABLE, ...fields });
}

function keyOf(pk: string, sk: string): WireItem {
  return { pk: { S: pk }, sk: { S: sk } };
}

const skOf = ({ sk }: WireItem): unknown => sk?.['S'];

describe('a page', () => {
  it('of a scan or query ends at a megabyte, and the next goes on after it', () => {
    const perform = open();
    for (const sk of ['1', '2', '3', '4', '5', '6']) {
      const Item = { ...keyOf(Number(sk) < 4 ? 'a' : 'b', sk), body: { S: LARGE } };
      perform('PutItem', { Item });
    }
    const first = perform('Scan', {});
    assert.deepEqual(first.Items?.map(skOf), ['1', '2', '3', '4']);
    assert.deepEqual(first.LastEvaluatedKey, keyOf('b', '4'));
    const second = perform('Scan', { ExclusiveStartKey: first.LastEvaluatedKey });
    assert.deepEqual(second.Items?.map(skOf), ['5', '6']);
    assert.equal(second.LastEvaluatedKey, undefined);
  });

  it('of a batch get leaves unread what is beyond 16 megabytes', () => {
    const perform = open();
    const Keys = Array.from({ length: 60 }, (_, index) => keyOf('a', String(index)));
    for (const key of Keys) perform('PutItem', { Item: { ...key, body: { S: LARGE } } });
    const RequestItems = { t: { Keys, ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = perform('BatchGetItem', { RequestItems });
    assert.equal(Responses?.['t']?.length, 55);
    assert.deepEqual(UnprocessedKeys?.['t'], { Keys: Keys.slice(55), ConsistentRead: true });
  });
});

it('the facts of a table rebuild it, as do those that were recorded one by one', () => {
  const facts: TableFact[] = [];
  const perform = open((fact) => facts.push(fact));
  for (const sk of ['1', '2', '3']) perform('PutItem', { Item: keyOf('a', sk) });
  perform('DeleteItem', { Key: keyOf('a', '2') });
  const rebuilt = new Tables();
  for (const fact of facts) rebuilt.replay(fact);
  const again = new Tables();
  for (const fact of rebuilt.facts()) again.replay(fact);
  const { Items } = again.perform('Scan', TABLE) as Answer;
  assert.deepEqual(Items?.map(skOf), ['1', '3']);
  rebuilt.replay({ op: 'drop', table: 't' });
  assert.throws(() => rebuilt.perform('Scan', TABLE), /Table: t not found/);
});

it('an operation, a parameter or a table of another kind is refused by its name', () => {
  const perform = open();
  assert.throws(() => perform('TransactWriteItems', {}), /operation TransactWriteItems/);
  assert.throws(() => perform('Scan', { FilterExpression: 'a = b' }), /parameter FilterExpression/);
  assert.throws(() => perform('CreateTable', { TableName: 'u' }), /other keys than/);
  assert.throws(() => perform('PutItem', { Item: { pk: { S: 'a' } } }), /key of the table/);
});
