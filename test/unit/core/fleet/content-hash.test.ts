// What names the content of a FleetDaemonSet: what clusters are given, and nothing else.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { fleetContentHash } from '../../../../src/core/fleet/render-fleet.ts';
import { fleetOf, manifestOf } from '../../../support/fleet-samples.ts';

const OVERRIDE = { name: 'arm', clusterNames: ['a'], strategicMerge: { metadata: { labels: {} } } };
const hashOf = (spec: JsonObject): string => fleetContentHash(fleetOf(spec));

describe('the name of what a FleetDaemonSet gives clusters', () => {
  it('is the same however clusters are staged or chosen, and whatever overrides are called', () => {
    const same = [
      {},
      { placement: { clusterNames: ['a'] } },
      { strategy: { soak: '2h', onHalt: 'rollback', rollout: { soak: '1m' } } },
    ];
    assert.equal(new Set(same.map(hashOf)).size, 1);
    const renamed = [OVERRIDE, { ...OVERRIDE, name: 'other' }];
    assert.equal(new Set(renamed.map((override) => hashOf({ overrides: [override] }))).size, 1);
  });

  it('is another one where the manifest, an override or its clusters differ', () => {
    const different = [
      {},
      { template: manifestOf({}, 'registry.example/agent:2') },
      { template: manifestOf({ hostNetwork: true }) },
      { overrides: [OVERRIDE] },
      { overrides: [{ ...OVERRIDE, clusterNames: ['b'] }] },
      { overrides: [{ ...OVERRIDE, strategicMerge: { metadata: { labels: { x: 'y' } } } }] },
    ];
    assert.equal(new Set(different.map(hashOf)).size, different.length);
  });
});
