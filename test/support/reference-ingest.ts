/**
 * The simplest reader of a watcher's messages: what a correct `ingest` must end up with.
 *
 * Applies accepted messages in order into plain maps, and asserts on the way what the protocol promises:
 * seq without gaps from an announcement on, hashes of each cut equal to the sums of what was carried
 * (protocol 19), no delta for a membership that was not there, portions that cover every name once. It keeps
 * no slices by number, because a test only asks what is stored, not where.
 */
import assert from 'node:assert/strict';
import { isInRange, nameKeyOf, sliceIndexOf } from '../../src/core/projections/set-hash.ts';
import { WATCHED_KINDS } from '../../src/core/model/projections.ts';
import type { Projection, WatchedKind } from '../../src/core/model/projections.ts';
import type {
  Cut,
  Delta,
  ManifestBody,
  Marks,
  SetId,
  SnapshotSlice,
  WatcherMessage,
} from '../../src/core/model/watcher-message.ts';

interface Stored {
  readonly of: WatchedKind;
  readonly object: Projection;
  readonly hash: number;
}

/** What is stored for one cluster. */
export class ReferenceIngest {
  /** Objects by set and uid. */
  readonly sets = new Map<SetId, Map<string, Stored>>();
  isComplete = false;
  isCutOpen = false;
  marks: Marks = {};
  epoch = '';
  #position = '';
  #seq = 0;
  #sliceCount = 0;
  #announcedSeq = 0;
  /** Slices that the running snapshot has brought. */
  readonly #arrived = new Set<string>();
  /** Sets that it has brought slices of, or that deltas began beside it. */
  readonly #live = new Set<SetId>();
  /** Up to which name its portions cover every one; undefined: all. */
  #covered: string | undefined = '';

  /** Applies one accepted message. Messages of an epoch that is not the newest are dropped. */
  apply(message: WatcherMessage): void {
    const { epoch, incarnation, seq, body } = message;
    const position = `${epoch}/${incarnation}`;
    if (position !== this.#position) {
      if (Number(epoch) < Number(this.epoch)) return;
      this.#startEpoch(epoch, position);
    }
    assert.equal(seq, this.#seq + 1, `message ${position} ${String(seq)} leaves a gap`);
    this.#seq = seq;
    switch (body.kind) {
      case 'announcement':
        this.#announcedSeq = seq;
        this.#sliceCount = body.sliceCount;
        this.#arrived.clear();
        this.#live.clear();
        this.#covered = '';
        return;
      case 'slices':
        for (const slice of body.slices) this.#putSlice(slice);
        this.isCutOpen = true;
        return;
      case 'changes':
        assert.ok(this.#announcedSeq > 0, 'changes before any announcement');
        for (const set of body.begun ?? []) this.#begin(set);
        for (const delta of body.deltas) this.#applyDelta(delta);
        this.isCutOpen = true;
        if (body.cut !== undefined) this.#close(body.cut);
        return;
      case 'manifest':
        this.#applyManifest(body);
    }
  }

  /** Stored projections of one set, by uid. */
  set(id: SetId): ReadonlyMap<string, Projection> {
    const stored = this.sets.get(id) ?? new Map<string, Stored>();
    return new Map([...stored].map(([uid, { object }]) => [uid, object]));
  }

  #startEpoch(epoch: string, position: string): void {
    this.epoch = epoch;
    this.#position = position;
    this.#seq = 0;
    this.#announcedSeq = 0;
    this.isComplete = false;
  }

  #begin(set: SetId): void {
    assert.ok(!this.#live.has(set), `${set} began twice`);
    this.#live.add(set);
    this.sets.delete(set);
  }

  #putSlice({ set, index, objects, covers }: SnapshotSlice): void {
    const stored = this.#set(set);
    this.#live.add(set);
    const key = `${set}#${String(index)}`;
    assert.ok(!this.#arrived.has(key), `slice ${key} came twice in one snapshot`);
    this.#arrived.add(key);
    if (set !== 'daemonsets') {
      for (const [uid, { object }] of stored) {
        if (this.#indexOf(set, object.name) === index) stored.delete(uid);
      }
    } else {
      assert.ok(covers !== undefined, 'a portion says what it covers');
      assert.equal(covers.after ?? '', this.#covered, 'portions leave no name out');
      for (const [uid, { object }] of stored) {
        if (isInRange(covers, keyOf(object))) stored.delete(uid);
      }
      this.#covered = covers.upTo;
      for (const { object } of objects) assert.ok(isInRange(covers, keyOf(object)), object.name);
    }
    for (const { object, hash } of objects) {
      if (set !== 'daemonsets') assert.equal(this.#indexOf(set, object.name), index);
      stored.set(object.uid, { of: kindOf(object), object, hash });
    }
  }

  #indexOf(set: SetId, name: string): number {
    return set.startsWith('revisions/') ? 0 : sliceIndexOf(name, this.#sliceCount);
  }

  #applyDelta(delta: Delta): void {
    for (const { set, hash } of delta.formerSets) {
      const former = this.#set(set).get(delta.uid);
      assert.equal(former?.hash, hash, `delta of ${delta.uid} names a former hash in ${set}`);
      this.#set(set).delete(delta.uid);
    }
    for (const { set, hash } of delta.sets) {
      assert.ok(delta.object !== null, 'a delta with sets carries its object');
      // Before the snapshot is closed, an older epoch's copy may still stand here.
      if (this.isComplete)
        assert.ok(!this.#set(set).has(delta.uid), `${delta.uid} stood in ${set}`);
      this.#set(set).set(delta.uid, { of: delta.of, object: delta.object, hash });
    }
  }

  #applyManifest(body: ManifestBody): void {
    assert.equal(body.announcedSeq, this.#announcedSeq);
    assert.equal(body.sliceCount, this.#sliceCount);
    assert.equal(this.#covered, undefined, 'the last portion covers what is left');
    for (const set of [...this.sets.keys()]) {
      if (!this.#live.has(set)) this.sets.delete(set);
    }
    for (const uid of this.#set('daemonsets').keys()) {
      assert.ok(this.#live.has(`pods/${uid}`), `the slices of the pods of ${uid} came`);
      assert.ok(this.#live.has(`revisions/${uid}`), `the slice of the revisions of ${uid} came`);
    }
    this.isComplete = true;
    this.#close(body.cut);
  }

  #close(cut: Cut): void {
    this.isCutOpen = false;
    this.marks = cut.marks;
    if (!this.isComplete) return;
    assert.deepEqual(
      cut.hashes,
      this.#sums(),
      'hashes of the cut are the sums of what was carried',
    );
  }

  #sums(): Record<WatchedKind, number> {
    const sums = Object.fromEntries(WATCHED_KINDS.map((kind) => [kind, 0]));
    for (const stored of this.sets.values()) {
      for (const { of, hash } of stored.values()) sums[of] = ((sums[of] ?? 0) + hash) % 2 ** 48;
    }
    return sums as Record<WatchedKind, number>;
  }

  #set(id: SetId): Map<string, Stored> {
    const stored = this.sets.get(id) ?? new Map<string, Stored>();
    this.sets.set(id, stored);
    return stored;
  }
}

function keyOf(object: Projection): string {
  return nameKeyOf('namespace' in object ? object : { name: object.name });
}

function kindOf(object: Projection): WatchedKind {
  return object.kind === 'Opaque' ? object.of : object.kind;
}
