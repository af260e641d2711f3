/**
 * Scenarios of the differential suite are drawn the same from the same seed, and are plain JSON.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generateScenario } from '../../differential/generate.ts';

const STEPS_COUNT = 20;
/** What others write (generate-others.ts). */
const OTHERS: ReadonlySet<string> = new Set([
  'set-annotate',
  'set-apply',
  'set-put',
  'set-replace',
  'set-status',
  'set-flip',
  'pod-evict',
  'pod-delete-again',
  'pod-strip',
  'all-annotate',
  'all-rewrite',
]);

function draw(seed: number, index: number): ReturnType<typeof generateScenario> {
  return generateScenario({ seed, index, stepsCount: STEPS_COUNT });
}

describe('a drawn scenario', () => {
  it('is the same for the same seed and number, and another for another', () => {
    assert.deepEqual(draw(1, 2), draw(1, 2));
    assert.notDeepEqual(draw(1, 2).steps, draw(1, 3).steps);
    assert.notDeepEqual(draw(1, 2).steps, draw(2, 2).steps);
  });

  it('is plain JSON: what is saved is what is played', () => {
    for (let index = 0; index < 50; index += 1) {
      const scenario = draw(3, index);
      assert.deepEqual(JSON.parse(JSON.stringify(scenario)), scenario);
    }
  });

  it('draws every kind of step within two hundred scenarios', () => {
    const drawn = new Set<string>();
    for (let index = 0; index < 200; index += 1) {
      for (const { op } of draw(5, index).steps) drawn.add(op);
    }
    assert.equal(drawn.size, 39, [...drawn].sort().join(' '));
  });

  it('lets others write between the steps, never between an edit and the one that overtakes it', () => {
    let count = 0;
    for (let index = 0; index < 200; index += 1) {
      const { steps } = draw(9, index);
      for (const [at, step] of steps.entries()) {
        if (!OTHERS.has(step.op)) continue;
        count += 1;
        assert.notEqual(steps[at - 1]?.isHurried, true, `${String(index)}: ${step.op}`);
      }
    }
    assert.ok(count > 200, `${String(count)} steps of others`);
  });

  it('never interrupts a rollout that could not complete: how far it came would be chance', () => {
    for (let index = 0; index < 200; index += 1) {
      const { steps } = draw(7, index);
      for (const [at, step] of steps.entries()) {
        if (step.op !== 'set-edit' || step.isHurried !== true) continue;
        const next = steps[at + 1];
        const forms = [step.form, ...(next?.op === 'set-edit' ? [next.form] : [])];
        assert.deepEqual(
          forms.filter(({ isUnhealthy }) => isUnhealthy === true),
          [],
        );
      }
    }
  });
});
