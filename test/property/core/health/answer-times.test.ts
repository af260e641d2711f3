/** Whether an API server became slow: bounded, deaf to single outliers, monotone, and calm where before and since are alike. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  KINDS_MAX,
  SAMPLES_MAX,
  addAnswers,
  findSlowAnswers,
} from '../../../../src/core/health/answer-times.ts';
import type { AnswerSample } from '../../../../src/core/model/rollout-record.ts';
import type { AnswerTiming } from '../../../../src/core/model/projections.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

const QUARTER_MS = 15_000;
const SINCE_MS = NOW_MS - (NOW_MS % QUARTER_MS);
const took = fc.integer({ min: 1, max: 30_000 });
const side = fc.array(took, { minLength: 0, maxLength: SAMPLES_MAX });

function samplesOf(before: readonly number[], since: readonly number[]): readonly AnswerSample[] {
  const first = SINCE_MS - before.length * QUARTER_MS;
  return [...before, ...since].map((tookMs, index) => [first + index * QUARTER_MS, tookMs]);
}

function isSlow(before: readonly number[], since: readonly number[]): boolean {
  const nowMs = SINCE_MS + since.length * QUARTER_MS;
  const samples = { 'get pods': samplesOf(before, since) };
  return findSlowAnswers(samples, { sinceMs: SINCE_MS, nowMs }) !== undefined;
}

test('one answer, however late, halts nothing, and hides nothing', () => {
  const calm = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 6, maxLength: 12 });
  const drawn = fc.record({ before: calm, since: calm, late: took, at: fc.nat() });
  fc.assert(
    fc.property(drawn, ({ before, since, late, at }) => {
      const outlier = since.with(at % since.length, late);
      assert.equal(isSlow(before, outlier), false);
      const slow = since.map((tookMs) => tookMs + 5000);
      assert.equal(isSlow(before, slow), true);
      if (before.length > 9) {
        assert.equal(isSlow(before.with(at % before.length, 30_000), slow), true, 'cold start');
      }
    }),
  );
});

test('slower answers since then never make it calm, nor do faster ones before', () => {
  fc.assert(
    fc.property(side, side, fc.integer({ min: 1, max: 100 }), (before, since, factor) => {
      if (!isSlow(before, since)) return;
      const slower = since.map((tookMs) => tookMs * factor);
      const faster = before.map((tookMs) => Math.ceil(tookMs / factor));
      assert.equal(isSlow(before, slower), true);
      assert.equal(isSlow(faster, since), true);
    }),
  );
});

test('the order of measurements changes nothing, and the record stays bounded', () => {
  const timing: fc.Arbitrary<AnswerTiming> = fc.record({
    kind: fc.constantFrom(...Array.from({ length: 12 }, (_, index) => `get kind${String(index)}`)),
    atMs: fc.integer({ min: SINCE_MS - 3_600_000, max: SINCE_MS + 3_600_000 }),
    tookMs: took,
  });
  fc.assert(
    fc.property(fc.array(timing, { maxLength: 64 }), (timings) => {
      const samples = addAnswers({}, timings, SINCE_MS);
      assert.deepEqual(addAnswers({}, timings.toReversed(), SINCE_MS), samples);
      assert.equal(addAnswers(samples, timings, SINCE_MS), samples, 'known');
      assert.ok(Object.keys(samples).length <= KINDS_MAX);
      for (const of of Object.values(samples)) {
        assert.ok(of.length <= 2 * SAMPLES_MAX);
        const times = of.map(([quarterMs]) => quarterMs);
        assert.deepEqual(
          times,
          [...new Set(times)].sort((left, right) => left - right),
        );
      }
    }),
  );
});

test('a server that is as slow since as before does not halt, whatever its spread', () => {
  // Log-normal times, and bursts in which all of them are twenty times as long: of 5,000 rollouts, five kinds of request each.
  const random = seededRandom(62);
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const draw = (spread: number, burst: number): number =>
    20 * Math.exp(spread * normal()) * (random.next() < burst ? 40 : 1);
  for (const { spread, burst } of [
    { spread: 1, burst: 0 },
    { spread: 2, burst: 0 },
    { spread: 1, burst: 0.2 },
    { spread: 1, burst: 0.5 },
  ]) {
    let halts = 0;
    for (let rollout = 0; rollout < 5_000; rollout += 1) {
      const of = (): number[] => Array.from({ length: 12 }, () => draw(spread, burst));
      halts += isSlow(of(), of()) ? 1 : 0;
    }
    assert.ok(halts <= 5, `spread ${spread}, bursts ${burst}: ${halts} of 5000 halted (seed 62)`);
  }
});
