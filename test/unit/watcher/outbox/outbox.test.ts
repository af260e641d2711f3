/** What is sent of what waits, in which portions, and what counts as sent (protocol 16, 19, 21). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { WatchedKind } from '../../../../src/core/model/projections.ts';
import type { Membership, SetId } from '../../../../src/core/model/watcher-message.ts';
import { Outbox } from '../../../../src/watcher/outbox/outbox.ts';
import type { Tracked } from '../../../../src/watcher/project/store.ts';

const OVERHEAD_CHARS = 250;
const PLENTY = 1_000_000;

function member(set: SetId, hash = 1): Membership {
  return { set, hash };
}

function trackedOf(
  name: string,
  more: { of?: WatchedKind; sets?: Membership[]; chars?: number } = {},
): Tracked {
  const { of = 'Pod', sets = [member('pods/d1')], chars = 100 } = more;
  return { of, uid: uid(`u-${name}`), name, namespace: 'ops', slim: null, sets, sent: [], chars };
}

function gone(tracked: Tracked): Tracked {
  tracked.sets = [];
  return tracked;
}

/** An outbox, and what is often done with it. */
function started(): {
  readonly outbox: Outbox;
  readonly flushAll: (...objects: readonly Tracked[]) => void;
  readonly batchNames: (charsMax: number, deltasMax?: number) => string[];
} {
  const outbox = new Outbox();
  return {
    outbox,
    flushAll: (...objects) => {
      for (const tracked of objects) outbox.note(tracked);
      outbox.beginFlush();
      outbox.commitBatch(outbox.nextBatch(PLENTY, PLENTY));
    },
    batchNames: (charsMax, deltasMax = PLENTY) =>
      outbox.nextBatch(charsMax, deltasMax).deltas.map(({ name }) => name),
  };
}

