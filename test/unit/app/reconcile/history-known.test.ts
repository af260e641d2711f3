/** What is known of the current revision without asking the cluster (design 3, step 1). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  guessHash,
  isFreshHistory,
  knownHistory,
} from '../../../../src/app/reconcile/history/history.ts';
import type { HistoryLook } from '../../../../src/app/reconcile/history/history.ts';
import { epoch, incarnation, uid } from '../../../../src/core/model/identifiers.ts';
import { ZERO_STAMP, stampOf } from '../../../../src/core/model/position.ts';
import type { HistoryEntry } from '../../../../src/core/model/state.ts';
import { revisionHash } from '../../../../src/core/history/revisions.ts';
import { daemonSet, revision } from '../../../support/core-fixtures.ts';

const LATER = stampOf({ era: 1, epoch: epoch('5'), incarnation: incarnation('i'), seq: 1 });
const entry: HistoryEntry = {
  generation: 1,
  template: revisionHash(daemonSet(), 0),
  uid: uid('revision-2'),
  name: 'agent-2',
  hash: 'h2',
  lookedUpAt: ZERO_STAMP,
};
const input = (change: Partial<HistoryLook> = {}): HistoryLook => ({
  daemonSet: daemonSet(),
  seen: [revision(1), revision(2)],
  revisionsChanged: LATER,
  known: entry,
  ...change,
});

describe('knownHistory', () => {
  it('holds for the same generation, while the revision is seen', () => {
    assert.equal(knownHistory(input()), entry);
    const going = revision(2, { isTerminating: true });
    assert.equal(knownHistory(input({ seen: [going] })), entry, 'until it is gone');
  });

  it('holds unseen as long as the seen set has not moved: it was made in that run', () => {
    assert.equal(knownHistory(input({ seen: [], revisionsChanged: ZERO_STAMP })), entry);
    assert.equal(knownHistory(input({ seen: [revision(1)] })), undefined);
  });

  it('does not hold for another generation, nor without an entry', () => {
    const edited = daemonSet({ metadata: { generation: 2 } });
    assert.equal(knownHistory(input({ daemonSet: edited })), undefined);
    assert.equal(knownHistory(input({ known: undefined })), undefined);
    const unnumbered = daemonSet({ metadata: { generation: undefined } });
    const atZero = { ...entry, generation: 0 };
    assert.equal(knownHistory(input({ daemonSet: unnumbered, known: atZero })), atZero);
  });

  it('does not hold for another template at the same generation (row 71)', () => {
    assert.equal(knownHistory(input({})), entry);
    const other = daemonSet({ podSpec: { containers: [{ name: 'main', image: 'agent:2' }] } });
    assert.equal(knownHistory(input({ daemonSet: other })), undefined);
    const still = input({ daemonSet: other, revisionsChanged: ZERO_STAMP });
    assert.equal(isFreshHistory(entry, still), false);
  });
});

describe('isFreshHistory', () => {
  it('says whether generation and seen set are those of the look', () => {
    assert.equal(isFreshHistory(entry, input({ revisionsChanged: ZERO_STAMP })), true);
    assert.equal(isFreshHistory(entry, input()), false);
    const edited = daemonSet({ metadata: { generation: 2 } });
    const moved = input({ daemonSet: edited, revisionsChanged: ZERO_STAMP });
    assert.equal(isFreshHistory(entry, moved), false);
    const unnumbered = daemonSet({ metadata: { generation: undefined } });
    const still = input({ daemonSet: unnumbered, revisionsChanged: ZERO_STAMP });
    assert.equal(isFreshHistory({ ...entry, generation: 0 }, still), true);
  });
});

describe('guessHash', () => {
  const hashed = (number: number, ownerUid = revision(number).ownerUid) =>
    revision(number, {
      ...(ownerUid === undefined ? {} : { ownerUid }),
      labels: { 'controller-revision-hash': `h${number}` },
    });

  it('takes the newest owned one, whatever the order', () => {
    const foreign = hashed(9, uid('other'));
    assert.equal(guessHash(daemonSet(), [hashed(1), foreign, hashed(3), hashed(2)]), 'h3');
    assert.equal(guessHash(daemonSet(), [hashed(3), hashed(1)]), 'h3');
    assert.equal(guessHash(daemonSet(), [foreign]), undefined);
  });
});
