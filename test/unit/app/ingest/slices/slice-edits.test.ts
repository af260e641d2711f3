/** What messages change in slices, and what of a slice is given up when it does not fit (A.7). */
import assert from 'node:assert/strict';
import { isItemTooLarge } from '../../../../../src/ports/stores/view-store.ts';
import { describe, it } from 'node:test';
import { replacing, type SliceObjects } from '../../../../../src/app/ingest/slices/slice-edits.ts';
import { noteTooLarge, thinnedOut } from '../../../../../src/app/ingest/slices/too-large.ts';
import { clusterUid } from '../../../../../src/core/model/identifiers.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../../../support/memory-metrics.ts';
import { nodeOf } from '../../../../support/scripted-sender.ts';

type Entry = SliceObjects[number];

function entryOf(name: string, hash = 1, change: { version?: number; note?: string } = {}): Entry {
  const { object } = nodeOf(name, change.version ?? 1, { note: change.note ?? '' });
  return { object, hash };
}

describe('a slice that comes whole', () => {
  const stored = [entryOf('a', 1), entryOf('b', 2)];
  const editOf = (objects: SliceObjects, rewritesAll = false): SliceObjects | undefined =>
    replacing({ set: 'nodes', index: 3, objects }, { rewritesAll }).edit(stored);

  it('is not written where it holds the same, in whatever order and of whatever versions', () => {
    assert.equal(
      editOf([entryOf('b', 2, { version: 7 }), entryOf('a', 1, { version: 8 })]),
      undefined,
    );
  });

  it('is written where an object has come, gone, changed, or stands for another', () => {
    for (const objects of [
      [entryOf('a', 1)],
      [...stored, entryOf('c', 3)],
      [entryOf('a', 1), entryOf('b', 9)],
      [entryOf('a', 1), entryOf('c', 2)],
      [],
    ]) {
      assert.equal(editOf(objects), objects);
    }
  });

  it('is written after a loss, whatever it holds; where none was, it is made', () => {
    assert.equal(editOf(stored, true), stored);
    const edit = replacing({ set: 'nodes', index: 3, objects: stored }, { rewritesAll: false });
    assert.deepEqual([edit.set, edit.index, edit.ifMissing], ['nodes', 3, 'create']);
  });
});

describe('a slice that does not fit its item (A.7)', () => {
  const sized = ['', 'x', 'xx', 'xxx', 'xxxx'].map((note, index) =>
    entryOf(`n${index}`, index, { note }),
  );
  const opaqueIn = (objects: SliceObjects | undefined): readonly string[] =>
    (objects ?? [])
      .filter(({ object }) => object.kind === 'Opaque')
      .map(({ object }) => object.name);

  it('loses the larger half of what can be read, an odd one with it; places and hashes stay', () => {
    const once = thinnedOut(sized) ?? assert.fail();
    assert.deepEqual(opaqueIn(once), ['n2', 'n3', 'n4']);
    assert.deepEqual(
      once.map(({ hash }) => hash),
      [0, 1, 2, 3, 4],
    );
    assert.deepEqual(opaqueIn(thinnedOut(once)), ['n1', 'n2', 'n3', 'n4']);
  });

  it('names what became opaque, and why', () => {
    const { uid: nodeUid, resourceVersion } = entryOf('n').object;
    assert.deepEqual(thinnedOut([entryOf('n')])?.[0]?.object, {
      kind: 'Opaque',
      of: 'Node',
      name: 'n',
      uid: nodeUid,
      resourceVersion,
      reason: 'too-large',
    });
  });

  it('cannot lose more once everything is opaque', () => {
    let objects: SliceObjects | undefined = sized;
    let turns = 0;
    for (; objects !== undefined; objects = thinnedOut(objects)) turns += 1;
    assert.equal(turns, 4, 'five of five, in three turns');
  });

  it('is told from any other failure of the table', () => {
    assert.equal(isItemTooLarge(Object.assign(new Error('x'), { code: 'item-too-large' })), true);
    assert.equal(isItemTooLarge(Object.assign(new Error('x'), { code: 'throttled' })), false);
    assert.equal(isItemTooLarge(new Error('item-too-large')), false);
    assert.equal(isItemTooLarge({ code: 'item-too-large' }), false);
  });

  it('is said in a line and a count', () => {
    const [log, metrics] = [new MemoryLog(), new MemoryMetrics()];
    noteTooLarge({ clusterUid: clusterUid('u'), name: 'nodes#3', what: 'slice' }, { log, metrics });
    assert.equal(metrics.sum('IngestItemsTooLarge', 'slice'), 1);
    assert.deepEqual(
      log.at('error').map(({ message, fields }) => [message, fields]),
      [
        [
          'an item is too large for the table; its objects are read live',
          { clusterUid: 'u', item: 'nodes#3' },
        ],
      ],
    );
  });
});
