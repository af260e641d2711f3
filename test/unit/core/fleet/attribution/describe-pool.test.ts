// What small clusters show, in words.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describePool } from '../../../../../src/core/fleet/attribution/fleet-pool.ts';
import { poolOf } from '../../../../support/fleet-pools.ts';

describe('describePool', () => {
  it('has the counts of both sides, who they are, and the e-value', () => {
    assert.equal(
      describePool(poolOf({ logRatios: [0, 0, 0, Math.log(37)] })),
      '2 of 2 nodes of clusters that were given it are bad, 0 of 7 of others (10 clusters of fewer than 10 nodes, by version, system and provider): E = 10.0, 20 halts',
    );
  });

  it('says where it is more than can be remembered, and stays short where there is no doubt', () => {
    assert.match(
      describePool(poolOf({ isVoid: true })),
      /20 halts, and more than can be compared$/,
    );
    assert.match(describePool(poolOf({ logRatios: [0, 0, 0, 700] })), /E = over a million/);
  });
});
