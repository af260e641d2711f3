// Random plans from seeds: whatever happens in whatever order, the promises hold and it settles.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { FAULTS, STEPS } from '../support/simulation/deeds.ts';
import { drawPlan } from '../support/simulation/draw-plan.ts';
import { playPlan } from '../support/simulation/play-plan.ts';
import { PLAN_SCHEMA, parsePlan } from '../support/simulation/plan.ts';
import { describeBroken } from '../support/simulation/describe-broken.ts';
import { PROFILES, USERS_WORLDS } from '../support/simulation/profiles.ts';
import { runSeed } from '../support/simulation/run-seed.ts';

// Other seeds, more of them, other profiles, one seed again: npm run sim -- --help (docs/testing.md).
const SEEDS = Array.from({ length: 120 }, (_, index) => index + 1);
const SEEDS_OF_WORLDS = 10;
/** Worlds of a dozen nodes and more cost more. */
const SEEDS_OF_LARGE_WORLDS = 4;

/** Takeover, and copilot beside a built-in controller; clocks that are off. */
const STAGED_HUNTS = [
  'staged',
  'ailing-releases',
  'wrong-clocks',
  'guarded-rollbacks',
  'revert-after-canary',
  'undo-then-revert',
  'back-and-forth',
  'scale-in',
  'pools-to-zero',
  'flaky-nodes',
  'first-never-runs',
  'beside-built-in',
  'shaken-copilot',
  'ill-beside-built-in',
] as const;

const happened = new Map<string, number>();
let judged = 0;

async function play(seed: number, profile: string): Promise<void> {
  const result = await runSeed({ seed, profile });
  if (result.kind === 'broken') throw new Error(describeBroken(result));
  for (const [deed, times] of result.happened) {
    happened.set(deed, (happened.get(deed) ?? 0) + times);
  }
  judged += result.judged;
}

for (const seed of SEEDS) {
  test(`S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S13, S14, L1, L2, L5: seed ${seed} keeps every promise and settles (row 15)`, async () => {
    await play(seed, 'mixed');
  });
}

for (const world of USERS_WORLDS) {
  const isLarge = 'nodes' in PROFILES[world];
  for (const seed of SEEDS.slice(0, isLarge ? SEEDS_OF_LARGE_WORLDS : SEEDS_OF_WORLDS)) {
    test(`S1, S2, S3, S4, S5, S7, S9, S10, S11, S13, S14, L1, L2, L5: seed ${seed} of ${world} keeps every promise (row 15)`, async () => {
      await play(seed, world);
    });
  }
}

// Releases under a policy take minutes to soak: they have schedules of their own, more of them in `hunts`.
for (const hunt of STAGED_HUNTS) {
  for (const seed of SEEDS.slice(0, 3)) {
    test(`S3, S4, S10, S16, L1, L5: seed ${seed} of ${hunt} keeps every promise (row 15)`, async () => {
      await play(seed, hunt);
    });
  }
}

for (const seed of SEEDS.slice(0, 3)) {
  test(`S1, S3, L1, L5: seed ${seed} of hostile-tenant keeps every promise`, async () => {
    await play(seed, 'hostile-tenant');
  });
}

for (const hunt of ['stack-freezes', 'freezes-of-stages']) {
  for (const seed of SEEDS.slice(0, 3)) {
    test(`S17, L1, L5: seed ${seed} of ${hunt} keeps every promise`, async () => {
      await play(seed, hunt);
    });
  }
}

test('M1: every fault and every step that a plan can have happened', () => {
  const dead = [...FAULTS, ...STEPS].filter((deed) => !happened.has(deed));
  assert.deepEqual(dead, []);
  assert.ok((happened.get('roll') ?? 0) > 240, 'too few rolling updates');
  assert.ok(judged > 90, `only ${judged} deletes of available pods`);
});

test('M1: a fault that is demanded and cannot happen fails the run (row 16)', async () => {
  // Pages of 500 objects are never continued: nothing can expire between two of them.
  const plan = drawPlan({ seed: 1, profile: 'baseline', stepsCount: 3 });
  const setting = { ...plan.setting, pageLimit: 500 };
  const result = await playPlan({ ...plan, setting, demands: ['list-expired'] });
  assert.equal(result.kind === 'broken' ? result.rule : result.kind, 'M1');
  const demanded = await playPlan({ ...plan, demands: ['table-answer-lost', 'take-name'] });
  assert.equal(demanded.kind, 'held');
  assert.deepEqual([...demanded.happened.keys()].includes('table-answer-lost'), true);
});

test('M1: a fault whose name nobody knows is refused, not ignored (row 16)', () => {
  const plan = drawPlan({ seed: 1, profile: 'baseline', stepsCount: 1 });
  assert.equal(parsePlan(JSON.parse(JSON.stringify(plan))).schema, PLAN_SCHEMA);
  const mistyped = { ...plan, faults: { 'drop-evnt': { rate: 0.1 } } };
  assert.throws(() => parsePlan(mistyped), /no fault is called drop-evnt/);
  assert.throws(() => parsePlan({ ...plan, demands: ['kil'] }), /no deed is called kil/);
});

test('M2: the same seed gives the same trace twice, another one does not (row 17)', async () => {
  for (const seed of [3, 4, 5, 8, 16]) {
    const [one, two] = [await runSeed({ seed }), await runSeed({ seed })];
    assert.equal(one.hash, two.hash, `seed ${seed}`);
    assert.notEqual(one.hash, (await runSeed({ seed: seed + 1000 })).hash);
  }
});

test('M2: a run told which opportunities fire is the run that drew them by rate', async () => {
  const drawn = await runSeed({ seed: 8 });
  const faults = Object.fromEntries([...drawn.firedAt].map(([fault, at]) => [fault, { at }]));
  const again = await playPlan({ ...drawn.plan, faults });
  assert.equal(again.hash, drawn.hash);
});

test('M3: a failure prints one command that plays the same seed again', async () => {
  const plan = drawPlan({ seed: 17, profile: 'baseline', stepsCount: 2 });
  const setting = { ...plan.setting, pageLimit: 500 };
  const result = await playPlan({ ...plan, setting, demands: ['list-expired'] });
  assert.ok(result.kind === 'broken');
  const text = describeBroken(result);
  assert.match(text, /seed 17 .*baseline/);
  assert.match(text, /npm run sim -- --seed 17 --profile baseline --steps 2\b/);
});
