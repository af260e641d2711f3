/**
 * What every implementation of the mirror's item must do: run against the one in memory and against the DynamoDB adapter (M4).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { NO_MIRROR, type FleetMirror } from '../../src/core/fleet/told/fleet-mirror.ts';
import { clusterId } from '../../src/core/model/identifiers.ts';
import type { FleetMirrorStore } from '../../src/ports/stores/freeze-store.ts';

const MIRROR: FleetMirror = {
  version: 0,
  cluster: clusterId('management'),
  setBy: 'ann',
  setAtMs: 1000,
  trouble: { code: 'refused', message: 'no namespace', sinceMs: 2000, fleet: 'ops/agent' },
};

/** Tests of a mirror store that is empty; call inside a describe block. */
export function testFleetMirrorStore(store: () => FleetMirrorStore): void {
  it('has none, then what was written over the version that was read, then none again', async () => {
    assert.deepEqual(await store().readMirror(), NO_MIRROR);
    assert.equal(await store().writeMirror(MIRROR), 'written');
    assert.deepEqual(await store().readMirror(), { ...MIRROR, version: 1 });
    assert.equal(await store().writeMirror(MIRROR), 'lost');
    const { cluster: _cluster, trouble: _trouble, ...none } = MIRROR;
    assert.equal(await store().writeMirror({ ...none, version: 1 }), 'written');
    assert.deepEqual(await store().readMirror(), { ...none, version: 2 });
  });

  it('lets one of several that write over the same version', async () => {
    const read = await store().readMirror();
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((setBy) => store().writeMirror({ ...read, setBy })),
    );
    assert.equal(outcomes.filter((one) => one === 'written').length, 1);
  });
}