describe('what waits to be sent', () => {
  it('goes by text and number of deltas, and at least one goes', () => {
    const { batchNames, outbox } = started();
    for (const name of ['a', 'b', 'c']) outbox.note(trackedOf(name));
    outbox.beginFlush();
    const one = OVERHEAD_CHARS + 100;
    assert.deepEqual(batchNames(2 * one), ['a', 'b']);
    assert.deepEqual(batchNames(2 * one - 1), ['a']);
    assert.deepEqual(batchNames(1), ['a']);
    assert.deepEqual(batchNames(PLENTY, 2), ['a', 'b']);
    const all = outbox.nextBatch(PLENTY, 3);
    assert.deepEqual([all.deltas.length, all.isLast, all.chars], [3, true, 3 * one]);
    assert.equal(outbox.nextBatch(PLENTY, 2).isLast, false);
  });

  it('costs no text where the object is gone', () => {
    const { flushAll, outbox } = started();
    const known = trackedOf('a', { chars: 5000 });
    flushAll(known);
    outbox.note(gone(known));
    outbox.beginFlush();
    const { chars, deltas } = outbox.nextBatch(PLENTY, 1);
    assert.equal(chars, OVERHEAD_CHARS);
    assert.deepEqual([deltas[0]?.sets, deltas[0]?.formerSets], [[], [member('pods/d1')]]);
  });

  it('stays until its batch is committed, and is nothing then', () => {
    const { outbox } = started();
    outbox.note(trackedOf('a'));
    outbox.beginFlush();
    outbox.nextBatch(PLENTY, 1);
    assert.deepEqual([outbox.isFlushing, outbox.size], [true, 1]);
    outbox.commitBatch(outbox.nextBatch(PLENTY, 1));
    assert.deepEqual([outbox.isFlushing, outbox.size], [false, 0]);
  });

  it('is nothing for one that came and went, also while the flush is under way', () => {
    const { outbox } = started();
    const early = trackedOf('a');
    assert.equal(outbox.note(early), 'dirty');
    assert.equal(outbox.note(gone(early)), 'clean');
    assert.equal(outbox.size, 0);
    const late = trackedOf('b');
    outbox.note(late);
    outbox.beginFlush();
    assert.equal(outbox.note(late), 'dirty');
    assert.equal(outbox.size, 1, 'it is in the flush already');
    assert.equal(outbox.note(gone(late)), 'clean');
    assert.deepEqual([outbox.isFlushing, outbox.size], [false, 0]);
  });

  it('counts the slices that its flush touches, a DaemonSet as one of its own', () => {
    const { outbox } = started();
    const slicesOf = (): number => {
      outbox.beginFlush();
      return outbox.widthOf(1, () => 0).slices;
    };
    assert.equal(slicesOf(), 0);
    outbox.note(trackedOf('a'));
    outbox.note(trackedOf('b'));
    assert.equal(slicesOf(), 1, 'two pods of one slice');
    outbox.note(trackedOf('c', { sets: [member('pods/d2')] }));
    for (const name of ['d', 'e']) {
      outbox.note(trackedOf(name, { of: 'DaemonSet', sets: [member('daemonsets')] }));
    }
    assert.equal(slicesOf(), 4);
  });

  it('counts the objects that stand in the slices that its flush touches', () => {
    const { flushAll, outbox } = started();
    const pods = ['a', 'b', 'c', 'd'].map((name) => trackedOf(name));
    flushAll(...pods, trackedOf('n', { sets: [member('nodes')] }));
    const sizeOf = (set: SetId): number => (set === 'nodes' ? 100 : 8);
    for (const pod of pods.slice(0, 1)) outbox.note(gone(pod));
    outbox.beginFlush();
    assert.deepEqual(
      outbox.widthOf(4, sizeOf),
      { slices: 1, objects: 2 },
      'of a set in four slices',
    );
    for (const pod of pods.slice(1, 2)) outbox.note(gone(pod));
    outbox.beginFlush();
    assert.deepEqual(outbox.widthOf(1, sizeOf), { slices: 1, objects: 8 });
    outbox.note(trackedOf('ds', { of: 'DaemonSet', sets: [member('daemonsets')] }));
    outbox.beginFlush();
    assert.deepEqual(outbox.widthOf(1, sizeOf), { slices: 2, objects: 9 });
  });

  it('begins each set once, and those of a DaemonSet with it; what a snapshot brings has begun', () => {
    const { outbox } = started();
    const isOfSnapshot = (set: SetId): boolean => set === 'pods/known';
    outbox.startSnapshot([], { isPending: () => false, isKnown: isOfSnapshot });
    const begunBy = (...objects: readonly Tracked[]): readonly SetId[] => {
      for (const tracked of objects) outbox.note(tracked);
      outbox.beginFlush();
      const batch = outbox.nextBatch(PLENTY, PLENTY);
      outbox.commitBatch(batch);
      return [...batch.begun].toSorted();
    };
    const owner = trackedOf('d', { of: 'DaemonSet', sets: [member('daemonsets')] });
    const orphan = trackedOf('p', { sets: [member('pods/x'), member('pods/known')] });
    assert.deepEqual(begunBy(owner, orphan), ['pods/u-d', 'pods/x', 'revisions/u-d']);
    owner.sets = [member('daemonsets', 2)];
    assert.deepEqual(begunBy(owner, trackedOf('q', { sets: [member('pods/x')] })), []);
    assert.deepEqual(begunBy(gone(owner), gone(orphan)), []);
    outbox.startSnapshot([], { isPending: () => false, isKnown: () => false });
    assert.deepEqual(begunBy(trackedOf('r', { sets: [member('pods/x')] })), ['pods/x']);
  });

  it('waits for its slice while a snapshot is to bring that, and is a delta after it', () => {
    const { flushAll, outbox } = started();
    const sent = trackedOf('a');
    flushAll(sent);
    outbox.startSnapshot([sent], {
      isPending: (_tracked, set) => set === 'pods/d1',
      isKnown: () => true,
    });
    assert.deepEqual(sent.sent, [], 'nothing counts as sent any more');
    assert.deepEqual(outbox.hashes, new Outbox().hashes);
    assert.equal(outbox.note(sent), 'clean');
    outbox.commitSlice([{ tracked: sent, projection: {} as never, membership: member('pods/d1') }]);
    assert.deepEqual(sent.sent, [member('pods/d1')]);
    outbox.endSnapshot();
    sent.sets = [member('pods/d1', 2)];
    assert.equal(outbox.note(sent), 'dirty');
  });

  it('of which a part is pending, is a delta of the rest', () => {
    const { outbox } = started();
    const both = trackedOf('a', { sets: [member('pods/d1'), member('pods/d2')] });
    outbox.startSnapshot([], {
      isPending: (_tracked, set) => set === 'pods/d1',
      isKnown: () => true,
    });
    assert.equal(outbox.note(both), 'dirty');
    outbox.beginFlush();
    assert.deepEqual(outbox.nextBatch(PLENTY, 1).deltas[0]?.sets, [member('pods/d2')]);
  });
});
