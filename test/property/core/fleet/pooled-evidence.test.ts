// Evidence on nodes over clusters: what one of them may add or take away, and what it is worth.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NO_EVIDENCE, withDraw, type LogRatios } from '../../../../src/core/health/trial.ts';
import { pooledEvidence } from '../../../../src/core/fleet/rollout/find-fleet-breach.ts';
import type { GivenCluster } from '../../../../src/core/fleet/rollout/tally-stage.ts';
import { ROLLING, givenOf } from '../../../support/fleet-records.ts';

/** A cluster whose trial drew these, each with both sides at risk. */
function drew(id: string, draws: readonly boolean[], share = 0.5): GivenCluster {
  const updatedAtRisk = Math.round(share * 100);
  const risk = { updatedAtRisk, othersAtRisk: 100 - updatedAtRisk };
  const ratios = draws.reduce<LogRatios>(
    (sum, isUpdated) => withDraw(sum, { isUpdated, ...risk }),
    NO_EVIDENCE,
  );
  return givenOf(id, ROLLING, { ratios });
}

const cluster = fc.record({
  draws: fc.array(fc.boolean(), { maxLength: 6 }),
  share: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
});

describe('pooledEvidence', () => {
  it('thirty old nodes that lose power in one cluster do not mute the others', () => {
    fc.assert(
      fc.property(
        fc.array(cluster, { maxLength: 12 }),
        fc.integer({ min: 1, max: 99 }),
        (all, share) => {
          const others = all.map(({ draws, share: of }, index) =>
            drew(`c${String(index)}`, draws, of),
          );
          const dark = drew(
            'dark',
            Array.from({ length: 30 }, () => false),
            share / 100,
          );
          const without = pooledEvidence(others);
          const withIt = pooledEvidence([...others, dark]);
          assert.ok(
            withIt >= (without / 2) * (1 - 1e-9),
            `${String(without)} became ${String(withIt)}`,
          );
        },
      ),
    );
    // Twelve clusters that each lost one updated node halt, whatever became of the old ones of a thirteenth.
    const burning = Array.from({ length: 12 }, (_, index) => drew(`c${String(index)}`, [true]));
    assert.ok(
      pooledEvidence([
        ...burning,
        drew(
          'dark',
          Array.from({ length: 30 }, () => false),
        ),
      ]) >= 20,
    );
  });

  it('is an e-value: the mean over every way in which harmless failures fall is 1', () => {
    const share = fc.integer({ min: 1, max: 99 });
    const shape = fc.array(fc.record({ draws: fc.integer({ min: 1, max: 3 }), share }), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(shape, (clusters) => {
        const sides = clusters.flatMap(({ draws, share: of }, index) =>
          Array.from({ length: draws }, () => ({ index, share: of / 100 })),
        );
        let mean = 0;
        for (let way = 0; way < 2 ** sides.length; way += 1) {
          const isUpdated = (side: number): boolean => ((way >> side) & 1) === 1;
          const chance = sides.reduce(
            (all, side, at) => all * (isUpdated(at) ? side.share : 1 - side.share),
            1,
          );
          const given = clusters.map(({ share: of }, index) => {
            const draws = sides.flatMap((side, at) =>
              side.index === index ? [isUpdated(at)] : [],
            );
            return drew(`c${String(index)}`, draws, of / 100);
          });
          mean += chance * pooledEvidence(given);
        }
        assert.ok(Math.abs(mean - 1) < 1e-9, String(mean));
      }),
    );
  });
});
