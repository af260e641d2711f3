/** The journal: what a restart finds, after an orderly end and after a kill at any byte. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { openJournal } from '../../../src/store/journal.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { storableNode, storablePod } from '../../support/stored-objects.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

const root = mkdtempSync(path.join(tmpdir(), 'rollcall-journal-'));
after(() => {
  rmSync(root, { recursive: true, force: true });
});

const newDirectory = (): string => mkdtempSync(path.join(root, 'test-'));
const fileIn = (directory: string): string => path.join(directory, 'objects.ndjson');

interface State {
  readonly version: bigint;
  readonly pods: readonly unknown[];
  readonly nodes: readonly unknown[];
}

const stateOf = (store: Store): State => ({
  version: store.version(),
  pods: store.list('pods'),
  nodes: store.list('nodes'),
});

/** Opens, reads and closes. */
function reopen(directory: string): State & { readonly droppedBytes: number } {
  const journal = openJournal(directory);
  const state = stateOf(createMemoryStore({ journal }));
  journal.close();
  return { ...state, droppedBytes: journal.droppedBytes };
}

describe('a restart', () => {
  test('finds the objects and goes on counting, but knows no history', async () => {
    const directory = newDirectory();
    const journal = openJournal(directory);
    const store = createMemoryStore({ journal });
    assert.equal(store.version(), 0n);
    const pod = store.insert('pods', storablePod({ name: 'a', nodeName: 'one' }));
    store.insert('pods', storablePod({ name: 'é', namespace: 'z' }));
    store.insert('nodes', storableNode({ name: 'one' }));
    store.replace('pods', { ...pod, status: { phase: 'Running' } });
    store.remove({ resource: 'pods', namespace: 'z', name: 'é' });
    store.remove({ resource: 'nodes', name: 'one' });
    await settle();
    const before = stateOf(store);
    journal.close();

    const again = openJournal(directory);
    const restarted = createMemoryStore({ journal: again });
    assert.deepEqual(stateOf(restarted), before);
    assert.equal(again.droppedBytes, 0);
    assert.equal(restarted.podsOnNode('one').length, 1);
    const late = { resource: 'pods', onChange: () => undefined } as const;
    assert.equal(restarted.subscribe({ ...late, afterVersion: 5n }).kind, 'expired');
    assert.equal(restarted.subscribe({ ...late, afterVersion: 6n }).kind, 'subscribed');
    assert.equal(
      restarted.insert('pods', storablePod({ name: 'b' })).metadata.resourceVersion,
      '7',
    );
    again.close();
    assert.equal(reopen(directory).version, 7n);
  });

  test('finds what any subscriber was told of, even without an end', async () => {
    const directory = newDirectory();
    const store = createMemoryStore({ journal: openJournal(directory) });
    const found: unknown[] = [];
    store.subscribe({
      resource: 'pods',
      afterVersion: 0n,
      onChange: ({ object }) => {
        const text = readFileSync(fileIn(directory), 'utf8');
        found.push(text.includes(`"${object.metadata.name}"`));
        if (found.length < 3) {
          store.insert('pods', storablePod({ name: `again-${String(found.length)}` }));
        }
      },
    });
    store.insert('pods', storablePod({ name: 'first' }));
    await settle();
    assert.deepEqual(found, [true, true, true]);
  });

  test('knows the newest version although another object is the last in the file', async () => {
    const directory = newDirectory();
    const journal = openJournal(directory);
    const store = createMemoryStore({ journal });
    const first = store.insert('pods', storablePod({ name: 'a' }));
    store.insert('pods', storablePod({ name: 'b' }));
    store.replace('pods', { ...first, status: { phase: 'Running' } });
    await settle();
    journal.close();
    for (let round = 0; round < 2; round += 1) assert.equal(reopen(directory).version, 3n);
  });

  test('begins with a file without history', async () => {
    const directory = newDirectory();
    const journal = openJournal(directory);
    const store = createMemoryStore({ journal });
    const pod = store.insert('pods', storablePod({ name: 'a' }));
    for (let restarts = 0; restarts < 100; restarts += 1) {
      store.replace('pods', { ...pod, status: { restarts } });
    }
    await settle();
    const before = stateOf(store);
    journal.close();
    const grownBytes = statSync(fileIn(directory)).size;
    assert.deepEqual(reopen(directory), { ...before, droppedBytes: 0 });
    assert(statSync(fileIn(directory)).size < grownBytes / 20);
    assert.equal(readFileSync(fileIn(directory), 'utf8').trimEnd().split('\n').length, 2);
  });
});

