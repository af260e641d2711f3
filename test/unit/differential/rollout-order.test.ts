/**
 * What must go first in a rollout is told from what chance may pick: the witness names pods that were passed over.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '../../conformance/control-plane/api.ts';
import { findPassedOver } from '../../differential/rollout-order.ts';

const OWNER: KubernetesObject = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'd1', uid: 'd1' },
  spec: {},
};

function pod(
  node: string,
  changes: { readonly hash?: string; readonly isReady?: boolean; readonly isDeleting?: boolean },
): KubernetesObject {
  const { hash = 'old', isReady = false, isDeleting = false } = changes;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${node}-${hash}`,
      namespace: 'p1',
      uid: `${node}-${hash}`,
      labels: { 'controller-revision-hash': hash },
      ...(isDeleting ? { deletionTimestamp: '2026-11-22T00:00:00Z' } : {}),
    },
    spec: { nodeName: node, containers: [] },
    status: {
      phase: 'Running',
      conditions: [
        {
          type: 'Ready',
          status: isReady ? 'True' : 'False',
          lastTransitionTime: '2026-11-22T00:00:00Z',
        },
      ],
    },
  };
}

function passedOver(
  pods: readonly KubernetesObject[],
  isKnownLost: (node: string) => boolean = () => true,
): readonly string[] {
  return findPassedOver({ owner: OWNER, pods, newestHash: 'new', isKnownLost });
}

describe('a pod that is passed over by a rollout', () => {
  it('is old, alone on its node, and not available', () => {
    assert.deepEqual(passedOver([pod('n1', {}), pod('n2', { isReady: true })]), ['n1-old']);
  });

  it('is none of those that are up to date, or going', () => {
    assert.deepEqual(passedOver([pod('n1', { hash: 'new' }), pod('n2', { isDeleting: true })]), []);
  });

  it('is none of those that are up to date by their generation, or have lost their hash', () => {
    const labels = { 'controller-revision-hash': 'other', 'pod-template-generation': '3' };
    const former = pod('n1', {});
    const current = { ...former, metadata: { ...former.metadata, labels } };
    const lost = { ...former, metadata: { ...former.metadata, labels: {} } };
    const annotations = { 'deprecated.daemonset.template.generation': '3' };
    const owner = { ...OWNER, metadata: { ...OWNER.metadata, annotations } };
    for (const it of [current, lost]) {
      const found = findPassedOver({
        owner,
        pods: [it],
        newestHash: 'new',
        isKnownLost: () => true,
      });
      assert.deepEqual(found, []);
    }
  });

  it('is none beside another on its node, which is the business of the manage loop', () => {
    assert.deepEqual(passedOver([pod('n1', {}), pod('n1', { hash: 'new' })]), []);
  });

  it('is none of which the controller cannot know yet', () => {
    assert.deepEqual(
      passedOver([pod('n1', {}), pod('n2', {})], (node) => node === 'n2'),
      ['n2-old'],
    );
  });
});
