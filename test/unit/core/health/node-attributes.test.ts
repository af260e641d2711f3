/** Attributes of nodes and their strata. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributeOf, stratumOf } from '../../../../src/core/health/canary-spread.ts';
import { node } from '../../../support/core-fixtures.ts';

const zone = { 'topology.kubernetes.io/zone': 'eu-1a' };
const type = { 'node.kubernetes.io/instance-type': 'm7.large' };

describe('stratumOf', () => {
  for (const key of [
    'eks.amazonaws.com/nodegroup',
    'cloud.google.com/gke-nodepool',
    'kubernetes.azure.com/agentpool',
    'karpenter.sh/nodepool',
  ]) {
    it(`zone × ${key}, before the instance type`, () => {
      assert.equal(
        stratumOf(node('n', { labels: { ...zone, ...type, [key]: 'blue' } })),
        'eu-1a/blue',
      );
    });
  }

  it('zone × instance type where no pool is known, and one stratum of nodes that tell nothing', () => {
    assert.equal(stratumOf(node('n', { labels: { ...zone, ...type } })), 'eu-1a/m7.large');
    assert.equal(
      stratumOf(node('n', { labels: { ...zone, 'karpenter.sh/nodepool': '' } })),
      'eu-1a/',
    );
    assert.equal(stratumOf(node('n')), '/');
  });
});

describe('attributeOf', () => {
  it('reads nodeInfo, labels by name, and any other label', () => {
    const system = {
      kernelVersion: '6.1',
      osImage: 'Bottlerocket',
      containerRuntimeVersion: 'containerd://2',
      kubeletVersion: 'v1.36.0',
      bootId: 'b',
    };
    const one = {
      ...node('n', { labels: { ...zone, rack: 'r1', 'kubernetes.io/arch': 'arm64' } }),
      system,
    };
    const read = ['kernel', 'os-image', 'runtime', 'kubelet-version', 'arch', 'zone', 'rack'].map(
      (key) => attributeOf(one, key),
    );
    assert.deepEqual(read, [
      '6.1',
      'Bottlerocket',
      'containerd://2',
      'v1.36.0',
      'arm64',
      'eu-1a',
      'r1',
    ]);
  });

  it('of a node that does not tell is nothing', () => {
    for (const key of ['kernel', 'pool', 'constructor'])
      assert.equal(attributeOf(node('n'), key), undefined);
  });
});
