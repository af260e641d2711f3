/** Placement agrees with a second, naive implementation (spec 2.5, faults 52, 53). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PodSpec } from '@rollcall/base/objects.ts';
import { placeNodes } from '../../../../src/core/placement/place-nodes.ts';
import { decidePlacement, preparePlacement } from '../../../../src/core/placement/placement.ts';
import { nodes, podSpecs } from '../../../support/core-arbitraries.ts';
import { daemonSet, node } from '../../../support/core-fixtures.ts';
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

/** Only pods of the node's own network are placed there. */
const WITHOUT_NETWORK = node('n0', {
  taints: [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }],
});

test('what is remembered for a list of nodes is what would be decided for it now, whichever DaemonSets asked before', () => {
  fc.assert(
    fc.property(podSpecs, fc.array(nodes, { maxLength: 3 }), (podSpec, others) => {
      const list = [...others, WITHOUT_NETWORK];
      // Alike in all but one field that placement reads: a memory that forgets the field takes one for the other.
      const { hostNetwork: _network, ...usual } = podSpec;
      const alike: readonly PodSpec[] = [
        {},
        { hostNetwork: true },
        podSpec,
        { ...usual, hostNetwork: podSpec.hostNetwork !== true },
        { ...podSpec, tolerations: [{ operator: 'Exists' }] },
        { ...podSpec, nodeSelector: { pool: 'none' } },
        { ...podSpec, nodeName: 'none' },
        { ...podSpec, affinity: {} },
      ];
      for (const one of alike.map((each) => daemonSet({ podSpec: each }))) {
        assert.deepEqual(placeNodes(one, list), placeNodes(one, [...list]));
      }
    }),
    { numRuns: 300 },
  );
});
