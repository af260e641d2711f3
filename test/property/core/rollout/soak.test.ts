/** A soak of a later step over any history of restarts: those of pods that are gone by now hide none that came after (S16). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { soakAfter } from '../../../../src/core/rollout/soak.ts';
import { SOAK_MS, STARTED_MS, recordOf, stepOf } from '../../../support/rollout-records.ts';

const LOOK_MS = 60_000;
/** One of ten nodes may restart in an hour, and all looks lie within one. */
const SPARED = 1;

/** How many restarts the pods of the step show together at each look: a pod that was made anew takes its own away. */
const looks = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 2, maxLength: 40 });

test('a soak that stands has seen one restart at most since its pods showed the fewest', () => {
  fc.assert(
    fc.property(looks, (sums) => {
      let record = recordOf({ step: stepOf({ kind: 'group', index: 1 }), restarts: sums[0] ?? 0 });
      let seen: number[] = [];
      for (const [index, restarts] of sums.entries()) {
        const { soak, restarts: counted } = soakAfter(record, {
          nowMs: STARTED_MS + 2 * LOOK_MS + index * LOOK_MS,
          soakMs: 6 * SOAK_MS,
          restarts,
          seenView: record.seenView,
          isViewFresh: true,
          unheardMs: 0,
          well: { nodes: 10, unwellNodes: 0, blockingNodes: 0, isWhole: true },
        });
        const isSame = soak.wellSinceMs === record.step.wellSinceMs;
        seen = isSame ? [...seen, restarts] : [restarts];
        assert.ok(restarts - Math.min(...seen) <= SPARED, `${sums.join()} at ${String(index)}`);
        record = { ...record, step: { ...record.step, ...soak }, restarts: counted };
      }
    }),
  );
});
