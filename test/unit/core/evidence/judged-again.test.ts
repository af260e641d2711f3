/** When time alone changes what a pod is evidence of: looks that nothing else would cause (issue 17). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgedAgainAtMs } from '../../../../src/core/evidence/judged-again.ts';
import {
  GRACE_MS,
  RETRIED_AFTER_MS,
  judgePod,
} from '../../../../src/core/evidence/pod-evidence.ts';
import { NOW_MS, pod } from '../../../support/core-fixtures.ts';

const AT = { nowMs: NOW_MS, graceMs: GRACE_MS };
const young = { phase: 'Pending', isReady: false, createdAtMs: NOW_MS - 1000 } as const;
const waiting = (word: string): object => ({ ...young, trouble: { waiting: word } });

test('a pull is judged once it was tried again, and silence when its grace is over', () => {
  const { createdAtMs } = young;
  const pulling = pod('n1', waiting('ImagePullBackOff'));
  assert.equal(judgedAgainAtMs(pulling, AT), createdAtMs + RETRIED_AFTER_MS);
  const later = { ...AT, nowMs: createdAtMs + RETRIED_AFTER_MS };
  assert.equal(judgedAgainAtMs(pulling, later), createdAtMs + GRACE_MS);
  assert.equal(
    judgedAgainAtMs(pod('n1', { ...young, readyChangedAtMs: 0 }), AT),
    createdAtMs + GRACE_MS,
  );
});

test('what is well, goes, is held by a gate, or was judged, is looked at no more', () => {
  const old = { ...young, createdAtMs: NOW_MS - GRACE_MS };
  for (const changes of [
    { isReady: true },
    { ...young, isTerminating: true },
    { ...young, trouble: { isReadyWithheld: true } },
    { ...young, trouble: { unscheduled: 'SchedulingGated' } },
    { ...old, readyChangedAtMs: NOW_MS - GRACE_MS },
  ]) {
    assert.equal(judgedAgainAtMs(pod('n1', changes), AT), undefined, JSON.stringify(changes));
  }
});

test('between two such moments the judgement of a pod that stays as it is does not change', () => {
  const pods = fc
    .record({
      phase: fc.constantFrom('Pending', 'Running'),
      isReady: fc.boolean(),
      ageMs: fc.integer({ min: 0, max: 2 * GRACE_MS }),
      changedMs: fc.integer({ min: 0, max: 2 * GRACE_MS }),
      waiting: fc.constantFrom(
        undefined,
        'ImagePullBackOff',
        'InvalidImageName',
        'CrashLoopBackOff',
      ),
      isReadyWithheld: fc.constantFrom(undefined, true),
      aheadMs: fc.integer({ min: 0, max: 3 * GRACE_MS }),
    })
    .map(({ ageMs, changedMs, waiting: word, isReadyWithheld, aheadMs, ...rest }) => {
      const trouble = {
        ...(word === undefined ? {} : { waiting: word }),
        ...(isReadyWithheld === undefined ? {} : { isReadyWithheld }),
      };
      const createdAtMs = NOW_MS - ageMs;
      const readyChangedAtMs = NOW_MS - Math.min(changedMs, ageMs);
      return { aheadMs, pod: pod('n1', { ...rest, createdAtMs, readyChangedAtMs, trouble }) };
    });
  const told = (of: Parameters<typeof judgePod>[0], nowMs: number): string => {
    const evidence = judgePod(of, { nowMs, graceMs: GRACE_MS, isNodeReady: true, demand: 'same' });
    return evidence.kind === 'failed' ? `${evidence.class} ${evidence.sign}` : evidence.kind;
  };
  fc.assert(
    fc.property(pods, ({ pod: of, aheadMs }) => {
      const nextMs = judgedAgainAtMs(of, AT) ?? Number.POSITIVE_INFINITY;
      const laterMs = Math.min(NOW_MS + aheadMs, nextMs - 1);
      assert.equal(told(of, laterMs), told(of, NOW_MS));
    }),
  );
});
