/** The trial holds what Ville's inequality promises, knows no order of nodes, and grows with what speaks against the release. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  NODES_HALT_AT,
  NO_EVIDENCE,
  meanRatio,
  withDraw,
  FAILURES_MAX,
  advanceTrial,
  eValueOf,
  startTrial,
} from '../../../../src/core/health/trial.ts';
import type { TrialNode } from '../../../../src/core/health/trial.ts';
import type { Trial } from '../../../../src/core/model/rollout-record.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { nthNode } from '../../../support/evidence-fixtures.ts';

const MINUTE_MS = 60_000;

/** One node over several looks: its stratum, from which look on it is updated, and at which looks it is bad. */
interface Life {
  readonly stratum: string;
  readonly updatedFrom: number;
  readonly bad: readonly boolean[];
}

const LOOKS = 6;
const life: fc.Arbitrary<Life> = fc.record({
  stratum: fc.constantFrom('a/', 'b/', 'c/'),
  updatedFrom: fc.integer({ min: 0, max: LOOKS }),
  bad: fc.array(fc.boolean(), { minLength: LOOKS, maxLength: LOOKS }),
});
const lives = fc.array(life, { minLength: 1, maxLength: 40 });

function nodesAt(all: readonly Life[], look: number): TrialNode[] {
  return all.map(({ stratum, updatedFrom, bad }, index) => ({
    name: nthNode(index),
    stratum,
    isUpdated: updatedFrom <= look,
    isBad: bad[look] ?? false,
  }));
}

/** Looks a minute apart, each as `arrange` orders its nodes. */
function play(all: readonly Life[], arrange: (nodes: TrialNode[]) => TrialNode[]): Trial {
  let trial = startTrial(arrange(nodesAt(all, 0)), NOW_MS);
  for (let look = 1; look < LOOKS; look += 1) {
    trial = advanceTrial(trial, arrange(nodesAt(all, look)), NOW_MS + look * MINUTE_MS);
  }
  return trial;
}

test('the order in which nodes are listed changes nothing', () => {
  fc.assert(
    fc.property(lives, (all) => {
      const trial = play(all, (nodes) => nodes);
      assert.deepEqual(
        play(all, (nodes) => nodes.toReversed()),
        trial,
      );
    }),
    { numRuns: 200 },
  );
});

test('a look twice is a look once, and the record stays bounded', () => {
  fc.assert(
    fc.property(lives, (all) => {
      const trial = play(all, (nodes) => nodes);
      const again = advanceTrial(trial, nodesAt(all, LOOKS - 1), NOW_MS + LOOKS * MINUTE_MS);
      assert.equal(again, trial);
      assert.ok(trial.failures.length <= FAILURES_MAX);
      assert.ok(Number.isFinite(eValueOf(trial)) && eValueOf(trial) > 0);
    }),
    { numRuns: 200 },
  );
});

const atRisk = fc.record({
  updatedAtRisk: fc.integer({ min: 1, max: 200 }),
  othersAtRisk: fc.integer({ min: 1, max: 200 }),
});

test('E grows with each failure of an updated node, and falls with each of another', () => {
  fc.assert(
    fc.property(fc.array(atRisk, { maxLength: 8 }), atRisk, (before, next) => {
      const ratios = before.reduce(
        (sum, one) => withDraw(sum, { ...one, isUpdated: true }),
        NO_EVIDENCE,
      );
      const up = meanRatio(withDraw(ratios, { ...next, isUpdated: true }));
      const down = meanRatio(withDraw(ratios, { ...next, isUpdated: false }));
      assert.ok(up > meanRatio(ratios));
      assert.ok(down < meanRatio(ratios));
    }),
    { numRuns: 300 },
  );
});

test('without an effect the next E is on average the one before', () => {
  fc.assert(
    fc.property(fc.array(atRisk, { maxLength: 6 }), atRisk, (before, next) => {
      const ratios = before.reduce(
        (sum, one) => withDraw(sum, { ...one, isUpdated: true }),
        NO_EVIDENCE,
      );
      const share = next.updatedAtRisk / (next.updatedAtRisk + next.othersAtRisk);
      const mean =
        share * meanRatio(withDraw(ratios, { ...next, isUpdated: true })) +
        (1 - share) * meanRatio(withDraw(ratios, { ...next, isUpdated: false }));
      assert.ok(Math.abs(mean / meanRatio(ratios) - 1) < 1e-9);
    }),
    { numRuns: 300 },
  );
});

/** A fleet on which the release has no effect, looked at at each failure: the highest E that it ever shows. */
function highestE(seed: number): number {
  const random = seededRandom(seed);
  const good = Array.from({ length: 60 }, (_, index) => ({
    name: nthNode(index),
    stratum: index % 2 === 0 ? 'a/' : 'b/',
    isUpdated: index < 20,
    isBad: false,
  }));
  let trial = startTrial(good, NOW_MS);
  let highest = 1;
  for (let failure = 1; failure <= 25; failure += 1) {
    const at = Math.floor(random.next() * good.length);
    const nowMs = NOW_MS + failure * 2 * MINUTE_MS;
    trial = advanceTrial(
      trial,
      good.map((node, index) => ({ ...node, isBad: index === at })),
      nowMs,
    );
    trial = advanceTrial(trial, good, nowMs + MINUTE_MS);
    highest = Math.max(highest, eValueOf(trial));
  }
  return highest;
}

test('Ville: looked at at each of 25 failures, at most 4 % of harmless releases reach E >= 25, and 1 % E >= 100', () => {
  const fleets = 800;
  const highest = Array.from({ length: fleets }, (_, seed) => highestE(seed + 1));
  for (const [threshold, share] of [
    [NODES_HALT_AT, 0.04],
    [100, 0.01],
  ] as const) {
    const alarms = highest.filter((value) => value >= threshold).length;
    const bound = share * fleets + 3.3 * Math.sqrt(share * (1 - share) * fleets);
    assert.ok(
      alarms <= bound,
      `${String(alarms)} of ${String(fleets)} seeds from 1 on reach ${String(threshold)}`,
    );
    assert.ok(alarms > 0, 'or the test could not see an alarm');
  }
});
