// The mirror of a fleet: which release, in what state, and what of an object may be read back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  formerConditions,
  mirrorObject,
  mirrorStatus,
} from '../../../../../src/core/fleet/told/fleet-facts.ts';
import {
  AT_MS,
  fleetRecord,
  largestRecord,
  standing,
} from '../../../../support/fleet-record-samples.ts';
import { poolOf } from '../../../../support/fleet-pools.ts';

const AT = { former: [], observedGeneration: 4, nowMs: AT_MS };

function statusOf(object: JsonObject): JsonObject {
  return object['status'] as JsonObject;
}

describe('mirrorObject', () => {
  it('names the release and nothing of the manifest', () => {
    assert.deepEqual(mirrorObject(fleetRecord()), {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'FleetDaemonSet',
      metadata: { namespace: 'monitoring', name: 'agent' },
      spec: {
        uid: 'fleet-uid',
        generation: 3,
        contentHash: 'content-3',
        appliedAt: '2026-11-25T11:00:00Z',
        appliedBy: 'ann',
      },
    });
  });
});

describe('mirrorStatus', () => {
  it('has stages with their clusters, and the counts of the open one, zero included', () => {
    const status = statusOf(mirrorStatus(fleetRecord(), AT));
    assert.deepEqual(status['stages'], [
      { name: 'first', clusters: 1, state: 'Passed' },
      { name: 'early', clusters: 3, state: 'Open' },
      { name: 'rest', clusters: 8, state: 'Waiting' },
    ]);
    assert.deepEqual(status['openCounts'], fleetRecord().counts);
    assert.equal(status['openStage'], 'early');
    assert.equal(status['state'], 'RollingOut');
    assert.equal(status['observedGeneration'], 4);
    assert.equal(status['recordVersion'], 7);
  });

  it('tells what small clusters show, compared with each other, where there are any', () => {
    const pool = poolOf({ logRatios: [0, 0, 0, 0] });
    assert.deepEqual(statusOf(mirrorStatus({ ...fleetRecord(), pool }, AT))['smallClusters'], {
      clusters: 10,
      givenNodes: 2,
      givenBad: 2,
      otherNodes: 7,
      otherBad: 0,
      eValue: '1.0',
    });
    const none = poolOf({ places: [] });
    for (const record of [fleetRecord(), { ...fleetRecord(), pool: none }]) {
      assert.equal('smallClusters' in statusOf(mirrorStatus(record, AT)), false);
    }
    const large = poolOf({ logRatios: [700, 700, 700, 700] });
    const { smallClusters } = statusOf(mirrorStatus({ ...fleetRecord(), pool: large }, AT));
    assert.equal((smallClusters as JsonObject)['eValue'], '1000000.0');
  });

  it('tells a breach that stands, and none that was overruled', () => {
    const { breach } = statusOf(mirrorStatus(standing('halted'), AT));
    assert.deepEqual((breach as JsonObject)['clusters'], ['c1', 'c2']);
    assert.equal('breach' in statusOf(mirrorStatus(standing('overruled'), AT)), false);
  });

  it('stays small, whatever the record holds', () => {
    assert.ok(JSON.stringify(mirrorStatus(largestRecord(), AT)).length < 64 * 1024);
  });
});

describe('formerConditions', () => {
  it('reads what it wrote', () => {
    const read = formerConditions(mirrorStatus(fleetRecord(), AT));
    assert.deepEqual(read[0], {
      type: 'Ready',
      status: 'False',
      lastTransitionTime: '2026-11-25T12:00:00Z',
    });
  });

  it('leaves out what is none', () => {
    const conditions = [
      1,
      null,
      { type: 'Ready' },
      { type: 'Ready', status: 1, lastTransitionTime: '' },
    ];
    assert.deepEqual(formerConditions({ status: { conditions } }), []);
    for (const object of [undefined, null, {}, { status: 1 }, { status: { conditions: {} } }]) {
      assert.deepEqual(formerConditions(object), []);
    }
  });
});
