// A step of a fleet costs its stage, whatever else is registered (issue 18, "It is done when"): counts, which do not depend on the machine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureSteps } from '../support/fleet-simulation/step-costs.ts';

test('a step reads and writes for its stage alone, among 200 clusters and among 1,000', async () => {
  const [few, many] = [await measureSteps(200, [1, 20]), await measureSteps(1000, [1, 20])];
  // All but the dealing out.
  assert.deepEqual(many.slice(1), few.slice(1));
});

test('a step of a stage reads nine items of each of its clusters at most, and writes some two of those that it gives something', async () => {
  const [, one, hundred] = await measureSteps(300, [1, 100]);
  assert.ok(one && hundred);
  assert.ok(one.tableReads + one.viewReads <= 22, JSON.stringify(one));
  assert.ok(hundred.tableReads + hundred.viewReads <= 22 + 9 * 100, JSON.stringify(hundred));
  assert.ok(hundred.writes <= 3 + 4 * 10, JSON.stringify(hundred));
});

test('a step reads three items more of a hundred small clusters of its stage, and no more of a larger one', async () => {
  const [, , large] = await measureSteps(170, [1, 150]);
  const [, , small] = await measureSteps(170, [1, 150], 3);
  assert.ok(large && small);
  const readsOf = ({ tableReads, viewReads }: typeof large): number => tableReads + viewReads;
  const more = readsOf(small) - readsOf(large);
  assert.ok(more > 100 && more <= 3 * 100, `${String(more)} items`);
});
