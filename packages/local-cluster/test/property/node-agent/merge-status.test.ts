/** Merging the agent's status with the API's: what others own stays, a terminal pod is not ready, an end is not told early. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Condition, PodStatus } from '../../../src/node-agent/shared/pod-object.ts';
import { mergeStatus } from '../../../src/node-agent/status/merge-status.ts';

const conditions: fc.Arbitrary<readonly Condition[]> = fc
  .dictionary(
    fc.constantFrom('Ready', 'ContainersReady', 'Initialized', 'example.com/own'),
    fc.constantFrom('True', 'False'),
  )
  .map((byType) =>
    Object.entries(byType).map(([type, status]) => ({
      type,
      status,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
  );

const statuses: fc.Arbitrary<PodStatus> = fc.record({
  phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
  conditions,
});

const isTerminal = (phase: string | undefined): boolean =>
  phase === 'Succeeded' || phase === 'Failed';

test('conditions of others stay as they are, terminal pods are not ready, ends wait for the containers', () => {
  fc.assert(
    fc.property(statuses, statuses, fc.boolean(), (before, after, couldRun) => {
      const merged = mergeStatus({ before, after, couldRun, nowText: '2026-01-01T00:00:09Z' });
      const find = (status: PodStatus, type: string): Condition | undefined =>
        status.conditions?.find((condition) => condition.type === type);
      assert.deepEqual(find(merged, 'example.com/own'), find(before, 'example.com/own'));
      const isEarly = couldRun && !isTerminal(before.phase) && isTerminal(after.phase);
      assert.equal(merged.phase, isEarly ? before.phase : after.phase);
      for (const type of ['Ready', 'ContainersReady']) {
        const status = find(merged, type)?.status;
        if (isTerminal(merged.phase)) assert.notEqual(status, 'True');
        else assert.equal(status, find(after, type)?.status);
      }
      const types = merged.conditions?.map(({ type }) => type) ?? [];
      assert.equal(new Set(types).size, types.length);
    }),
    { numRuns: 300 },
  );
});
