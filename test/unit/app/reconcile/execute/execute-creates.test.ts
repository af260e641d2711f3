/** Slow start: doubling, stopping on trouble, passing over refused nodes (spec 2.8). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  REFUSALS_IN_A_ROW_MAX,
  SLOW_START,
  continueSlowStart,
} from '../../../../../src/app/reconcile/execute/execute-creates.ts';

const tally = (
  done: number,
  refused = 0,
  trouble = 0,
): Parameters<typeof continueSlowStart>[1] => ({
  done,
  refused,
  trouble,
});

describe('continueSlowStart', () => {
  it('doubles from one up to the burst', () => {
    const sizes: number[] = [];
    let pace = SLOW_START;
    for (let batch = 0; batch < 10; batch += 1) {
      sizes.push(pace.batchSize);
      const decision = continueSlowStart(pace, tally(pace.batchSize), 250);
      assert.equal(decision.kind, 'continue');
      if (decision.kind === 'continue') pace = decision.next;
    }
    assert.deepEqual(sizes, [1, 2, 4, 8, 16, 32, 64, 128, 250, 250]);
  });

  it('stops on any answer without certainty', () => {
    const decision = continueSlowStart(SLOW_START, tally(1, 0, 1), 250);
    assert.deepEqual(decision, { kind: 'stop', reason: 'trouble' });
  });

  it('goes on past refusals, without growing, and stops when nothing else comes', () => {
    let pace = SLOW_START;
    for (let refusal = 1; refusal < REFUSALS_IN_A_ROW_MAX; refusal += 1) {
      const decision = continueSlowStart(pace, tally(0, 1), 250);
      assert.ok(decision.kind === 'continue');
      assert.equal(decision.next.batchSize, 1);
      pace = decision.next;
    }
    const last = continueSlowStart(pace, tally(0, 1), 250);
    assert.deepEqual(last, { kind: 'stop', reason: 'all-refused' });
    const mended = continueSlowStart(pace, tally(1, 1), 250);
    assert.ok(mended.kind === 'continue' && mended.next.refusedInARow === 0);
  });
});
