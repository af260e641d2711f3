/**
 * Liveness is timed from the last fault on (L1): what waits for a garbage collector is excused, and nothing else.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '../control-plane/api.ts';
import { castNode, daemonSetOf } from './cast.ts';
import { createSettleClock } from './settle.ts';
import { findUncollected, findWrong, type World, type Wrong } from './wrong.ts';

const NODES = ['node-001', 'node-002'];
const GONE = 'node-009';

function setOf(name: string, of: { readonly updated?: number } = {}): KubernetesObject {
  const made = daemonSetOf(name, { version: 'v2', isBad: false });
  const count = NODES.length;
  const status = {
    observedGeneration: 1,
    desiredNumberScheduled: count,
    currentNumberScheduled: count,
    updatedNumberScheduled: of.updated ?? count,
    numberReady: count,
    numberAvailable: count,
  };
  return { ...made, metadata: { ...made.metadata, uid: `${name}-uid`, generation: 1 }, status };
}

function podOf(name: string, nodeName: string, version = 'v2'): KubernetesObject {
  const conditions = [
    { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-22T12:00:00Z' },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${nodeName}-${version}`,
      namespace: 'default',
      uid: `${name}-${nodeName}-${version}`,
      resourceVersion: '1',
      labels: { version },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: `${name}-uid`, controller: true },
      ],
    },
    spec: { nodeName },
    status: { phase: 'Running', conditions },
  };
}

function worldOf(daemonSet: KubernetesObject, pods: readonly KubernetesObject[]): World {
  return { nodes: NODES.map(castNode), daemonSets: [daemonSet], pods };
}

const whole = (name: string): readonly KubernetesObject[] => NODES.map((at) => podOf(name, at));
const excused = (world: World): readonly boolean[] =>
  findWrong(world).map(({ isWaiting }) => isWaiting);

describe('findWrong', () => {
  it('finds nothing where all is right, and leaves pods of nodes that are gone to their collector', () => {
    assert.deepEqual(findWrong(worldOf(setOf('agent'), whole('agent'))), []);
    const beside = worldOf(setOf('agent'), [...whole('agent'), podOf('agent', GONE)]);
    assert.deepEqual(findWrong(beside), []);
    assert.equal(findUncollected(beside).length, 1);
  });

  it('excuses an old pod only beside a pod that holds its rollout up: of a node that is gone, without surge', () => {
    const pods = (name: string): readonly KubernetesObject[] => [
      podOf(name, 'node-001', 'v1'),
      podOf(name, 'node-002'),
    ];
    const held = (name: string): World =>
      worldOf(setOf(name, { updated: 1 }), [...pods(name), podOf(name, GONE)]);
    assert.deepEqual(excused(held('agent')), [true, true]);
    assert.deepEqual(excused(held('mesh')), [false, false]);
    assert.deepEqual(excused(worldOf(setOf('agent', { updated: 1 }), pods('agent'))), [
      false,
      false,
    ]);
  });

  it('excuses no missing pod, no second pod and no wrong count by what waits for collectors', () => {
    const [first = podOf('agent', 'node-001')] = whole('agent');
    const missing = worldOf(setOf('agent'), [first, podOf('agent', GONE)]);
    assert.deepEqual(excused(missing), [false]);
    const twice = [...whole('agent'), podOf('agent', 'node-001', 'v1'), podOf('agent', GONE)];
    assert.deepEqual(excused(worldOf(setOf('agent'), twice)), [false]);
    const counted = setOf('agent');
    const status = { ...(counted['status'] as object), numberAvailable: 1 };
    const world = worldOf({ ...counted, status }, [...whole('agent'), podOf('agent', GONE)]);
    assert.deepEqual(excused(world), [false]);
  });

  it('leaves the pods of a DaemonSet that is gone to the other collector', () => {
    const world = worldOf(setOf('agent'), [...whole('agent'), podOf('mesh', 'node-001')]);
    assert.deepEqual(excused(world), [true]);
  });
});

describe('createSettleClock', () => {
  const wrong = (isWaiting: boolean): Wrong => ({ what: 'a pod', isWaiting });

  it('counts from its beginning, whatever the collectors are at (L1)', () => {
    const clock = createSettleClock(1000);
    clock.note([wrong(false), wrong(true)], 31_000);
    assert.equal(clock.tookMs(), 30_000);
    clock.note([], 32_000);
    assert.equal(clock.tookMs(), 31_000);
  });

  it('stands still while all that is wrong waits for a collector', () => {
    const clock = createSettleClock(0);
    clock.note([wrong(true)], 60_000);
    clock.note([wrong(false)], 61_000);
    assert.equal(clock.tookMs(), 1000);
  });
});
