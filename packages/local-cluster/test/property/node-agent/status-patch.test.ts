/** The status patch against the API server's own strategic merge: what it makes of the old status is the new one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, isJsonObject } from '@rollcall/base/json.ts';
import { applyStrategicMergePatch } from '@rollcall/base/patch/strategic-merge-patch.ts';
import type { Condition, PodStatus } from '../../../src/node-agent/shared/pod-object.ts';
import { statusPatch } from '../../../src/node-agent/status/status-patch.ts';
import { createSchema } from '../../../src/schema/create-schema.ts';

const schema = createSchema();
const struct = schema.structOf({ group: '', version: 'v1', kind: 'Pod' });

const conditionArbitrary = fc.record(
  {
    status: fc.constantFrom('True', 'False'),
    reason: fc.constantFrom('A', 'B'),
    message: fc.constantFrom('one', 'two'),
    lastTransitionTime: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'),
  },
  { requiredKeys: ['status', 'lastTransitionTime'] },
);

const conditionsArbitrary: fc.Arbitrary<readonly Condition[]> = fc
  .dictionary(fc.constantFrom('Ready', 'Initialized', 'x.y/z', 'PodScheduled'), conditionArbitrary)
  .map((byType) => Object.entries(byType).map(([type, condition]) => ({ type, ...condition })));

const addressesArbitrary = fc
  .uniqueArray(fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1'), { minLength: 1, maxLength: 2 })
  .map((ips) => ips.map((ip) => ({ ip })));

const statusArbitrary: fc.Arbitrary<PodStatus> = fc
  .record(
    {
      phase: fc.constantFrom('Pending', 'Running', 'Failed'),
      reason: fc.constantFrom('Evicted', 'NodeLost'),
      message: fc.constantFrom('why', 'how'),
      observedGeneration: fc.integer({ min: 1, max: 3 }),
      conditions: conditionsArbitrary,
      podIPs: addressesArbitrary,
      containerStatuses: fc.array(
        fc.record({
          name: fc.constantFrom('a', 'b'),
          ready: fc.boolean(),
          restartCount: fc.integer({ min: 0, max: 2 }),
          state: fc.constantFrom(
            { waiting: { reason: 'ContainerCreating' } },
            { running: { startedAt: '2026-01-01T00:00:00Z' } },
          ),
          lastState: fc.constant({}),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    },
    { requiredKeys: ['phase', 'observedGeneration', 'conditions', 'containerStatuses'] },
  )
  .map((status) => status as PodStatus);

/** Order of conditions aside: a merge appends. */
function meaning(status: unknown): string {
  if (!isJsonObject(status)) return 'none';
  const sorted = (key: string): readonly string[] => {
    const list = status[key];
    return Array.isArray(list) ? list.map((item: Condition) => canonicalJson(item)).sort() : [];
  };
  const { conditions: _conditions, podIPs: _podIPs, ...rest } = status;
  return canonicalJson({
    ...rest,
    conditions: sorted('conditions'),
    podIPs: sorted('podIPs'),
  });
}

test('applied to the old status it gives the new one, and there is none when nothing differs', () => {
  let patches = 0;
  fc.assert(
    fc.property(statusArbitrary, statusArbitrary, (before, after) => {
      const patch = statusPatch({ uid: 'u', before, after });
      if (patch === undefined) {
        assert.equal(meaning(before), meaning(after));
        return;
      }
      patches += 1;
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { uid: 'u' }, status: before };
      const outcome = applyStrategicMergePatch(pod, patch, { schema, struct });
      assert.equal(outcome.kind, 'patched');
      const value = outcome.kind === 'patched' ? outcome.value : {};
      assert.ok(isJsonObject(value));
      assert.equal(meaning(value['status']), meaning(after));
    }),
    { numRuns: 300 },
  );
  assert.ok(patches > 100);
});

test('a status equals itself: no patch', () => {
  fc.assert(
    fc.property(statusArbitrary, (status) => {
      assert.equal(statusPatch({ uid: 'u', before: status, after: status }), undefined);
    }),
    { numRuns: 100 },
  );
});
