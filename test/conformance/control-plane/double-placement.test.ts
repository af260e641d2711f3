/** The check that finds two pods of one DaemonSet on one node, without any cluster. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDoublePlacementCheck } from './double-placement.ts';
import { readPod, type PodRecord } from './observed-records.ts';

interface PodSketch {
  readonly uid: string;
  readonly owner?: string;
  readonly nodeName?: string;
  readonly targetNode?: string;
  readonly phase?: string;
  readonly isDeleting?: boolean;
}

function pod(sketch: PodSketch): PodRecord {
  const { uid, owner = 'ds-1', nodeName, targetNode, phase = 'Running' } = sketch;
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [targetNode] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
  return readPod({
    metadata: {
      name: `pod-${uid}`,
      uid,
      ...(sketch.isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: owner, controller: true },
      ],
    },
    spec: { ...(nodeName ? { nodeName } : {}), affinity: { nodeAffinity } },
    status: { phase },
  });
}

describe('double placement', () => {
  it('is found between a bound pod and one that is only made for the node', () => {
    const check = createDoublePlacementCheck();
    assert.equal(check.apply(pod({ uid: 'a', nodeName: 'n1' }), 1), undefined);
    const violation = check.apply(pod({ uid: 'b', targetNode: 'n1', phase: 'Pending' }), 2);
    assert.deepEqual(violation?.podUids, ['a', 'b']);
    assert.equal(violation.atMs, 2);
  });

  it('counts a pod that is being deleted, and says so', () => {
    const check = createDoublePlacementCheck();
    check.apply(pod({ uid: 'a', nodeName: 'n1', isDeleting: true }), 1);
    assert.equal(check.apply(pod({ uid: 'b', nodeName: 'n1' }), 2)?.deletingCount, 1);
  });

  it('is reported once for each pod too many, not for each of its events', () => {
    const check = createDoublePlacementCheck();
    check.apply(pod({ uid: 'a', nodeName: 'n1' }), 1);
    assert.ok(check.apply(pod({ uid: 'b', targetNode: 'n1' }), 2));
    assert.equal(check.apply(pod({ uid: 'b', nodeName: 'n1' }), 3), undefined);
    assert.equal(check.apply(pod({ uid: 'c', nodeName: 'n1' }), 4)?.podUids.length, 3);
  });

  it('is none between nodes, DaemonSets, ended pods and pods that are gone', () => {
    const check = createDoublePlacementCheck();
    const harmless = [
      pod({ uid: 'a', nodeName: 'n1' }),
      pod({ uid: 'b', nodeName: 'n2' }),
      pod({ uid: 'c', nodeName: 'n1', owner: 'ds-2' }),
      pod({ uid: 'd', nodeName: 'n1', phase: 'Failed' }),
      pod({ uid: 'e', nodeName: 'n1', phase: 'Succeeded' }),
    ];
    for (const record of harmless) assert.equal(check.apply(record, 1), undefined);
    check.remove('a');
    assert.equal(check.apply(pod({ uid: 'f', nodeName: 'n1' }), 2), undefined);
    check.apply(pod({ uid: 'f', nodeName: 'n1', phase: 'Failed' }), 3);
    assert.equal(check.apply(pod({ uid: 'g', nodeName: 'n1' }), 4), undefined);
  });
});
