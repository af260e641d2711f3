/** The store in memory: versions, order, indices, and who hears of what and when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import type { Store, StoreChange, Subscription } from '../../../src/store/store.ts';
import { storableNode, storablePod } from '../../support/stored-objects.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

function record(
  store: Store,
  wishes: Partial<Subscription> = {},
): { readonly seen: readonly StoreChange[]; readonly cancel: () => void } {
  const seen: StoreChange[] = [];
  const outcome = store.subscribe({
    resource: 'pods',
    afterVersion: 0n,
    onChange: (change) => {
      seen.push(change);
    },
    ...wishes,
  });
  assert(outcome.kind === 'subscribed');
  return { seen, cancel: outcome.cancel };
}

const told = (changes: readonly StoreChange[]): readonly string[] =>
  changes.map(({ type, object, version }) => `${type} ${object.metadata.name} ${String(version)}`);

const names = (objects: readonly { readonly metadata: { readonly name: string } }[]): unknown =>
  objects.map(({ metadata }) => metadata.name);

function large(name: string, annotations: Readonly<Record<string, string>>): ApiObject {
  const pod = storablePod({ name });
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

describe('objects', () => {
  test('each write takes the next version of one counter for all collections', () => {
    const store = createMemoryStore();
    assert.equal(store.version(), 0n);
    const pod = store.insert('pods', storablePod({ name: 'a' }));
    const node = store.insert('nodes', storableNode({ name: 'a' }));
    const changed = store.replace('pods', { ...pod, status: { phase: 'Running' } });
    const removed = store.remove({ resource: 'nodes', name: 'a' });
    assert.deepEqual(
      [pod, node, changed, removed].map(({ metadata }) => metadata.resourceVersion),
      ['1', '2', '3', '4'],
    );
    assert.equal(store.version(), 4n);
  });

  test('what was stored is handed out itself, without a copy', () => {
    const store = createMemoryStore();
    const pod = store.insert('pods', storablePod({ name: 'a' }));
    assert.equal(store.get({ resource: 'pods', namespace: 'default', name: 'a' }), pod);
    assert.equal(store.list('pods')[0], pod);
    assert.equal(store.get({ resource: 'pods', namespace: 'other', name: 'a' }), undefined);
    assert.equal(store.get({ resource: 'pods', name: 'a' }), undefined);
  });

  test('a replacement by an equal object is no write', async () => {
    const store = createMemoryStore();
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const pod = store.insert('pods', storablePod({ name: 'a', labels: { app: 'x' }, status }));
    const { seen } = record(store, { afterVersion: 1n });
    const equal = { ...storablePod({ name: 'a', labels: { app: 'x' } }), status, other: undefined };
    assert.equal(store.replace('pods', structuredClone(equal)), pod);
    assert.equal(store.version(), 1n);
    await settle();
    assert.deepEqual(seen, []);
  });

  for (const [what, status] of Object.entries({
    'a changed member': { phase: 'Failed', conditions: [{ type: 'Ready', status: 'True' }] },
    'a changed item': { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
    'a missing member': { phase: 'Running' },
    'a new member': { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ip: '' },
    'a shorter list': { phase: 'Running', conditions: [] },
    'null for a list': { phase: 'Running', conditions: null },
    'an object for a list': { phase: 'Running', conditions: {} },
  })) {
    test(`${what} is a write`, () => {
      const store = createMemoryStore();
      const before = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      store.insert('pods', storablePod({ name: 'a', status: before }));
      const pod = store.replace('pods', storablePod({ name: 'a', status }));
      assert.equal(pod.metadata.resourceVersion, '2');
      assert.deepEqual(pod['status'], status);
    });
  }

  test('to insert what exists, or to change what does not, is a bug of the caller', () => {
    const store = createMemoryStore();
    store.insert('pods', storablePod({ name: 'a' }));
    assert.throws(() => store.insert('pods', storablePod({ name: 'a' })), /default\/a exists/);
    assert.throws(() => store.replace('pods', storablePod({ name: 'b' })), /does not exist/);
    assert.throws(() => store.remove({ resource: 'pods', name: 'a' }), /does not exist/);
  });
});

describe('lists', () => {
  test('are in the order of the keys that etcd would hold, as bytes', () => {
    const store = createMemoryStore();
    const keys = [
      ['kube', 'z'],
      ['kube', 'a.b'],
      ['kube-system', 'b'],
      ['kube', 'a'],
      ['kube', 'a-1'],
      ['kube', '\u{1f600}'],
      ['kube', '\uffee'],
      ['a', 'a'],
    ] as const;
    for (const [namespace, name] of keys) store.insert('pods', storablePod({ name, namespace }));
    assert.deepEqual(
      store.list('pods').map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`),
      [
        'a/a',
        'kube-system/b',
        'kube/a',
        'kube/a-1',
        'kube/a.b',
        'kube/z',
        'kube/\uffee',
        'kube/\u{1f600}',
      ],
    );
    assert.deepEqual(names(store.list('pods', 'kube-system')), ['b']);
    assert.deepEqual(store.list('pods', 'none'), []);
  });

  test('follow writes, and a list that was handed out does not change', () => {
    const store = createMemoryStore();
    for (const name of ['c', 'a']) store.insert('pods', storablePod({ name }));
    const before = store.list('pods');
    store.insert('pods', storablePod({ name: 'b' }));
    store.remove({ resource: 'pods', namespace: 'default', name: 'c' });
    store.insert('pods', storablePod({ name: 'c', uid: 'second' }));
    store.remove({ resource: 'pods', namespace: 'default', name: 'a' });
    assert.deepEqual(names(before), ['a', 'c']);
    assert.deepEqual(names(store.list('pods')), ['b', 'c']);
    assert.equal(store.list('pods')[1]?.metadata.uid, 'second');
    assert.equal(store.list('pods'), store.list('pods'), 'made once between two writes');
    store.replace('pods', storablePod({ name: 'b', nodeName: 'one' }));
    assert.deepEqual(names(store.list('pods')), ['b', 'c']);
  });

  test('name an object once that came, went and came again between two lists', () => {
    const store = createMemoryStore();
    const ref = { resource: 'pods', namespace: 'default', name: 'a' } as const;
    const come = (): unknown => store.insert('pods', storablePod({ name: 'a' }));
    store.insert('pods', storablePod({ name: 'b' }));
    come();
    store.remove(ref);
    assert.deepEqual(names(store.list('pods')), ['b']);
    come();
    assert.deepEqual(names(store.list('pods')), ['a', 'b']);
  });

  test('of the pods on a node follow binding, rebinding and removal', () => {
    const store = createMemoryStore();
    const ref = { resource: 'pods', namespace: 'default', name: 'a' } as const;
    store.insert('pods', storablePod({ name: 'a' }));
    store.insert('pods', storablePod({ name: 'b', namespace: 'z', nodeName: 'one' }));
    assert.deepEqual(names(store.podsOnNode('one')), ['b']);
    store.replace('pods', storablePod({ name: 'a', nodeName: 'one' }));
    assert.deepEqual(names(store.podsOnNode('one')), ['a', 'b']);
    store.replace('pods', storablePod({ name: 'a', nodeName: 'two' }));
    assert.deepEqual(names(store.podsOnNode('one')), ['b']);
    assert.deepEqual(names(store.podsOnNode('two')), ['a']);
    store.remove(ref);
    assert.deepEqual(store.podsOnNode('two'), []);
  });
});

describe('subscriptions', () => {
  test('bring the past in order, then what comes, and nothing from inside a call', async () => {
    const store = createMemoryStore();
    store.insert('pods', storablePod({ name: 'a' }));
    store.insert('pods', storablePod({ name: 'b' }));
    await settle();
    const { seen } = record(store, { afterVersion: 1n });
    assert.equal(seen.length, 0);
    store.remove({ resource: 'pods', namespace: 'default', name: 'a' });
    assert.equal(seen.length, 0);
    await settle();
    assert.deepEqual(told(seen), ['ADDED b 2', 'DELETED a 3']);
    assert.equal(seen[1]?.previous?.metadata.resourceVersion, '1');
  });

  test('of a version that is yet to come begin after it', async () => {
    const store = createMemoryStore();
    const { seen } = record(store, { afterVersion: 2n });
    for (const name of ['a', 'b', 'c']) store.insert('pods', storablePod({ name }));
    await settle();
    assert.deepEqual(told(seen), ['ADDED c 3']);
  });

  test('can be for a namespace, a name or a node', async () => {
    const store = createMemoryStore();
    const inNamespace = record(store, { namespace: 'z' });
    const ofName = record(store, { name: 'b' });
    const ofBoth = record(store, { name: 'b', namespace: 'z' });
    const onNode = record(store, { nodeName: 'one' });
    const unbound = store.insert('pods', storablePod({ name: 'a' }));
    store.insert('pods', storablePod({ name: 'b' }));
    store.insert('pods', storablePod({ name: 'b', namespace: 'z' }));
    store.replace('pods', { ...unbound, spec: { nodeName: 'one' } });
    store.replace('pods', { ...unbound, spec: { nodeName: 'two' } });
    store.insert('nodes', storableNode({ name: 'b' }));
    await settle();
    assert.deepEqual(told(inNamespace.seen), ['ADDED b 3']);
    assert.deepEqual(told(ofName.seen), ['ADDED b 2', 'ADDED b 3']);
    assert.deepEqual(told(ofBoth.seen), ['ADDED b 3']);
    assert.deepEqual(told(onNode.seen), ['MODIFIED a 4', 'MODIFIED a 5']);
    const late = record(store, { nodeName: 'one' });
    await settle();
    assert.deepEqual(late.seen, onNode.seen, 'the past is told as the present was');
  });

  test('that were cancelled hear nothing more, not even of what waits for them', async () => {
    const store = createMemoryStore();
    const { seen, cancel } = record(store);
    const narrow = record(store, { namespace: 'default' });
    store.insert('pods', storablePod({ name: 'a' }));
    await settle();
    store.insert('pods', storablePod({ name: 'b' }));
    cancel();
    narrow.cancel();
    const late = record(store);
    late.cancel();
    await settle();
    store.insert('pods', storablePod({ name: 'c' }));
    await settle();
    assert.deepEqual(told(seen), ['ADDED a 1']);
    assert.deepEqual(told(narrow.seen), ['ADDED a 1']);
    assert.deepEqual(late.seen, []);
  });

  test('see one order although one of them writes while it is called', async () => {
    const store = createMemoryStore();
    const first: StoreChange[] = [];
    store.subscribe({
      resource: 'pods',
      afterVersion: 0n,
      onChange: (change) => {
        first.push(change);
        if (first.length <= 3) store.insert('pods', storablePod({ name: `by-${first.length}` }));
      },
    });
    const second = record(store);
    store.insert('pods', storablePod({ name: 'a' }));
    store.insert('pods', storablePod({ name: 'b' }));
    await settle();
    const expected = ['ADDED a 1', 'ADDED b 2', 'ADDED by-1 3', 'ADDED by-2 4', 'ADDED by-3 5'];
    assert.deepEqual(told(first), expected);
    assert.deepEqual(told(second.seen), expected);
  });

  test('made while a change is told get it once', async () => {
    const store = createMemoryStore();
    const inner: StoreChange[] = [];
    let isMade = false;
    record(store, {
      onChange: () => {
        if (isMade) return;
        isMade = true;
        for (const afterVersion of [0n, 1n]) {
          record(store, {
            afterVersion,
            onChange: (change) => {
              inner.push(change);
            },
          });
        }
      },
    });
    store.insert('pods', storablePod({ name: 'a' }));
    store.insert('pods', storablePod({ name: 'b' }));
    await settle();
    assert.deepEqual(told(inner), ['ADDED a 1', 'ADDED b 2', 'ADDED b 2']);
  });

  test('expire when the history of their collection does not reach back', async () => {
    const store = createMemoryStore({ historyMax: 3 });
    store.insert('nodes', storableNode({ name: 'n' }));
    for (const name of 'abcdefgh') store.insert('pods', storablePod({ name }));
    await settle();
    const late = (afterVersion: bigint): unknown =>
      store.subscribe({ resource: 'pods', afterVersion, onChange: () => undefined }).kind;
    assert.equal(late(5n), 'expired');
    assert.equal(late(6n), 'subscribed');
    const { seen } = record(store, { afterVersion: 6n });
    const nodes = record(store, { resource: 'nodes' });
    await settle();
    assert.deepEqual(told(seen), ['ADDED f 7', 'ADDED g 8', 'ADDED h 9']);
    assert.deepEqual(told(nodes.seen), ['ADDED n 1'], 'busy pods do not expire nodes');
  });

  test('expire sooner when changes hold much memory, those of the collection that holds most', async () => {
    const store = createMemoryStore({ historyBytesMax: 100_000 });
    const annotations = { text: 'x'.repeat(40_000) };
    store.insert('nodes', storableNode({ name: 'n' }));
    for (const name of 'abcdefgh') store.insert('pods', large(name, annotations));
    await settle();
    const late = (resource: 'pods' | 'nodes', afterVersion: bigint): unknown =>
      store.subscribe({ resource, afterVersion, onChange: () => undefined }).kind;
    assert.equal(late('pods', 6n), 'expired');
    assert.equal(late('pods', 7n), 'subscribed');
    assert.equal(late('nodes', 0n), 'subscribed');
  });

  test('reach back over a hundred small changes of one large object', async () => {
    const store = createMemoryStore({ historyBytesMax: 100_000 });
    let pod = store.insert('pods', large('a', { text: 'x'.repeat(60_000) }));
    for (let turn = 1; turn <= 100; turn += 1) {
      pod = store.replace('pods', { ...pod, status: { phase: `turn ${turn}` } });
    }
    assert.equal(store.changesAfter('pods', 1n)?.length, 100);
  });

  test('have a past that can also be read at once', () => {
    const store = createMemoryStore({ historyMax: 2 });
    for (const name of 'abc') store.insert('pods', storablePod({ name }));
    store.insert('nodes', storableNode({ name: 'n' }));
    assert.deepEqual(told(store.changesAfter('pods', 1n) ?? []), ['ADDED b 2', 'ADDED c 3']);
    assert.deepEqual(store.changesAfter('pods', 3n), []);
    assert.equal(store.changesAfter('pods', 0n), undefined, 'the first change is forgotten');
  });

  test('expire after a compaction, while running ones miss nothing', async () => {
    const store = createMemoryStore();
    const { seen } = record(store);
    store.insert('pods', storablePod({ name: 'a' }));
    store.compact();
    store.insert('pods', storablePod({ name: 'b' }));
    const outcomes = (['pods', 'nodes'] as const).map((resource) =>
      store.subscribe({ resource, afterVersion: 0n, onChange: () => undefined }),
    );
    await settle();
    assert.deepEqual(outcomes, [
      { kind: 'expired', oldestVersion: 1n },
      { kind: 'expired', oldestVersion: 1n },
    ]);
    assert.deepEqual(told(seen), ['ADDED a 1', 'ADDED b 2']);
    assert.deepEqual(told(record(store, { afterVersion: 1n }).seen), []);
  });
});
