/**
 * Clocks of kubelets and of the API server up to five minutes off ours, in both directions: a good release goes through, a bad one halts
 * on its canary, and neither earlier nor later than with true clocks (issue 17).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CLOCKS_DIFFER_MS } from '../../../../src/core/health/trial.ts';
import type { BreachCause } from '../../../../src/core/model/rollout-record.ts';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy, type Behaviour } from '../../../support/staged-world.ts';

const MINUTE_MS = 60_000;
const TICK_MS = 10_000;
const off = fc.integer({ min: -CLOCKS_DIFFER_MS, max: CLOCKS_DIFFER_MS });
const skews = fc.record({
  apiServerMs: off,
  kubeletMs: off,
  mode: fc.constantFrom('copilot' as const, 'takeover' as const),
});

function begin(skew: { apiServerMs: number; kubeletMs: number }, mode: 'copilot' | 'takeover') {
  const nodes = Array.from({ length: 8 }, (_, index) => node(`n${String(index)}`));
  const canary = { kind: 'share', share: { kind: 'count', count: 3 }, spread: [] } as const;
  const staged = policy({
    canary,
    soakMs: 10 * MINUTE_MS,
    maxUnavailable: { kind: 'count', count: 3 },
  });
  const world = new StagedWorld({ nodes, policy: staged, mode });
  world.skew = skew;
  world.tick(TICK_MS);
  world.hash = 'bbbb';
  return world;
}

test('a good release goes through, in no less than its soak', () => {
  fc.assert(
    fc.property(skews, ({ mode, ...skew }) => {
      const world = begin(skew, mode);
      // Slow to come up, but in time.
      world.behaviours.set('bbbb', { readyAfterMs: 4 * MINUTE_MS });
      const startMs = world.nowMs;
      assert.ok(world.until(() => world.count('bbbb') > 3, { stepMs: TICK_MS }));
      assert.ok(world.nowMs - startMs >= 14 * MINUTE_MS, 'soaked too short');
      assert.ok(world.until(() => world.record?.step.kind === 'done', { stepMs: TICK_MS }));
      assert.equal(world.record?.breach, undefined);
    }),
    { numRuns: 20 },
  );
});

const exit = (reason: string, finishedAtMs: number) => ({ reason, exitCode: 137, finishedAtMs });

/** Releases that fail, and how old their pods may be when the rollout halts. */
const BAD: readonly {
  readonly name: string;
  readonly cause: BreachCause;
  readonly behaviour: (nowMs: () => number) => Behaviour;
  readonly fromMs: number;
}[] = [
  {
    name: 'an image that cannot be pulled',
    cause: 'StartFailure',
    behaviour: () => ({
      readyAfterMs: Infinity,
      trouble: () => ({ waiting: 'ImagePullBackOff' }),
      ready: () => ({ isReady: false, sinceMs: 0 }),
    }),
    fromMs: 30_000,
  },
  {
    name: 'a pod that never starts',
    cause: 'StartFailure',
    behaviour: () => ({ ready: () => ({ isReady: false, sinceMs: 0 }) }),
    fromMs: 300_000,
  },
  {
    name: 'a kill for memory in the first minute',
    cause: 'OOMKilled',
    behaviour: (nowMs) => ({
      trouble: (ageMs) =>
        ageMs < 40_000
          ? undefined
          : { restarts: 1, lastExit: exit('OOMKilled', nowMs() - ageMs + 40_000) },
    }),
    fromMs: 40_000,
  },
  {
    name: 'two restarts',
    cause: 'Restarts',
    behaviour: (nowMs) => ({
      trouble: (ageMs) =>
        ageMs < 60_000
          ? undefined
          : { restarts: 2, lastExit: exit('Error', nowMs() - ageMs + 60_000) },
    }),
    fromMs: 60_000,
  },
];

for (const { name, cause, behaviour, fromMs } of BAD) {
  test(`${name} halts on the canary, when it shows`, () => {
    fc.assert(
      fc.property(skews, ({ mode, ...skew }) => {
        const world = begin(skew, mode);
        world.behaviours.set(
          'bbbb',
          behaviour(() => world.nowMs),
        );
        assert.ok(world.until(() => world.count('bbbb') > 0, { stepMs: TICK_MS }));
        const madeAtMs = world.nowMs;
        const isHalted = world.until(() => world.record?.breach !== undefined, {
          stepMs: TICK_MS,
          maxMs: fromMs + MINUTE_MS,
        });
        assert.ok(isHalted, 'too late');
        assert.equal(world.record?.breach?.cause, cause);
        assert.ok(world.nowMs - madeAtMs >= fromMs - TICK_MS, 'too early');
        assert.ok(world.count('bbbb') <= 3);
      }),
      { numRuns: 20 },
    );
  });
}
