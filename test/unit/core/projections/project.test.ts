/** One reading of raw objects, for what a watcher sends and for what a live read answers (spec 2.4, 2.5). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  projectLiveNode,
  projectLivePod,
  projectRevision,
} from '../../../../src/core/projections/project.ts';
import { resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import { createInterner, createProjector } from '../../../../src/watcher/project/projection.ts';
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

describe('a pod', () => {
  it('is read field by field', () => {
    const pod = rawOf(
      {
        spec: { nodeName: 'n1', affinity },
        status: { phase: 'Running', reason: 'Odd', conditions: [{ type: 'Other' }, condition] },
      },
      { labels: { app: 'a' }, ownerReferences: [ownerOf('DaemonSet', 'd1')] },
    );
    assert.deepEqual(projectLivePod(pod), {
      kind: 'Pod',
      namespace: 'ops',
      name: 'o1',
      uid: 'u1',
      resourceVersion: '5',
      labels: { app: 'a' },
      phase: 'Running',
      isReady: true,
      createdAtMs: Date.parse(CREATED),
      isTerminating: false,
      ownerUid: 'd1',
      reason: 'Odd',
      readyChangedAtMs: Date.parse(CREATED),
      boundNode: 'n1',
      targetNode: 'n1',
    });
  });

  it('is on its way out once it has a time for that', () => {
    assert.equal(projectLivePod(rawOf({}, { deletionTimestamp: CREATED })).isTerminating, true);
  });

  it('is meant for the node of its affinity, and bound to none, until it is', () => {
    const { boundNode, targetNode } = projectLivePod(rawOf({ spec: { affinity } }));
    assert.deepEqual([boundNode, targetNode], [undefined, 'n7']);
  });

  it('is meant for no node that its affinity does not name alone', () => {
    const others = [
      { ...affinityField, key: 'metadata.namespace' },
      { ...affinityField, operator: 'NotIn' },
      { ...affinityField, values: ['n7', 'n8'] },
      { ...affinityField, values: [] },
      { ...affinityField, values: [7] },
      { ...affinityField, values: 'n7' },
    ];
    const aimed = (...matchFields: readonly object[]): string | undefined => {
      const nodeSelectorTerms = [{ matchExpressions: [] }, { matchFields }];
      const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
      return projectLivePod(rawOf({ spec: { affinity: { nodeAffinity: required } } })).targetNode;
    };
    for (const other of others) {
      assert.equal(aimed(other), undefined, JSON.stringify(other));
      assert.equal(aimed(other, affinityField), 'n7', 'a later field may name one');
    }
  });
});

describe('a node', () => {
  it('is read field by field', () => {
    const nodeInfo = {
      kernelVersion: '6.1',
      osImage: 'Debian',
      containerRuntimeVersion: 'containerd://2',
      kubeletVersion: 'v1.36.0',
      bootID: 'b1',
    };
    const taints = [{ key: 'k', value: 'v', effect: 'NoExecute', timeAdded: CREATED }];
    const raw = rawOf(
      { spec: { taints, unschedulable: true }, status: { nodeInfo, conditions: [condition] } },
      { labels: { zone: 'z' }, deletionTimestamp: CREATED },
    );
    const { bootID, ...info } = nodeInfo;
    assert.deepEqual(projectLiveNode(raw), {
      kind: 'Node',
      name: 'o1',
      uid: 'u1',
      resourceVersion: '5',
      labels: { zone: 'z' },
      taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }],
      unschedulable: true,
      isReady: true,
      isTerminating: true,
      createdAtMs: Date.parse(CREATED),
      system: { ...info, bootId: bootID },
    });
  });

  it('is Ready only where that condition says True', () => {
    const other = { type: 'MemoryPressure', status: 'True' };
    for (const status of ['False', 'Unknown']) {
      const conditions = [other, { ...condition, status }];
      assert.equal(projectLiveNode(rawOf({ status: { conditions } })).isReady, false, status);
    }
    assert.equal(projectLiveNode(rawOf({ status: { conditions: [other] } })).isReady, false);
  });

  it('has what its kubelet leaves out as empty, and nothing before it told of itself', () => {
    assert.deepEqual(projectLiveNode(rawOf({ status: { nodeInfo: {} } })).system, {
      kernelVersion: '',
      osImage: '',
      containerRuntimeVersion: '',
      kubeletVersion: '',
      bootId: '',
    });
    for (const status of [{}, { nodeInfo: null }]) {
      assert.equal('system' in projectLiveNode(rawOf({ status })), false);
    }
  });
});

describe('a revision', () => {
  const raw = { revision: 4, data: { spec: {} } };
  const project = (more: object, metadata: object, faults: string[] = []): unknown =>
    projectRevision(
      {
        identity: {
          name: 'r1',
          namespace: 'ops',
          uid: uid('u1'),
          resourceVersion: resourceVersion('5'),
        },
        raw: rawOf(more, metadata),
      },
      {
        onFault: (message) => faults.push(message),
        sharing: { text: (value) => value, labels: (value) => value },
      },
    );

  it('is read field by field, without its data', () => {
    assert.deepEqual(project(raw, { labels: { hash: 'h' } }), {
      kind: 'ControllerRevision',
      namespace: 'ops',
      name: 'r1',
      uid: 'u1',
      resourceVersion: '5',
      labels: { hash: 'h' },
      revision: 4,
      isTerminating: false,
    });
  });

  it('is at fault without its number', () => {
    const faults: string[] = [];
    const read = project({}, { deletionTimestamp: CREATED }, faults) as Record<string, unknown>;
    assert.deepEqual([read['revision'], read['isTerminating']], [0, true]);
    assert.deepEqual(faults, ['revision is missing']);
  });
});
