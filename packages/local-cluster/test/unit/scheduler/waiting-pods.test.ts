/** Which node wakes which waiting pod, and when. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { ClusterState } from '../../../src/scheduler/state/cluster-state.ts';
import type { NodeState } from '../../../src/scheduler/state/node-state.ts';
import { prepareSchedulingPod } from '../../../src/scheduler/state/scheduling-pod.ts';
import type { SchedulingPod } from '../../../src/scheduler/state/scheduling-pod.ts';
import { WaitingPods } from '../../../src/scheduler/waiting-pods.ts';
import { nodeObject, pinnedTo, podObject } from '../../support/objects.ts';

function node(name: string, spec: JsonObject = {}): NodeState {
  const cluster = new ClusterState();
  cluster.setNode(stored(nodeObject(name, { spec })));
  const state = cluster.node(name);
  assert(state !== undefined);
  return state;
}

function pod(name: string, spec: JsonObject = {}): SchedulingPod {
  return prepareSchedulingPod(stored(podObject(name, { spec })));
}

/** As if the API server had stored it. */
function stored(object: JsonObject): ApiObject {
  const { kind, metadata } = object as JsonObject & {
    readonly kind: string;
    readonly metadata: { readonly name: string };
  };
  return {
    ...object,
    apiVersion: 'v1',
    kind,
    metadata: {
      uid: metadata.name,
      resourceVersion: '1',
      creationTimestamp: '',
      ...metadata,
    },
  };
}

describe('waiting pods', () => {
  it('come back after one second, doubling to ten', () => {
    const pods = new WaitingPods();
    for (const delayMs of [1000, 2000, 4000, 8000, 10_000, 10_000]) {
      pods.add(pod('a'), 0);
      assert.deepEqual(pods.dueFor(node('n'), 0), [{ key: 'default/a', delayMs }]);
    }
    pods.forget('default/a');
    assert.deepEqual(pods.dueFor(node('n'), 0), []);
    pods.add(pod('a'), 0);
    assert.deepEqual(pods.dueFor(node('n'), 400), [{ key: 'default/a', delayMs: 600 }]);
  });

  it('come back at once when their back-off is over', () => {
    const pods = new WaitingPods();
    pods.add(pod('a'), 0);
    assert.deepEqual(pods.dueFor(node('n'), 5000), [{ key: 'default/a', delayMs: 0 }]);
  });

  it('are left alone by nodes that cannot take them', () => {
    const pods = new WaitingPods();
    pods.add(pod('picky', { nodeSelector: { disk: 'fast' } }), 0);
    pods.add(pod('plain'), 0);
    const wokenBy = (state: NodeState): readonly string[] =>
      pods.dueFor(state, 0).map(({ key }) => key);
    assert.deepEqual(wokenBy(node('n')), ['default/plain']);
    assert.deepEqual(wokenBy(node('n', { unschedulable: true })), []);
  });

  it('are left alone by nodes that they are not pinned to', () => {
    const pods = new WaitingPods();
    pods.add(pod('a', { affinity: pinnedTo('mine') }), 0);
    assert.deepEqual(pods.dueFor(node('other'), 0), []);
    assert.equal(pods.dueFor(node('mine'), 0).length, 1);
    pods.add(pod('a', { affinity: pinnedTo('new') }), 0);
    assert.deepEqual(pods.dueFor(node('mine'), 0), []);
  });
});
