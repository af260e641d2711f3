/** Tombstones: what is remembered of pods that are gone, and what bounds it (S13, ADR 0030). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { Tombstone } from '../../../../src/core/model/projections.ts';
import {
  TOMBSTONE_KEPT_MS,
  tombstonesOfAnswered,
  tombstonesOfMissing,
  keepTombstones,
  tombstoneOf,
} from '../../../../src/core/pod/tombstones.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  answerOf,
  createIntent,
  deleteIntent,
  pod,
  tombstone,
} from '../../../support/core-fixtures.ts';

const keep = (list: readonly Tombstone[], living: readonly string[] = []): readonly string[] =>
  keepTombstones(list, { nowMs: NOW_MS, isLiving: (id) => living.includes(id) }).map(
    ({ name }) => name,
  );

describe('tombstoneOf', () => {
  it('tells name, UID, node, revision and times of a pod', () => {
    const was = pod('n1', { createdAtMs: 7 });
    assert.deepEqual(tombstoneOf(was, 9), {
      name: was.name,
      uid: was.uid,
      node: 'n1',
      revision: CURRENT_HASH,
      createdAtMs: 7,
      goneAtMs: 9,
    });
  });
  it('goes by the node that a pod was aimed at, else by the one that it ran on', () => {
    assert.equal(tombstoneOf(pod('n1', { boundNode: null }), 9)?.node, 'n1');
    assert.equal(tombstoneOf(pod('n1', { targetNode: null }), 9)?.node, 'n1');
    assert.equal(tombstoneOf(pod('n1', { targetNode: null, boundNode: null }), 9), undefined);
  });
  it('has no revision where the pod had none', () => {
    assert.equal('revision' in (tombstoneOf(pod('n1', { labels: {} }), 9) ?? {}), false);
  });
});

describe('keepTombstones', () => {
  const at = (name: string, goneAtMs: number, options: Partial<Tombstone> = {}): Tombstone =>
    tombstone('n1', { name, goneAtMs, ...options });

  it('keeps each for ten minutes', () => {
    const old = at('old', NOW_MS - TOMBSTONE_KEPT_MS - 1);
    const young = at('young', NOW_MS - TOMBSTONE_KEPT_MS);
    assert.equal(TOMBSTONE_KEPT_MS, 600_000);
    assert.deepEqual(keep([old, young]), ['young']);
  });
  it('S13, row 13: keeps those of a state until ten minutes passed by both clocks', () => {
    const told = (goneAtMs: number, toldAtMs?: number): readonly string[] => {
      const one = at('one', goneAtMs, toldAtMs === undefined ? {} : { toldAtMs });
      const context = { nowMs: NOW_MS, toldAtMs: NOW_MS - 7, isLiving: () => false };
      return keepTombstones([one], context).map(({ name }) => name);
    };
    const [over, within] = [TOMBSTONE_KEPT_MS + 1, TOMBSTONE_KEPT_MS];
    assert.deepEqual(told(NOW_MS - over, NOW_MS - 7 - over), []);
    assert.deepEqual(told(NOW_MS - over, NOW_MS - 7 - within), ['one'], 'the run is ahead');
    assert.deepEqual(told(NOW_MS - within, NOW_MS - 7 - over), ['one'], 'the run is behind');
    assert.deepEqual(told(NOW_MS - over), ['one'], 'the time of the view is not known');
  });
  it('keeps none of a pod that lives', () => {
    const [dead, living] = [at('dead', NOW_MS), at('living', NOW_MS)];
    assert.deepEqual(keep([dead, living], [living.uid]), ['dead']);
  });
  it('keeps each UID once, as it was told last', () => {
    const [first, again] = [at('a', NOW_MS - 9), at('a', NOW_MS - 3)];
    const kept = keepTombstones([first, again], { nowMs: NOW_MS, isLiving: () => false });
    assert.deepEqual(kept, [again]);
  });
  it('S13: keeps sixteen of a node and revision, those told last, however many came and went', () => {
    const list = Array.from({ length: 17 }, (_, index) => at(`pod-${index}`, NOW_MS - index));
    const first = list.slice(0, 16).map(({ name }) => name);
    assert.deepEqual(keep(list.toReversed()), first);
    const other = at('other', NOW_MS - 39, { revision: 'old' });
    const { revision: _none, ...nameless } = at('nameless', NOW_MS - 38);
    const elsewhere = at('elsewhere', NOW_MS - 37, { node: nodeName('n2') });
    assert.deepEqual(keep([...list, other, nameless, elsewhere]), [
      ...first,
      'elsewhere',
      'nameless',
      'other',
    ]);
  });
  it('S13: keeps as many of a node whose revision nobody knows: with surge no name leads on from them', () => {
    const list = Array.from({ length: 17 }, (_, index) => {
      const { revision: _none, ...stripped } = at(`pod-${index}`, NOW_MS - index);
      return stripped;
    });
    assert.deepEqual(
      keep(list),
      list.slice(0, 16).map(({ name }) => name),
    );
  });
  it('prefers at one moment those that were made last, then goes by UID', () => {
    const made = (name: string, createdAtMs: number): Tombstone =>
      at(name, NOW_MS, { createdAtMs });
    const list = [made('b', 1), made('a', 1), made('c', 2)];
    assert.deepEqual(keep(list), ['c', 'a', 'b']);
    assert.deepEqual(keep(list.toReversed()), ['c', 'a', 'b']);
  });
  it('holds 2,000 at most, and of each node and revision two before it holds a third', () => {
    const list = Array.from({ length: 2001 }, (_, index) =>
      at(`p${index}`, NOW_MS - index, { node: nodeName(`far-${index}`) }),
    );
    const kept = keep(list);
    assert.equal(kept.length, 2000);
    assert.equal(kept.includes('p2000'), false);
    const many = ['a', 'b', 'c', 'd'].map((name) => at(name, NOW_MS));
    const full = keep([...many, ...list.slice(1, 1999)]);
    assert.deepEqual(full.slice(0, 2), ['a', 'b']);
    assert.equal(full.length, 2000);
    assert.equal(full.includes('c'), false, 'nobody else is forgotten for a third');
    assert.equal(full.includes('p1998'), true);
    assert.deepEqual(keep([...many, ...list.slice(1, 1998)]).slice(0, 4), ['a', 'b', 'c', 'p1']);
  });
});

describe('tombstonesOfMissing', () => {
  it('buries what a view shows and a live read did not find', () => {
    const [there, missing] = [pod('n1'), pod('n2')];
    const homeless = pod('n3', { targetNode: null, boundNode: null });
    const found = [{ ...there, isReady: false }];
    assert.deepEqual(
      tombstonesOfMissing([there, missing, homeless], found, 9).map(({ name, goneAtMs }) => [
        name,
        goneAtMs,
      ]),
      [[missing.name, 9]],
    );
    const same = [there];
    assert.deepEqual(tombstonesOfMissing(same, same, 9), []);
  });
});

describe('tombstonesOfAnswered', () => {
  it('buries what was answered: nobody knows its labels, and it was made when it was recorded', () => {
    const answered = createIntent('n1', { recordedAtMs: 5, answer: answerOf('x') });
    const open = createIntent('n2');
    assert.deepEqual(tombstonesOfAnswered([answered, open, deleteIntent(pod('n3'))], 9), [
      { name: answered.name, uid: uid('pod-x'), node: 'n1', createdAtMs: 5, goneAtMs: 9 },
    ]);
  });
});
