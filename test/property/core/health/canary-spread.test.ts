/** A canary is as large as asked, the same in any order, and never strips a stratum that it need not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chooseCanary, attributeOf, stratumOf } from '../../../../src/core/health/canary-spread.ts';
import type { NodeProjection } from '../../../../src/core/model/projections.ts';
import { SPREAD_DEFAULT } from '../../../../src/core/policy/rollout-policy.ts';
import { node } from '../../../support/core-fixtures.ts';

const kind = fc.record({
  zone: fc.constantFrom('a', 'b', 'c'),
  pool: fc.constantFrom('x', 'y'),
  arch: fc.constantFrom('amd64', 'arm64'),
  isReady: fc.boolean(),
});
const fleet = fc.array(kind, { maxLength: 40 }).map((kinds) =>
  kinds.map(({ zone, pool, arch, isReady }, index) => {
    const labels = {
      'topology.kubernetes.io/zone': zone,
      'karpenter.sh/nodepool': pool,
      'kubernetes.io/arch': arch,
    };
    return node(`n${String(index)}`, { labels, isReady });
  }),
);
const count = fc.integer({ min: 0, max: 45 });

/** How many nodes each stratum has. */
function sizes(nodes: readonly NodeProjection[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const one of nodes) found.set(stratumOf(one), (found.get(stratumOf(one)) ?? 0) + 1);
  return found;
}

test('of any fleet: Ready nodes, as many as asked, alike in any order', () => {
  fc.assert(
    fc.property(fleet, count, fc.string(), (nodes, wanted, seed) => {
      const choice = {
        nodes,
        count: wanted,
        spread: SPREAD_DEFAULT,
        seed,
        cordoned: 'last',
      } as const;
      const chosen = chooseCanary(choice);
      const ready = nodes.filter(({ isReady }) => isReady);
      assert.equal(new Set(chosen).size, Math.min(wanted, ready.length));
      assert.ok(chosen.every((name) => ready.some((one) => one.name === name)));
      assert.deepEqual(chooseCanary({ ...choice, nodes: nodes.toReversed() }), chosen);
    }),
    { numRuns: 200 },
  );
});

test('a stratum is used up only once every other one is down to its last, or for a value that nothing else shows', () => {
  fc.assert(
    fc.property(fleet, count, (nodes, wanted) => {
      const ready = nodes.filter(({ isReady }) => isReady);
      const names = new Set(
        chooseCanary({
          nodes,
          count: wanted,
          spread: SPREAD_DEFAULT,
          seed: 's',
          cordoned: 'alike',
        }),
      );
      const chosen = ready.filter(({ name }) => names.has(name));
      const left = sizes(ready.filter(({ name }) => !names.has(name)));
      const isSpare = [...left.values()].some((size) => size > 1);
      for (const [stratum, size] of sizes(ready)) {
        if (left.has(stratum) || !isSpare || size === 0) continue;
        const inside = chosen.filter((one) => stratumOf(one) === stratum);
        const isRare = inside.some((one) =>
          SPREAD_DEFAULT.some((key) => {
            const value = attributeOf(one, key);
            const others = chosen.filter((other) => stratumOf(other) !== stratum);
            return (
              value !== undefined && others.every((other) => attributeOf(other, key) !== value)
            );
          }),
        );
        assert.ok(isRare, stratum);
      }
    }),
    { numRuns: 200 },
  );
});
