/** What of an object is sent, field by field (design 2, spec 2.4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Projection, WatchedKind } from '../../../../src/core/model/projections.ts';
import { createInterner } from '../../../../src/watcher/project/projection.ts';
import { createProjector, type SlimObject } from '../../../../src/watcher/project/projection.ts';
import { daemonSetDraft, ownerOf } from '../../../support/watcher-harness.ts';

const CREATED = '2026-01-01T00:00:00Z';

function slimOf(kind: WatchedKind, raw: object): SlimObject {
  const projector = createProjector({
    interner: createInterner(),
    objectBytesMax: 10_000,
    unsendable: new Map(),
    onOpaque: () => undefined,
  });
  const result = projector.project(kind, raw as unknown as KubernetesObject);
  return result.kind === 'tracked' ? result.slim : assert.fail(result.kind);
}

function projectionOf(kind: WatchedKind, raw: object): Projection {
  return slimOf(kind, raw).projection;
}

function metadataWith(more: object = {}): object {
  return { name: 'o1', namespace: 'ops', uid: 'u1', resourceVersion: '5', ...more };
}

function podWith(more: { metadata?: object; spec?: object; status?: object } = {}): object {
  return {
    metadata: metadataWith({ creationTimestamp: CREATED, ...more.metadata }),
    spec: more.spec ?? {},
    status: more.status ?? {},
  };
}

function fieldsOfPod(more: Parameters<typeof podWith>[0]): Record<string, unknown> {
  return { ...projectionOf('Pod', podWith(more)) };
}

const PLAIN_POD = {
  kind: 'Pod',
  namespace: 'ops',
  name: 'o1',
  uid: 'u1',
  resourceVersion: '5',
  labels: {},
  phase: 'Pending',
  isReady: false,
  createdAtMs: Date.parse(CREATED),
  isTerminating: false,
};

describe('a pod is sent', () => {
  it('with what the API server left out as it is meant', () => {
    assert.deepEqual(projectionOf('Pod', podWith()), PLAIN_POD);
  });

  it('with owner, labels, nodes, readiness and its time, reason and deletion', () => {
    const conditions = [
      { type: 'Initialized', status: 'False', lastTransitionTime: '2026-01-01T00:00:09Z' },
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' },
    ];
    const metadata = {
      labels: { app: 'a', tier: '' },
      deletionTimestamp: CREATED,
      ownerReferences: [ownerOf('DaemonSet', 'd1')],
    };
    const status = { phase: 'Running', reason: 'Evicted', conditions };
    assert.deepEqual(projectionOf('Pod', podWith({ metadata, spec: { nodeName: 'n1' }, status })), {
      ...PLAIN_POD,
      labels: { app: 'a', tier: '' },
      phase: 'Running',
      isReady: true,
      readyChangedAtMs: Date.parse('2026-01-01T00:01:00Z'),
      isTerminating: true,
      ownerUid: 'd1',
      reason: 'Evicted',
      boundNode: 'n1',
      targetNode: 'n1',
    });
  });

  it('as not ready unless its condition says True', () => {
    for (const status of ['False', 'Unknown', 'true']) {
      const conditions = [{ type: 'Ready', status }];
      assert.equal(fieldsOfPod({ status: { conditions } })['isReady'], false, status);
    }
  });

  it('with a reason of the kubelet cut to its bound, and nothing in it that spoils a message', () => {
    const { reason } = fieldsOfPod({ status: { reason: `a\n\u00e9\u007f ~${'x'.repeat(1000)}` } });
    assert.match(String(reason), /^a\?\?\? ~x+$/);
    assert.ok(String(reason).length < 1000);
  });

  it('of the first moment that a clock can tell, and without a time of readiness before it', () => {
    const metadata = { creationTimestamp: '1970-01-01T00:00:00Z' };
    const at = (lastTransitionTime: string): unknown =>
      fieldsOfPod({
        metadata,
        status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] },
      })['readyChangedAtMs'];
    assert.equal(fieldsOfPod({ metadata })['createdAtMs'], 0);
    assert.equal(at('1970-01-01T00:00:00Z'), 0);
    assert.equal(at('1969-12-31T23:59:59Z'), undefined);
    assert.equal(at('soon'), undefined);
  });

  it('as opaque without a time of creation, of another phase, of labels and nodes that are none', () => {
    const label = { labels: { ['k'.repeat(5000)]: 'v' } };
    for (const more of [
      { metadata: { creationTimestamp: undefined } },
      { metadata: { creationTimestamp: '1969-12-31T23:59:59Z' } },
      { metadata: label },
      { status: { phase: 'Evaporated' } },
      { spec: { nodeName: 'No Node' } },
    ]) {
      const { kind, reason } = fieldsOfPod(more);
      assert.deepEqual([kind, reason], ['Opaque', 'undecodable'], JSON.stringify(more));
    }
  });
});

describe('the node that a pod is meant for (spec 2.4)', () => {
  const targetOf = (fields: readonly object[], more: object = {}): unknown => {
    const required = { nodeSelectorTerms: fields.map((field) => ({ matchFields: [field] })) };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
    return fieldsOfPod({ spec: { affinity: { nodeAffinity }, ...more } })['targetNode'];
  };
  const field = { key: 'metadata.name', operator: 'In', values: ['n7'] };

  it('is named by the first field of one name, in whatever term', () => {
    const others = [
      { ...field, key: 'metadata.uid' },
      { ...field, operator: 'NotIn' },
      { ...field, values: ['n1', 'n2'] },
      { ...field, values: [] },
      { ...field, values: [7] },
      { ...field, values: 'n' },
    ];
    for (const other of others) assert.equal(targetOf([other]), undefined, JSON.stringify(other));
    assert.equal(targetOf([...others, field, { ...field, values: ['n8'] }]), 'n7');
  });

  it('is the one where it runs, whatever the affinity says', () => {
    assert.equal(targetOf([field], { nodeName: 'n9' }), 'n9');
    assert.equal(targetOf([field], { nodeName: '' }), 'n7');
  });
});

describe('a node is sent', () => {
  const plain = {
    kind: 'Node',
    name: 'o1',
    uid: 'u1',
    resourceVersion: '5',
    labels: {},
    taints: [],
    unschedulable: false,
    isReady: false,
    isTerminating: false,
  };

  it('with what the API server left out as it is meant', () => {
    assert.deepEqual(projectionOf('Node', { metadata: metadataWith() }), plain);
  });

  it('with labels, taints without their times and empty values, cordon, readiness and deletion', () => {
    const taints = [
      { key: 'a', value: 'v', effect: 'NoExecute', timeAdded: CREATED },
      { key: 'b', value: '', effect: 'NoSchedule' },
      { key: 'c', effect: 'PreferNoSchedule' },
    ];
    const raw = {
      metadata: metadataWith({ labels: { zone: 'z' }, deletionTimestamp: CREATED }),
      spec: { unschedulable: true, taints },
      status: {
        conditions: [
          { type: 'MemoryPressure', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
      },
    };
    assert.deepEqual(projectionOf('Node', raw), {
      ...plain,
      labels: { zone: 'z' },
      taints: [
        { key: 'a', value: 'v', effect: 'NoExecute' },
        { key: 'b', effect: 'NoSchedule' },
        { key: 'c', effect: 'PreferNoSchedule' },
      ],
      unschedulable: true,
      isReady: true,
      isTerminating: true,
    });
  });
});

describe('a revision is sent', () => {
  const raw = { metadata: metadataWith({ labels: { h: '1' } }), revision: 3, data: { spec: 1 } };

  it('with owner, labels, number and deletion', () => {
    const owned = {
      ...raw,
      metadata: { ...raw.metadata, ownerReferences: [ownerOf('DaemonSet', 'd1')] },
    };
    assert.deepEqual(projectionOf('ControllerRevision', owned), {
      kind: 'ControllerRevision',
      namespace: 'ops',
      name: 'o1',
      uid: 'u1',
      resourceVersion: '5',
      ownerUid: 'd1',
      labels: { h: '1' },
      revision: 3,
      isTerminating: false,
    });
    const metadata = { ...raw.metadata, deletionTimestamp: CREATED };
    const terminating = { ...projectionOf('ControllerRevision', { ...raw, metadata }) };
    assert.deepEqual(
      [
        terminating.kind,
        'isTerminating' in terminating && terminating.isTerminating,
        'ownerUid' in terminating,
      ],
      ['ControllerRevision', true, false],
    );
  });

  it('as opaque without a number', () => {
    assert.equal(projectionOf('ControllerRevision', { ...raw, revision: 'x' }).kind, 'Opaque');
  });
});

describe('who owns a pod', () => {
  const ownerUidOf = (...ownerReferences: readonly unknown[]): unknown =>
    slimOf('Pod', podWith({ metadata: { ownerReferences } })).ownerUid;
  const owner = ownerOf('DaemonSet', 'd1');

  it('is the reference that controls it, whatever stands before it', () => {
    assert.equal(ownerUidOf(null, { ...owner, controller: false, uid: 'd0' }, owner), 'd1');
    assert.equal(ownerUidOf({ ...owner, controller: 'true' }), undefined);
    assert.equal(
      slimOf('Pod', podWith({ metadata: { ownerReferences: 'x' } })).ownerUid,
      undefined,
    );
  });

  it('is asked of pods and revisions alone', () => {
    const references = { ownerReferences: [ownerOf('ReplicaSet', 'r1')] };
    const raw = { metadata: metadataWith(references), spec: {} };
    assert.equal(slimOf('Node', raw).ownerUid, undefined);
    assert.equal(slimOf('DaemonSet', raw).ownerUid, undefined);
  });

  it('is nobody that the informers know if it has no identity', () => {
    const projector = createProjector({
      interner: createInterner(),
      objectBytesMax: 10_000,
      unsendable: new Map(),
      onOpaque: () => undefined,
    });
    for (const odd of [{ uid: 7 }, { apiVersion: 7 }, { apiVersion: 'apps' }]) {
      const raw = podWith({ metadata: { ownerReferences: [{ ...owner, ...odd }] } });
      const result = projector.project('Pod', raw as unknown as KubernetesObject);
      assert.equal(result.kind, 'irrelevant', JSON.stringify(odd));
    }
  });
});

describe('a rollout runs (heartbeats)', () => {
  const isRollingOut = (generation: number | undefined, status?: object): boolean => {
    const metadata = metadataWith({ generation });
    return slimOf('DaemonSet', { ...daemonSetDraft('a'), metadata, status }).isRollingOut;
  };

  it('from the first generation that nobody has observed', () => {
    assert.equal(isRollingOut(undefined), false);
    assert.equal(isRollingOut(1), true);
    assert.equal(isRollingOut(1, { observedGeneration: 1 }), false);
  });

  it('until as many pods are updated as are wanted: none of none is all of them', () => {
    const observed = { observedGeneration: 1 };
    assert.equal(isRollingOut(1, { ...observed, desiredNumberScheduled: 1 }), true);
    assert.equal(isRollingOut(1, { ...observed, desiredNumberScheduled: 0 }), false);
    const updated = { updatedNumberScheduled: 1 };
    assert.equal(isRollingOut(1, { ...observed, ...updated, desiredNumberScheduled: 1 }), false);
    assert.equal(isRollingOut(1, { ...observed, ...updated }), false);
  });
});