test('a journal that grows is rewritten while it is used, and loses nothing', async () => {
  const directory = newDirectory();
  const journal = openJournal(directory, { rewriteBytesMin: 20_000 });
  const store = createMemoryStore({ journal });
  let largestBytes = 0;
  for (let round = 0; round < 400; round += 1) {
    const name = `pod-${String(round % 7)}`;
    const wished = storablePod({ name, status: { round } });
    const ref = { resource: 'pods', namespace: 'default', name } as const;
    if (store.get(ref) === undefined) store.insert('pods', wished);
    else if (round % 5 === 0) store.remove(ref);
    else store.replace('pods', wished);
    await Promise.resolve();
    largestBytes = Math.max(largestBytes, statSync(fileIn(directory)).size);
  }
  await settle();
  assert(largestBytes < 25_000, `${String(largestBytes)} bytes`);
  const before = stateOf(store);
  journal.close();
  assert.deepEqual(reopen(directory), { ...before, droppedBytes: 0 });
});

test('a kill at any byte leaves the state after one of the writes, and the rest is reported', async () => {
  const directory = newDirectory();
  const journal = openJournal(directory);
  const store = createMemoryStore({ journal });
  const headBytes = statSync(fileIn(directory)).size;
  const states: State[] = [stateOf(store)];
  const pod = store.insert('pods', storablePod({ name: 'a', labels: { text: 'grüße' } }));
  states.push(stateOf(store));
  store.replace('pods', { ...pod, status: { phase: 'Running' } });
  states.push(stateOf(store));
  store.insert('nodes', storableNode({ name: 'n' }));
  states.push(stateOf(store));
  store.remove({ resource: 'pods', namespace: 'default', name: 'a' });
  states.push(stateOf(store));
  await settle();
  journal.close();
  const bytes = readFileSync(fileIn(directory));

  const target = newDirectory();
  for (let length = headBytes; length <= bytes.length; length += 1) {
    writeFileSync(fileIn(target), bytes.subarray(0, length));
    const { droppedBytes, ...state } = reopen(target);
    const wholeLines = bytes.subarray(0, length).filter((byte) => byte === 10).length - 1;
    assert.deepEqual(state, states[wholeLines], `cut after ${String(length)} bytes`);
    assert.equal(droppedBytes, length - 1 - bytes.subarray(0, length).lastIndexOf(10));
  }
});

test('writing goes on behind a line that was cut short', async () => {
  const directory = newDirectory();
  reopen(directory);
  appendFileSync(fileIn(directory), '{"put":"pods","obj');
  const journal = openJournal(directory);
  assert.equal(journal.droppedBytes, 18);
  const store = createMemoryStore({ journal });
  store.insert('pods', storablePod({ name: 'a' }));
  await settle();
  journal.close();
  const { version, droppedBytes } = reopen(directory);
  assert.deepEqual({ version, droppedBytes }, { version: 1n, droppedBytes: 0 });
});

for (const [what, line] of Object.entries({
  'that is no JSON': '{"put":"pods"',
  'of another kind': '{"hello":"world"}',
  'without a version': '{"put":"pods","object":{"metadata":{"name":"a"}}}',
})) {
  test(`a line ${what} is an error that names it`, () => {
    const directory = newDirectory();
    reopen(directory);
    appendFileSync(fileIn(directory), `${line}\n`);
    assert.throws(() => openJournal(directory), /objects\.ndjson:2 is damaged; remove the data/);
  });
}
