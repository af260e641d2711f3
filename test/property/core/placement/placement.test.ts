/** Placement agrees with a second, naive implementation (spec 2.5, faults 52, 53). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decidePlacement, preparePlacement } from '../../../../src/core/placement/placement.ts';
import { nodes, podSpecs } from '../../../support/core-arbitraries.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';
import { referencePlacement } from '../../../support/reference-placement.ts';

test('placement agrees with the reference predicate, and names a reason that fits (faults 53)', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(podSpecs, nodes, (podSpec, node) => {
      const { placement, reason } = decidePlacement(preparePlacement(daemonSet({ podSpec })), node);
      assert.equal(placement, referencePlacement(podSpec, node));
      assert.equal(placement === 'run', reason.code === 'Eligible');
      if (placement === 'keep') assert.equal(reason.code, 'TaintNotTolerated');
      seen.set(reason.code, (seen.get(reason.code) ?? 0) + 1);
    }),
    { numRuns: 3000 },
  );
  assert.equal(seen.size, 6, `every reason was met: ${[...seen.keys()].join(', ')}`);
});
