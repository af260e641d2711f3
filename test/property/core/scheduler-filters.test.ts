/** The scheduler's filters against Rollcall's placement rules, and its bookkeeping against a recount. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  withAutomaticTolerations,
  decidePlacement,
  preparePlacement,
} from '../../../src/core/placement/placement.ts';
import type { PodSpec } from '@rollcall/base/objects.ts';
import type { NodeProjection } from '../../../src/core/model/projections.ts';
import { conflicts } from '@rollcall/local-cluster/node-agent/shared/pod-resources.ts';
import type { ApiObject } from '@rollcall/local-cluster/objects/api-object.ts';
import { ClusterState, footprintOf } from '@rollcall/local-cluster/scheduler/cluster-state.ts';
import {
  findFailure,
  findNode,
  prepareSchedulingPod,
} from '@rollcall/local-cluster/scheduler/find-node.ts';
import { nodeSets, nodes, podSpecs } from '../../support/core-arbitraries.ts';
import { daemonSet } from '../../support/core-fixtures.ts';

/** The pod that a DaemonSet with this template would have, before it is pinned to its node. */
function daemonPod(spec: PodSpec): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'd', uid: 'p', resourceVersion: '1', creationTimestamp: '' },
    // The arbitrary specs are JSON; only their type says less.
    spec: JSON.parse(
      JSON.stringify({ ...spec, tolerations: withAutomaticTolerations(spec), containers: [] }),
    ) as ApiObject,
  };
}

function nodeObjectOf(node: NodeProjection, cpu = '4'): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      uid: node.uid,
      resourceVersion: '1',
      creationTimestamp: '',
      labels: node.labels,
    },
    spec: JSON.parse(
      JSON.stringify({ taints: node.taints, unschedulable: node.unschedulable }),
    ) as ApiObject,
    status: { allocatable: { cpu, memory: '8Gi', pods: '5' } },
  };
}

test('where Rollcall lets a daemon pod run, the scheduler finds no fault, and the other way round', () => {
  const seen = { run: 0, leave: 0, keep: 0 };
  fc.assert(
    fc.property(podSpecs, nodes, (spec, node) => {
      const { nodeName: _elsewhere, ...podSpec } = spec;
      const { placement } = decidePlacement(preparePlacement(daemonSet({ podSpec })), node);
      const cluster = new ClusterState();
      cluster.setNode(nodeObjectOf(node));
      const state = cluster.node(node.name);
      assert(state !== undefined);
      const failure = findFailure(prepareSchedulingPod(daemonPod(podSpec)), state);
      assert.equal(failure === undefined, placement === 'run', JSON.stringify(failure));
      seen[placement] += 1;
    }),
    { numRuns: 1000 },
  );
  assert(Math.min(seen.run, seen.leave, seen.keep) > 0, JSON.stringify(seen));
});

const loads = fc.record({
  cpuMilli: fc.integer({ min: 0, max: 2500 }),
  memoryMi: fc.integer({ min: 0, max: 4096 }),
  hostPort: fc.option(fc.integer({ min: 8000, max: 8003 }), { nil: undefined }),
});
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), load: loads }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat() }) },
  ),
  { maxLength: 40 },
);

interface Load {
  readonly cpuMilli: number;
  readonly memoryMi: number;
  readonly hostPort?: number | undefined;
}

function loadedPod(name: string, load: Load): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'd', uid: name, resourceVersion: '1', creationTimestamp: '' },
    spec: {
      tolerations: [{ operator: 'Exists' }],
      containers: [
        {
          name: 'c',
          resources: { requests: { cpu: `${load.cpuMilli}m`, memory: `${load.memoryMi}Mi` } },
          ...(load.hostPort === undefined ? {} : { ports: [{ hostPort: load.hostPort }] }),
        },
      ],
    },
  };
}

test('no node ever holds more than it has, and a pod is turned away only when it fits nowhere', () => {
  let turnedAwayCount = 0;
  fc.assert(
    fc.property(nodeSets, steps, (nodeSet, plan) => {
      const cluster = new ClusterState();
      for (const node of nodeSet) cluster.setNode(nodeObjectOf(node));
      const placed = new Map<string, { readonly nodeName: string; readonly pod: ApiObject }>();
      for (const [index, step] of plan.entries()) {
        if (step.kind === 'end') {
          const [name, found] = [...placed][step.which % Math.max(1, placed.size)] ?? [];
          if (name === undefined || found === undefined) continue;
          assert(cluster.release(found.nodeName, name));
          placed.delete(name);
          continue;
        }
        const pod = loadedPod(`pod-${index}`, step.load);
        const prepared = prepareSchedulingPod(pod);
        const search = findNode(prepared, cluster);
        const fitting = nodeSet.filter((node) => {
          const here = [...placed.values()].filter(({ nodeName }) => nodeName === node.name);
          return fits([...here.map((each) => each.pod), pod]);
        });
        assert.equal(search.kind === 'found', fitting.length > 0);
        if (search.kind === 'none') {
          turnedAwayCount += 1;
          continue;
        }
        assert(fitting.some(({ name }) => name === search.nodeName));
        cluster.assume(search.nodeName, prepared);
        placed.set(prepared.uid, { nodeName: search.nodeName, pod });
      }
    }),
    { numRuns: 150 },
  );
  assert(turnedAwayCount > 0, 'some pods were turned away');
});

/** Do these pods fit on one of the nodes together, counted from scratch? */
function fits(pods: readonly ApiObject[]): boolean {
  const footprints = pods.map(footprintOf);
  const sum = (name: string): bigint =>
    footprints.reduce((total, { requests }) => total + (requests.get(name) ?? 0n), 0n);
  const ports = footprints.flatMap((footprint) => footprint.ports);
  const hasConflict = ports.some((left, index) =>
    ports.slice(index + 1).some((right) => conflicts(left, right)),
  );
  return (
    pods.length <= 5 &&
    sum('cpu') <= 4n * 10n ** 9n &&
    sum('memory') <= 8n * 2n ** 30n * 10n ** 9n &&
    !hasConflict
  );
}
