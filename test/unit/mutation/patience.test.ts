/** When a test is given up that a mutant keeps from its end. */
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { BusyBound } from '../../mutation/busy-bound.ts';
import { Patience } from '../../mutation/patience.ts';

const LONG_MS = 3_600_000;
const LOOK_MS = 20;

/** Looks so often at a test that is pending so much at each look; tells why it was given up, and whether it is lost. */
function looked(pending: readonly number[], boundMs: number): [string | undefined, boolean] {
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    let look = -1;
    let given: string | undefined;
    const patience = new Patience({
      boundMs,
      giveUp: (reason) => (given ??= reason),
      pending: () => (look < 0 ? 1 : (pending[look] ?? 1)),
    });
    for (look = 0; look < pending.length; look += 1) mock.timers.tick(LOOK_MS);
    patience.end();
    mock.timers.tick(LOOK_MS);
    return [given, patience.isLost];
  } finally {
    mock.timers.reset();
  }
}

describe('a test that does not end', () => {
  it('is over when nothing is pending that could go on with it', () => {
    assert.deepEqual(looked([1, 1, 1, 1, 1], LONG_MS), ['waits, and nothing is pending', false]);
  });

  it('is waited for while something is pending, if only now and then', () => {
    assert.deepEqual(looked([1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 2], LONG_MS), [undefined, false]);
  });

  it('is lost at its bound while something is pending: it may still run', () => {
    assert.deepEqual(looked([2], 0), ['not over after 0 ms', true]);
  });
});

describe('a test that is busy without an end', () => {
  it('is stopped where it asks which mutant is active', () => {
    const context: { activeMutant?: string } = {};
    const bound = new BusyBound(context);
    bound.activate('7');
    bound.begin(0);
    assert.throws(() => {
      for (;;) assert.equal(context.activeMutant, '7');
    }, /busy without an end/);
    assert.equal(bound.end(), true);
    assert.equal(context.activeMutant, '7', 'and the next test runs');
  });

  it('is one past its bound alone: as many questions within it stop nothing', () => {
    const context: { activeMutant?: string } = {};
    const bound = new BusyBound(context);
    bound.begin(LONG_MS);
    for (let asked = 0; asked < 30_000; asked += 1) assert.equal(context.activeMutant, undefined);
    assert.equal(bound.end(), false);
  });
});
