/** Pages of lists, read item by item (design 2; faults row 35). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readListPage } from '../../../../src/adapters/kubernetes/list-page.ts';

const OWNER = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'r',
  uid: 'r-1',
  controller: true,
};
const IDENTITY = { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '5' };
const FOREIGN = {
  metadata: { ...IDENTITY, labels: { a: 'b' }, ownerReferences: [OWNER] },
  spec: {},
};
const ORPHAN = { metadata: { ...IDENTITY, labels: { text: 'a ]}," b' } }, spec: { nodeName: 'n' } };

function pageOf(items: unknown, metadata: object = { resourceVersion: '7' }): Buffer {
  return Buffer.from(`${JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata, items })}\n`);
}

test('a page has its version, its token and its items; pods of others are skimmed', () => {
  const body = pageOf([ORPHAN, FOREIGN], { resourceVersion: '7', continue: 'next' });
  const page = readListPage(body, 'Pod');
  assert.equal(page?.resourceVersion, '7');
  assert.equal(page.continueToken, 'next');
  assert.deepEqual(
    [...page.items],
    [ORPHAN, { metadata: { ...IDENTITY, ownerReferences: [OWNER] } }],
  );
  assert.deepEqual([...(readListPage(body, 'Node')?.items ?? [])], [ORPHAN, FOREIGN]);
});

test('a list of nothing has no items, and no token where there is none', () => {
  for (const nothing of [[], null, undefined]) {
    const page = readListPage(pageOf(nothing, { resourceVersion: '7', continue: '' }), 'Pod');
    assert.ok(page !== undefined && !('continueToken' in page));
    assert.deepEqual([...page.items], []);
  }
});

test('a page that is laid out otherwise is read all the same', () => {
  const metadata = { resourceVersion: '7' };
  const odd = [
    JSON.stringify({ items: [ORPHAN], metadata }),
    JSON.stringify({ metadata, items: [ORPHAN] }, null, 2),
  ];
  for (const text of odd) {
    assert.deepEqual([...(readListPage(Buffer.from(text), 'Pod')?.items ?? [])], [ORPHAN]);
  }
});

test('what is no page is none: no version, no object, no JSON', () => {
  const none = ['', '[]', '{"metadata":{}}', '{"items":[]}', '{"metadata":{"resourceVersion":"7"}'];
  for (const text of none) assert.equal(readListPage(Buffer.from(text), 'Pod'), undefined, text);
  assert.equal(readListPage(pageOf([], {}), 'Pod'), undefined);
});

test('row 35: a page that is cut short, or has an item that is none, is never a shorter list', () => {
  const whole = pageOf([ORPHAN, ORPHAN]);
  const cut = readListPage(whole.subarray(0, whole.length - 20), 'Pod');
  assert.throws(() => [...(cut?.items ?? [])], { name: 'ListItemError' });
  for (const item of [7, null, {}, [], 'text']) {
    const page = readListPage(pageOf([ORPHAN, item]), 'Pod');
    assert.throws(() => [...(page?.items ?? [])], { name: 'ListItemError' });
  }
});

test('items are what JSON.parse makes of them', () => {
  const item = fc.record({ metadata: fc.record({ name: fc.string({ unit: 'grapheme' }) }) });
  const extra = fc.dictionary(fc.string(), fc.jsonValue());
  const whole = fc.tuple(item, extra).map(([one, more]) => ({ ...one, spec: more }));
  fc.assert(
    fc.property(fc.array(whole, { maxLength: 5 }), (items) => {
      const expected = JSON.parse(JSON.stringify(items)) as unknown;
      assert.deepEqual([...(readListPage(pageOf(items), 'DaemonSet')?.items ?? [])], expected);
    }),
    { numRuns: 200 },
  );
});
