/** When a pod must leave a tainted node. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Taint, Toleration } from '@rollcall/base/objects.ts';
import { decideEviction } from '../../../../src/controllers/taint-eviction/decide-eviction.ts';

const GONE: Taint = { key: 'gone', effect: 'NoExecute' };
const ODD: Taint = { key: 'odd', effect: 'NoExecute' };
const tolerates = (key: string, seconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
});

describe('eviction by taint', () => {
  it('spares a pod without NoExecute taints on its node, or that tolerates them for good', () => {
    const soft: Taint = { key: 'gone', effect: 'NoSchedule' };
    assert.deepEqual(decideEviction({ taints: [soft], tolerations: [] }), { kind: 'stay' });
    assert.deepEqual(decideEviction({ taints: [GONE], tolerations: [tolerates('gone')] }), {
      kind: 'stay',
    });
  });

  it('is at once for one taint that is not tolerated, or not for any time', () => {
    const tolerations = [tolerates('gone', 300)];
    assert.deepEqual(decideEviction({ taints: [GONE, ODD], tolerations }), { kind: 'leave' });
    for (const seconds of [0, -1]) {
      assert.deepEqual(
        decideEviction({ taints: [ODD], tolerations: [tolerates('odd', seconds)] }),
        {
          kind: 'leave',
        },
      );
    }
  });

  it('waits for the shortest of the times that are used', () => {
    const tolerations = [tolerates('gone', 300), tolerates('odd', 20), tolerates('idle', 1)];
    assert.deepEqual(decideEviction({ taints: [GONE, ODD], tolerations }), {
      kind: 'leave-after',
      delayMs: 20_000,
    });
  });

  it('uses the first toleration that fits', () => {
    const tolerations = [tolerates('gone'), tolerates('gone', 5)];
    assert.deepEqual(decideEviction({ taints: [GONE], tolerations }), { kind: 'stay' });
  });
});
