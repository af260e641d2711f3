/** Revisions that were halted and come again, also where nobody saw them gone (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Breach } from '../../../../src/core/model/rollout-record.ts';
import {
  heldIfRestored,
  mayAskToRestore,
  noteRefused,
  noteRestoring,
  refusedAfter,
} from '../../../../src/core/rollout/known-bad.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { NEW_HASH } from '../../../support/stage-nodes.ts';
import { record } from '../../../support/stage-records.ts';

const BREACH: Breach = { cause: 'OOMKilled', atMs: NOW_MS - 1000, message: 'killed', nodes: [] };
const HALTED = record({ breach: BREACH });

describe('a revision whose template was restored at generation 7', () => {
  const restored = noteRestoring(HALTED, { restoredGeneration: 7 });

  it('is halted as before while the DaemonSet is no further: the request may have been lost', () => {
    assert.equal(heldIfRestored(restored, { generation: 7, nowMs: NOW_MS }), restored);
  });

  it('is held as known once the DaemonSet is further and stands there again', () => {
    const held = heldIfRestored(restored, { generation: 9, nowMs: NOW_MS });
    assert.equal(held.breach?.cause, 'KnownBad');
    assert.equal(held.breach.atMs, NOW_MS);
    assert.equal(held.breach.restoredGeneration, undefined);
    const halted = { id: NEW_HASH, hash: NEW_HASH, cause: 'OOMKilled', atMs: BREACH.atMs };
    assert.deepEqual(held.refused, [halted]);
    assert.equal(heldIfRestored(held, { generation: 11, nowMs: NOW_MS + 1 }), held);
  });
});

describe('a revision whose template nobody restored', () => {
  it('is what it was, whatever else is edited', () => {
    assert.equal(heldIfRestored(HALTED, { generation: 9, nowMs: NOW_MS }), HALTED);
    assert.equal(heldIfRestored(record(), { generation: 9, nowMs: NOW_MS }).breach, undefined);
  });

  it('gets no mark without a halt', () => {
    const running = record();
    assert.equal(noteRestoring(running, { restoredGeneration: 7 }), running);
  });
});

describe('revisions that were halted', () => {
  it('are remembered with their first cause and its time, the newest eight', () => {
    const refused = Array.from({ length: 8 }, (_, index) => ({
      id: index === 3 ? NEW_HASH : `h${String(index)}`,
      hash: index === 3 ? NEW_HASH : `h${String(index)}`,
      cause: 'Restarts' as const,
      atMs: 8 - index,
    }));
    const known = { ...BREACH, cause: 'KnownBad' as const };
    const after = refusedAfter(record({ refused, breach: known }));
    assert.equal(after.length, 8);
    assert.deepEqual(after[0], {
      id: NEW_HASH,
      hash: NEW_HASH,
      cause: 'Restarts',
      atMs: 5,
    });
    const undone = [{ id: NEW_HASH, hash: NEW_HASH, cause: 'Undone' as const, atMs: NOW_MS }];
    const [halted] = refusedAfter(record({ refused: undone, breach: BREACH }));
    assert.deepEqual([halted?.cause, halted?.atMs], [BREACH.cause, BREACH.atMs], 'before the undo');
    const more = refusedAfter(record({ hash: 'cccc', refused, breach: BREACH }));
    assert.deepEqual([more.length, more[0]?.cause, more.at(-1)?.hash], [8, 'OOMKilled', 'h6']);
  });

  it('are the newest eight whichever way they were stored: lists of a fleet had the newest last', () => {
    const eight = Array.from({ length: 8 }, (_, index) => ({
      name: String(index),
      cause: '',
      atMs: index,
    }));
    const [, ...newest] = eight;
    for (const stored of [eight, eight.toReversed()]) {
      const noted = noteRefused(stored, { name: 'new', cause: '', atMs: NOW_MS }, 'name');
      assert.deepEqual(
        noted.map(({ name }) => name),
        ['new', ...newest.toReversed().map(({ name }) => name)],
      );
    }
  });

  it('stay as they were where nothing was halted, and are none at first', () => {
    const refused = [{ id: 'h', hash: 'h', cause: 'Restarts' as const, atMs: 1 }];
    assert.equal(refusedAfter(record({ refused })), refused);
    assert.deepEqual(refusedAfter(undefined), []);
  });
});

describe('a restored template that the API server refuses', () => {
  it('is asked for again after an hour, and by nobody before', () => {
    const { breach } = noteRestoring(HALTED, { restoreRefusedAtMs: NOW_MS });
    assert.ok(breach !== undefined);
    const after = [0, 300_000, 3_599_999, 3_600_000].map((ms) =>
      mayAskToRestore(breach, NOW_MS + ms),
    );
    assert.deepEqual(after, [false, false, false, true]);
    assert.equal(mayAskToRestore(BREACH, NOW_MS), true);
  });

  it('is nothing to note of a rollout that was not halted', () => {
    const going = record();
    assert.equal(noteRestoring(going, { restoreRefusedAtMs: NOW_MS }), going);
  });
});
