// What makes nodes of different clusters comparable.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { poolStratumOf } from '../../../../../src/core/fleet/attribution/fleet-pool.ts';
import type { ProvidedCluster } from '../../../../../src/core/fleet/attribution/fleet-pool.ts';

const PLAIN: ProvidedCluster = { labels: {}, authentication: { kind: 'bearer' } };
const system = (kubeletVersion: string, osImage: string) => ({
  kubeletVersion,
  osImage,
  kernelVersion: '6.1',
  containerRuntimeVersion: 'containerd://2',
  bootId: 'b',
});

describe('poolStratumOf', () => {
  const rows: readonly (readonly [string, string, string, string])[] = [
    ['v1.33.2-eks-1234', 'Bottlerocket OS 1.19.2 (aws-k8s-1.33)', 'v1.33', 'Bottlerocket OS 1'],
    ['v1.31.4+k3s1', 'Ubuntu 22.04.4 LTS', 'v1.31', 'Ubuntu 22'],
    ['v1.36.0', 'Amazon Linux 2023.4.20240611', 'v1.36', 'Amazon Linux 2023'],
    [
      'v1.36.0',
      'Container-Optimized OS from Google',
      'v1.36',
      'Container-Optimized OS from Google',
    ],
    ['', '', '', ''],
  ];
  for (const [version, image, kubernetes, os] of rows) {
    it(`takes ${kubernetes} and ${os} of ${version} and ${image}`, () => {
      const node = { system: system(version, image), labels: {} };
      assert.equal(poolStratumOf(node, PLAIN), `${kubernetes}/${os}/`);
    });
  }

  it('knows a provider by its labels, else by the registration', () => {
    const providerOf = (labels: Readonly<Record<string, string>>, cluster = PLAIN): string =>
      poolStratumOf({ labels }, cluster).slice(2);
    assert.equal(providerOf({ 'eks.amazonaws.com/nodegroup': 'a' }), 'eks');
    assert.equal(providerOf({ 'cloud.google.com/gke-nodepool': 'a' }), 'gke');
    assert.equal(providerOf({ 'kubernetes.azure.com/agentpool': 'a' }), 'aks');
    assert.equal(providerOf({}, { ...PLAIN, labels: { provider: 'metal' } }), 'metal');
    assert.equal(providerOf({}, { ...PLAIN, authentication: { kind: 'eks' } }), 'eks');
    const both = { labels: { provider: 'metal' }, authentication: { kind: 'eks' } } as const;
    assert.equal(providerOf({ 'cloud.google.com/x': '' }, both), 'gke');
  });

  it('is bounded, whatever a node says', () => {
    const node = { system: system('v1.33.0', 'x'.repeat(1000)), labels: {} };
    assert.ok(poolStratumOf(node, PLAIN).length < 130);
  });

  it('takes a node whose kubelet has told nothing yet', () => {
    assert.equal(poolStratumOf({ labels: {} }, PLAIN), '//');
  });
});
