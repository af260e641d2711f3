/** A status as a JSON Patch over what was seen (ADR 0031). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { isPatch, statusPatch, testedValue } from '../../../../src/core/status/status-patch.ts';

const STATUS: DaemonSetStatus = {
  currentNumberScheduled: 1,
  numberMisscheduled: 0,
  desiredNumberScheduled: 2,
  numberReady: 1,
  observedGeneration: 3,
};

const seen = (status: DaemonSetStatus | undefined, generation?: number): DaemonSetObject => ({
  metadata: {
    name: 'agent',
    uid: 'u',
    resourceVersion: '70',
    ...(generation === undefined ? {} : { generation }),
  },
  spec: { template: {} },
  ...(status === undefined ? {} : { status }),
});

describe('a status as a patch', () => {
  it('tests what the counts rest on, and adds only what differs', () => {
    const next = { ...STATUS, numberReady: 2, numberAvailable: 2, conditions: [{ type: 'New' }] };
    assert.deepEqual(statusPatch(seen(STATUS, 3), next), [
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: '/metadata/resourceVersion', value: '70' },
      { op: 'test', path: '/metadata/generation', value: 3 },
      { op: 'test', path: '/status/observedGeneration', value: 3 },
      { op: 'add', path: '/status/numberReady', value: 2 },
      { op: 'add', path: '/status/numberAvailable', value: 2 },
    ]);
  });

  it('is none where there is no status yet, a generation is not known, or nothing differs', () => {
    const next = { ...STATUS, numberReady: 2 };
    const { observedGeneration: _none, ...unobserved } = STATUS;
    assert.equal(statusPatch(seen(undefined, 3), next), undefined);
    assert.equal(statusPatch(seen(unobserved as DaemonSetStatus, 3), next), undefined);
    assert.equal(statusPatch(seen(STATUS), next), undefined);
    assert.equal(statusPatch(seen(STATUS, 3), STATUS), undefined);
  });

  it('is told from a whole object, and tells what it demands', () => {
    const patch = statusPatch(seen(STATUS, 3), { ...STATUS, numberReady: 2 }) ?? assert.fail();
    assert.deepEqual([isPatch(patch), isPatch({ metadata: {} })], [true, false]);
    assert.equal(testedValue(patch, '/metadata/uid'), 'u');
    assert.equal(testedValue(patch, '/status/numberReady'), undefined, 'added, not tested');
  });
});
