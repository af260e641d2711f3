/**
 * The breaker under any history: never open for ever, one probe at a time, a back-off that only grows
 * while the cluster fails (L3, row 61).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  CLOSED_BREAKER,
  admitRun,
  breakerPolicy,
  noteFinding,
} from '../../../../src/core/model/breaker.ts';
import type { ClusterBreaker, Finding } from '../../../../src/core/model/breaker.ts';

/** One run: when it comes after the one before, what it finds, and by how much its clock is off. */
interface Step {
  readonly afterMs: number;
  readonly kind: Finding['kind'];
  readonly isSlow: boolean;
  readonly random: number;
  readonly skewMs: number;
}

const LONGEST_MS = breakerPolicy.openMaxMs * 1.2;

function steps(skewMaxMs: number): fc.Arbitrary<readonly Step[]> {
  return fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 90_000 }),
      kind: fc.constantFrom('answered', 'failed', 'silent'),
      isSlow: fc.boolean(),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      skewMs: fc.integer({ min: -skewMaxMs, max: skewMaxMs }),
    }),
    { maxLength: 60 },
  );
}

interface Moment {
  readonly nowMs: number;
  readonly before: ClusterBreaker;
  readonly breaker: ClusterBreaker;
  readonly wasProbe: boolean;
}

/** Plays steps, each as a run that asks first; answers every moment. */
function play(history: readonly Step[]): readonly Moment[] {
  let nowMs = 1_000_000_000;
  let breaker: ClusterBreaker = CLOSED_BREAKER;
  return history.map((step) => {
    nowMs += step.afterMs;
    const before = breaker;
    const seenMs = nowMs + step.skewMs;
    const admission = admitRun(breaker, seenMs);
    const isProbe = admission.kind === 'probe';
    if (admission.kind === 'probe') breaker = admission.next;
    const kind = admission.kind === 'refused' ? 'silent' : step.kind;
    const { isSlow, random } = step;
    const met = new Set<never>();
    const finding = { kind, isSlow, isProbe, random, nowMs: seenMs, met };
    breaker = noteFinding(breaker, finding) ?? breaker;
    return { nowMs, before, breaker, wasProbe: isProbe };
  });
}

describe('breaker', () => {
  it('is never open for longer than its longest opening, whatever clocks said before', () => {
    fc.assert(
      fc.property(steps(600_000), (history) => {
        for (const { nowMs, breaker } of play(history)) {
          const waited = nowMs + LONGEST_MS + breakerPolicy.probeMs;
          const kinds = [waited, nowMs + 600_000 + 2 * LONGEST_MS + breakerPolicy.probeMs].map(
            (atMs) => admitRun(breaker, atMs).kind,
          );
          // By true time at the latest; a clock that is off delays no one for longer than it is off.
          assert.notEqual(kinds.at(-1), 'refused');
        }
      }),
    );
  });

  it('names a moment to come again, and then somebody is admitted', () => {
    fc.assert(
      fc.property(steps(0), (history) => {
        for (const { nowMs, breaker } of play(history)) {
          let atMs = nowMs;
          let looks = 0;
          for (;;) {
            const admission = admitRun(breaker, atMs);
            if (admission.kind !== 'refused') break;
            assert.ok(admission.untilMs > atMs);
            atMs = admission.untilMs;
            looks += 1;
            assert.ok(looks < 40);
          }
          assert.ok(atMs - nowMs <= LONGEST_MS + breakerPolicy.probeMs);
        }
      }),
    );
  });

  it('admits one probe at a time', () => {
    fc.assert(
      fc.property(steps(0), fc.integer({ min: 0, max: 29_999 }), (history, laterMs) => {
        for (const { nowMs, breaker } of play(history)) {
          const first = admitRun(breaker, nowMs);
          if (first.kind !== 'probe') continue;
          assert.equal(admitRun(first.next, nowMs + laterMs).kind, 'refused');
        }
      }),
    );
  });

  it('waits longer with each opening until an answer and a calm time, and never beyond its cap', () => {
    fc.assert(
      fc.property(steps(0), (history) => {
        let lastDelayMs = 0;
        for (const { before, breaker, nowMs } of play(history)) {
          const { closedAtMs } = before;
          const isCalm = closedAtMs === undefined || nowMs - closedAtMs >= breakerPolicy.calmMs;
          if (before.open === undefined && isCalm) lastDelayMs = 0;
          if (breaker.open === undefined || breaker.openings === before.openings) continue;
          const { delayMs, untilMs } = breaker.open;
          assert.ok(delayMs >= lastDelayMs && delayMs <= breakerPolicy.openMaxMs);
          assert.ok(untilMs - nowMs >= delayMs * 0.8 - 1 && untilMs - nowMs <= delayMs * 1.2 + 1);
          lastDelayMs = delayMs;
        }
      }),
    );
  });

  it('stores nothing while a cluster answers', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('answered' as const, 'silent' as const)), (kinds) => {
        for (const kind of kinds) {
          const met = new Set<never>();
          const at = { kind, isProbe: false, isSlow: false, nowMs: 1, random: 0.5, met };
          assert.equal(noteFinding(CLOSED_BREAKER, at), undefined);
        }
      }),
    );
  });
});
