/** Pages of lists, read item by item (design 2; faults row 35). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListPageReader } from '../../../../../src/adapters/kubernetes/watch/list-page.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../../../../src/core/model/projections.ts';
import type { ListPage } from '../../../../../src/ports/cluster/watch-source.ts';

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

/** What a reader tells of a body that comes in chunks of so many bytes. */
function readPage(
  body: Buffer,
  kind: WatchedKind,
  chunkBytes = 16,
): { readonly page: ListPage | undefined; readonly items: readonly KubernetesObject[] } {
  const items: KubernetesObject[] = [];
  const reader = new ListPageReader(kind, (item) => items.push(item));
  for (let at = 0; at < body.length; at += chunkBytes) {
    // A copy: who reads a view of the chunk later would read something else.
    const chunk = Buffer.from(body.subarray(at, at + chunkBytes));
    reader.read(chunk);
  }
  return { page: reader.end(), items };
}

test('a page has its version, its token and its items; pods of others are skimmed', () => {
  const body = pageOf([ORPHAN, FOREIGN], { resourceVersion: '7', continue: 'next' });
  const pods = readPage(body, 'Pod');
  assert.deepEqual(pods.page, { resourceVersion: '7', continueToken: 'next' });
  assert.deepEqual(pods.items, [ORPHAN, { metadata: { ...IDENTITY, ownerReferences: [OWNER] } }]);
  assert.deepEqual(readPage(body, 'Node').items, [ORPHAN, FOREIGN]);
});

test('an item is told as soon as its last byte has come', () => {
  const items: KubernetesObject[] = [];
  const reader = new ListPageReader('Node', (item) => items.push(item));
  const body = pageOf([ORPHAN, FOREIGN]);
  const end = body.indexOf(JSON.stringify(FOREIGN));
  reader.read(body.subarray(0, end - 2));
  assert.equal(items.length, 0);
  reader.read(body.subarray(end - 2, end));
  assert.deepEqual(items, [ORPHAN]);
});

test('a list of nothing has no items, and no token where there is none', () => {
  for (const nothing of [[], null, undefined]) {
    const body = pageOf(nothing, { resourceVersion: '7', continue: '' });
    const { page, items } = readPage(body, 'Pod');
    assert.ok(page !== undefined && !('continueToken' in page));
    assert.deepEqual(items, []);
  }
});

test('a page that is laid out otherwise is read all the same', () => {
  const metadata = { resourceVersion: '7' };
  const note = 'x'.repeat(100_000);
  const odd = [
    JSON.stringify({ items: [ORPHAN], metadata }),
    JSON.stringify({ metadata, items: [ORPHAN] }, null, 2),
    JSON.stringify({ metadata: { note, ...metadata }, items: [ORPHAN] }),
  ];
  for (const text of odd) {
    assert.deepEqual(readPage(Buffer.from(text), 'Pod', 1000).items, [ORPHAN]);
  }
});

test('what is no page is none: no version, no object, no JSON', () => {
  const none = ['', '[]', '{"metadata":{}}', '{"items":[]}', '{"metadata":{"resourceVersion":"7"}'];
  for (const text of none) {
    assert.equal(readPage(Buffer.from(text), 'Pod').page, undefined, text);
  }
  assert.deepEqual(readPage(pageOf([ORPHAN], {}), 'Pod'), { page: undefined, items: [] });
});

test('row 35: a page that is cut short, or has an item that is none, is never a shorter list', () => {
  const whole = pageOf([ORPHAN, ORPHAN]);
  const itemsStart = whole.indexOf('[') + 1;
  const itemsEnd = whole.lastIndexOf(']');
  for (let length = itemsStart; length <= itemsEnd; length += 1) {
    const cut = whole.subarray(0, length);
    assert.throws(() => readPage(cut, 'Pod'), { name: 'ListItemError' }, String(length));
  }
  for (const item of [7, null, {}, [], 'text']) {
    assert.throws(() => readPage(pageOf([ORPHAN, item]), 'Pod'), { name: 'ListItemError' });
  }
});

test('items are what JSON.parse makes of them, wherever the body was cut into chunks', () => {
  const item = fc.record({ metadata: fc.record({ name: fc.string({ unit: 'grapheme' }) }) });
  const extra = fc.dictionary(fc.string(), fc.jsonValue());
  const whole = fc.tuple(item, extra).map(([one, more]) => ({ ...one, spec: more }));
  const items = fc.array(whole, { maxLength: 5 });
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 200 }), (listed, chunkBytes) => {
      const expected = JSON.parse(JSON.stringify(listed)) as unknown;
      assert.deepEqual(readPage(pageOf(listed), 'DaemonSet', chunkBytes).items, expected);
    }),
    { numRuns: 200 },
  );
});
