/** One reading of raw objects, for what a watcher sends and for what a live read answers (spec 2.4, 2.5). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { projectLiveNode, projectLivePod } from '../../../../src/core/projections/project.ts';
import { createInterner } from '../../../../src/watcher/project/interner.ts';
import { createProjector } from '../../../../src/watcher/project/projection.ts';
import { ownerOf } from '../../../support/watcher-harness.ts';

const CREATED = '2026-01-01T00:00:00Z';
const IDENTITY = { name: 'o1', uid: 'u1', resourceVersion: '5' };

function rawOf(more: object = {}, metadata: object = {}): KubernetesObject {
  const meta = { namespace: 'ops', creationTimestamp: CREATED, ...IDENTITY, ...metadata };
  return { metadata: meta, ...more };
}

function watchedOf(kind: 'Pod' | 'Node', raw: KubernetesObject): unknown {
  const projector = createProjector({
    interner: createInterner(),
    objectBytesMax: 10_000,
    unsendable: new Map(),
    onOpaque: () => undefined,
  });
  const result = projector.project(kind, raw);
  return result.kind === 'tracked' ? result.slim.projection : result.kind;
}

const condition = { type: 'Ready', status: 'True', lastTransitionTime: CREATED };
const affinityField = { key: 'metadata.name', operator: 'In', values: ['n7'] };
const affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [affinityField] }],
    },
  },
};

describe('a live read says what the watcher says', () => {
  it('of a pod, with or without what an API server leaves out', () => {
    const owner = { ownerReferences: [ownerOf('DaemonSet', 'd1')], labels: { app: 'a' } };
    const raws = [
      rawOf(),
      rawOf({ spec: {}, status: {} }, { deletionTimestamp: CREATED }),
      rawOf({ spec: { affinity }, status: { phase: 'Unknown' } }, owner),
      rawOf({
        spec: { nodeName: 'n1' },
        status: { phase: 'Failed', reason: 'Evicted', conditions: [condition] },
      }),
    ];
    for (const raw of raws) assert.deepEqual(projectLivePod(raw), watchedOf('Pod', raw));
  });

  it('of a node, taints without their times and empty values', () => {
    const taints = [{ key: 'k', value: '', effect: 'NoExecute', timeAdded: CREATED }];
    const spec = { taints, unschedulable: true };
    for (const raw of [rawOf(), rawOf({ spec, status: { conditions: [condition] } })]) {
      assert.deepEqual(projectLiveNode(raw), watchedOf('Node', raw));
    }
  });

  it('of a node, when it was made; absent where nobody says', () => {
    assert.equal(projectLiveNode(rawOf()).createdAtMs, Date.parse(CREATED));
    const untold = rawOf({}, { creationTimestamp: null });
    assert.deepEqual(projectLiveNode(untold), watchedOf('Node', untold));
    assert.equal('createdAtMs' in projectLiveNode(untold), false);
  });

  it('a pod without a phase is Pending, as an API server has it', () => {
    assert.equal(projectLivePod(rawOf()).phase, 'Pending');
  });
});

describe('a live read takes as absent what is not as documented', () => {
  it('where a watcher lets the object travel opaque', () => {
    const raws = [
      rawOf({ status: { phase: 'Evaporated' } }),
      rawOf({ status: { phase: 7, conditions: [7, condition] } }),
      rawOf({ spec: 'none' }, { labels: { app: 7, tier: 'a' }, creationTimestamp: 'soon' }),
    ];
    for (const raw of raws) {
      assert.equal((watchedOf('Pod', raw) as { readonly kind: string }).kind, 'Opaque');
    }
    const [evaporated, ready, odd] = raws.map(projectLivePod);
    assert.equal(evaporated?.phase, 'Unknown');
    assert.deepEqual([ready?.phase, ready?.isReady], ['Pending', true]);
    assert.deepEqual([odd?.labels, odd?.createdAtMs], [{ tier: 'a' }, 0]);
  });

  it('but for who owns a pod: another controller is an owner, too', () => {
    const ownerReferences = [ownerOf('ReplicaSet', 'r1')];
    assert.equal(projectLivePod(rawOf({}, { ownerReferences })).ownerUid, 'r1');
  });
});
