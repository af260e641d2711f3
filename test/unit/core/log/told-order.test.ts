/** In which order a log is told, and of which time: entries of one run, and what was only counted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeLog } from '../../../../src/core/log/merge-log.ts';
import { transitionEntries } from '../../../../src/core/log/transition-entries.ts';
import { recordOf } from '../../../support/rollout-records.ts';

const SUBJECT = { kind: 'cluster' } as const;

describe('a told log', () => {
  it('has the beginning of a rollout before its first step, which opens before the write', () => {
    const rollout = recordOf();
    const { openedAtMs } = rollout.step;
    const entries = transitionEntries({}, { rollout }, openedAtMs + 400);
    assert.deepEqual(
      entries.map(({ kind, atMs }) => [kind, atMs]),
      [
        ['rollout', openedAtMs],
        ['step', openedAtMs],
      ],
    );
  });

  it('says of a return that nodes go back, and of no step that it is well', () => {
    const step = { ...recordOf().step, kind: 'done' as const };
    const rollout = recordOf({ hash: 'old', step, isReturn: true });
    const before = recordOf({ step: { ...step, openedAtMs: step.openedAtMs - 1 } });
    const entries = transitionEntries({ rollout: before }, { rollout }, step.openedAtMs);
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['rollout', 'return'],
    );
  });

  it('counts nothing as left out that happened after the time that is asked about', () => {
    const leftOut = { entries: 3, requests: 9, fromMs: 50, toMs: 60 };
    const source = { subject: SUBJECT, entries: [], leftOut };
    assert.deepEqual(mergeLog([source], { sinceMs: 0, untilMs: 49 }).leftOut, []);
    assert.deepEqual(mergeLog([source], { sinceMs: 0, untilMs: 50 }).leftOut, [leftOut]);
  });
});
