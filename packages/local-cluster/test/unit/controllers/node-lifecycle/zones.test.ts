/** How fast nodes are tainted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '../../../../src/controllers/shared/object-views.ts';
import { Zones, zoneState } from '../../../../src/controllers/node-lifecycle/zones.ts';

function node(name: string, status: 'True' | 'False', zone = 'a'): NodeView {
  const labels = { 'topology.kubernetes.io/zone': zone };
  return {
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '', labels },
    spec: {},
    status: { conditions: [{ type: 'Ready', status }] },
  };
}

/** Zones with this many nodes. */
function zonesOf(of: { readonly ready: number; readonly notReady: number }): Zones {
  const zones = new Zones();
  for (let index = 0; index < of.ready; index += 1) zones.set(node(`ready-${index}`, 'True'));
  for (let index = 0; index < of.notReady; index += 1) zones.set(node(`bad-${index}`, 'False'));
  return zones;
}

describe('the state of a zone', () => {
  const rows: readonly [number, number, string][] = [
    [0, 0, 'normal'],
    [0, 1, 'full'],
    [1, 2, 'normal'],
    [3, 3, 'normal'],
    [2, 3, 'partial'],
    [9, 10, 'normal'],
    [9, 11, 'partial'],
  ];
  for (const [ready, notReady, expected] of rows) {
    it(`${ready} ready, ${notReady} not: ${expected}`, () => {
      assert.equal(zoneState({ ready, notReady }), expected);
    });
  }
});

describe('permissions to taint', () => {
  it('are one in ten seconds in a normal zone', () => {
    const zones = zonesOf({ ready: 3, notReady: 2 });
    assert.deepEqual(zones.take('bad-0', 0), { kind: 'granted' });
    assert.deepEqual(zones.take('bad-1', 4000), { kind: 'wait', delayMs: 6000 });
    assert.deepEqual(zones.take('bad-1', 10_000), { kind: 'granted' });
  });

  it('are none in a small disrupted zone, few in a large one', () => {
    assert.deepEqual(zonesOf({ ready: 2, notReady: 4 }).take('bad-0', 0), { kind: 'wait' });
    const large = zonesOf({ ready: 20, notReady: 40 });
    assert.deepEqual(large.take('bad-0', 0), { kind: 'granted' });
    assert.deepEqual(large.take('bad-1', 0), { kind: 'wait', delayMs: 100_000 });
  });

  it('are none when no node of the cluster is ready', () => {
    const zones = zonesOf({ ready: 0, notReady: 2 });
    assert.equal(zones.isFullyDisrupted, true);
    assert.deepEqual(zones.take('bad-0', 0), { kind: 'wait' });
    assert.equal(zones.set(node('other', 'True', 'b')), true);
    assert.equal(zones.isFullyDisrupted, false);
    assert.deepEqual(zones.take('bad-0', 0), { kind: 'granted' });
  });

  it('follow nodes that recover, move and go', () => {
    const zones = zonesOf({ ready: 1, notReady: 1 });
    assert.equal(zones.set(node('bad-0', 'True')), false);
    assert.equal(zones.set(node('ready-0', 'False')), false);
    assert.equal(zones.remove('bad-0'), true);
    assert.equal(zones.isFullyDisrupted, true);
  });
});
