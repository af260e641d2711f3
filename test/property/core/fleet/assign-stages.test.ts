// Stages of a fleet: every cluster is in one, and one cluster more or less moves few others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assignStages } from '../../../../src/core/fleet/assign-stages.ts';
import { nodesRoundedUp } from '../../../../src/core/policy/share.ts';
import type { ClusterFacts } from '../../../../src/core/fleet/cluster-facts.ts';
import { factsOf, fleetOf } from '../../../support/fleet-samples.ts';

const share = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.integer({ min: 1, max: 100 }).map((percent) => `${String(percent)}%`),
);
const stages = fc
  .array(fc.record({ clusters: share }), { minLength: 1, maxLength: 5 })
  .map((list) => list.map((stage, index) => ({ name: `s${String(index)}`, ...stage })));
const clusters = fc
  .uniqueArray(fc.integer({ min: 0, max: 500 }), { maxLength: 60 })
  .map((numbers) => numbers.map((number) => factsOf(`c${String(number)}`)));

/** By cluster, the index of its stage. */
function placesOf(
  all: readonly ClusterFacts[],
  written: readonly { readonly name: string; readonly clusters: string | number }[],
): ReadonlyMap<string, number> {
  const assigned = assignStages(fleetOf({ strategy: { stages: written } }), all);
  const places = assigned.flatMap((stage, index) =>
    stage.clusters.map(({ id }): [string, number] => [id, index]),
  );
  assert.equal(new Map(places).size, places.length, 'a cluster is in two stages');
  return new Map(places);
}

describe('assignStages', () => {
  it('puts every cluster in one stage, whatever order they are read in', () => {
    fc.assert(
      fc.property(clusters, stages, (all, written) => {
        const places = placesOf(all, written);
        assert.deepEqual([...places.keys()].sort(), all.map(({ id }) => id).sort());
        assert.deepEqual(placesOf([...all].reverse(), written), places);
      }),
    );
  });

  it('fills the stages in their order, each with its share of all', () => {
    fc.assert(
      fc.property(clusters, stages, (all, written) => {
        const fleet = fleetOf({ strategy: { stages: written } });
        let left = all.length;
        for (const { stage, clusters: taken } of assignStages(fleet, all).slice(0, -1)) {
          const asked =
            stage.share === undefined ? all.length : nodesRoundedUp(stage.share, all.length);
          assert.equal(taken.length, Math.min(left, asked));
          left -= taken.length;
        }
      }),
    );
  });

  it('moves at most one cluster over the end of the k-th stage for each of the k when one joins or leaves', () => {
    fc.assert(
      fc.property(clusters, stages, (all, written) => {
        const [joined, ...others] = all;
        if (joined === undefined) return;
        const [before, after] = [placesOf(others, written), placesOf(all, written)];
        for (const index of written.keys()) {
          const moved = others.filter(({ id }) => {
            const [former = -1, next = -1] = [before.get(id), after.get(id)];
            return former <= index !== next <= index;
          });
          assert.ok(
            moved.length <= index + 1,
            `${String(moved.length)} moved over ${String(index)}`,
          );
        }
      }),
    );
  });

  it('gives each fleet an order of its own, the same with every release', () => {
    const all = Array.from({ length: 200 }, (_, index) => factsOf(`c${String(index)}`));
    const firstOf = (name: string, image: string): readonly string[] => {
      const fleet = { ...fleetOf({ overrides: [{ name: image, strategicMerge: {} }] }), name };
      return (assignStages(fleet, all)[1]?.clusters ?? []).map(({ id }) => id);
    };
    assert.deepEqual(firstOf('agent', 'a'), firstOf('agent', 'b'));
    assert.notDeepEqual(firstOf('agent', 'a'), firstOf('other', 'a'));
  });
});
