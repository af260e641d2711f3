// Random schedules from seeds: whatever happens in whatever order, the promises hold and it settles.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { FAULTS } from '../support/simulation/random-faults.ts';
import { runSchedule } from '../support/simulation/random-schedule.ts';

// One seed again: ROLLCALL_SIMULATION_SEED=17 npm test -- test/simulation/random.test.ts
const only = process.env['ROLLCALL_SIMULATION_SEED'];
const first = Number(process.env['ROLLCALL_SIMULATION_FIRST'] ?? 1);
const count = Number(process.env['ROLLCALL_SIMULATION_COUNT'] ?? 60);
const seeds =
  only === undefined ? Array.from({ length: count }, (_, index) => first + index) : [Number(only)];
const STEPS = 40;

const fired = new Map<string, number>();
let judged = 0;

for (const seed of seeds) {
  test(`S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, L1: seed ${seed} keeps every promise and settles`, async () => {
    try {
      const result = await runSchedule(seed, STEPS);
      for (const [fault, times] of result.fired) fired.set(fault, (fired.get(fault) ?? 0) + times);
      judged += result.judged;
    } catch (cause) {
      throw new Error(failureOf(seed), { cause });
    }
  });
}

function failureOf(seed: number): string {
  const command = `ROLLCALL_SIMULATION_SEED=${seed} npm test -- test/simulation/random.test.ts`;
  return `seed ${seed} failed; again with: ${command}`;
}

test('M3: a failure prints one command that runs the same seed again', () => {
  assert.match(failureOf(17), /seed 17 .*ROLLCALL_SIMULATION_SEED=17 npm test -- test\/simulation/);
});

test('M1: every planned fault fired', { skip: only !== undefined || count < 60 }, () => {
  for (const fault of FAULTS) {
    assert.ok((fired.get(fault) ?? 0) > 0, `${fault} never fired`);
  }
  assert.ok((fired.get('roll') ?? 0) > 100, 'too few rolling updates');
  assert.ok(judged > 40, `only ${judged} deletes of available pods`);
});

test('M2: the same seed gives the same trace twice', async () => {
  const [one, two] = [await runSchedule(3, STEPS), await runSchedule(3, STEPS)];
  assert.equal(one.hash, two.hash);
  assert.notEqual(one.hash, (await runSchedule(4, STEPS)).hash);
});
