/** When time alone changes what a pod is evidence of: looks that nothing else would cause (issue 17). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GRACE_MS, judgePod, type PodEvidence } from '../../../../src/core/health/pod-signs.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { NOW_MS, pod } from '../../../support/core-fixtures.ts';

const pods = fc
  .record({
    phase: fc.constantFrom('Pending', 'Running'),
    isReady: fc.boolean(),
    ageMs: fc.integer({ min: 0, max: 2 * GRACE_MS }),
    changedMs: fc.integer({ min: 0, max: 2 * GRACE_MS }),
    waiting: fc.constantFrom(undefined, 'ImagePullBackOff', 'InvalidImageName', 'CrashLoopBackOff'),
    unscheduled: fc.constantFrom(undefined, 'Unschedulable', 'SchedulingGated'),
    isReadyWithheld: fc.constantFrom(undefined, true),
  })
  .map(({ ageMs, changedMs, waiting, unscheduled, isReadyWithheld, ...rest }) => {
    const trouble = {
      ...(waiting === undefined ? {} : { waiting }),
      ...(unscheduled === undefined ? {} : { unscheduled }),
      ...(isReadyWithheld === undefined ? {} : { isReadyWithheld }),
    };
    const createdAtMs = NOW_MS - ageMs;
    const readyChangedAtMs = NOW_MS - Math.min(changedMs, ageMs);
    return pod('n1', { ...rest, createdAtMs, readyChangedAtMs, trouble });
  });

function judge(of: PodProjection, nowMs: number): PodEvidence {
  return judgePod(of, { nowMs, graceMs: GRACE_MS, isNodeReady: true, demand: 'same' });
}

function told(evidence: PodEvidence): string {
  return evidence.kind === 'failed' ? `${evidence.class} ${evidence.sign}` : evidence.kind;
}

test('a pod that stays as it is becomes a failure when it said, not before, and nothing else changes by time', () => {
  fc.assert(
    fc.property(pods, fc.integer({ min: 0, max: 3 * GRACE_MS }), (of, aheadMs) => {
      const now = judge(of, NOW_MS);
      if (now.kind !== 'starting') {
        assert.equal(told(judge(of, NOW_MS + aheadMs)).split(' ')[0], told(now).split(' ')[0]);
        return;
      }
      assert.ok(now.failsAtMs > NOW_MS, 'a moment that passed would be looked at for ever');
      assert.equal(judge(of, Math.min(NOW_MS + aheadMs, now.failsAtMs - 1)).kind, 'starting');
      assert.equal(judge(of, now.failsAtMs).kind, 'failed');
    }),
    { numRuns: 500 },
  );
});
