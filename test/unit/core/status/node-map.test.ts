/** The map of nodes: the worst of each node, columns by index, and nothing well that is not known. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { drawNodeMap } from '../../../../src/core/status/node-map.ts';
import type { ClusterReading, NodeReading } from '../../../../src/core/status/node-map.ts';

type Nodes = Readonly<Record<string, NodeReading>>;

const RUNNING: NodeReading = { code: 'Running', release: 'a1' };
const CRASHING: NodeReading = { code: 'CrashLoopBackOff', release: 'b2' };
const TAINTED: NodeReading = { code: 'TaintNotTolerated' };
const HELD: NodeReading = { code: 'frozen', release: 'a1' };

function cluster(
  sets: Readonly<Record<string, Nodes | undefined>>,
  more: Partial<ClusterReading> = {},
): ClusterReading {
  return {
    ...{ id: 'prod', state: 'Well', labels: { stage: 'prod' } },
    names: ['n2', 'n1'].map(nodeName),
    sets: Object.entries(sets).map(([name, nodes]) => ({
      name,
      nodes:
        nodes &&
        new Map(Object.entries(nodes).map(([node, one]) => [nodeName(node), one] as const)),
    })),
    ...more,
  };
}

/** Per node: name, reason, DaemonSet, release. */
function cellsOf(reading: ClusterReading): readonly (readonly (string | undefined)[])[] {
  const { reasons, daemonSets, releases, clusters } = drawNodeMap([reading]);
  const [drawn] = clusters;
  assert.ok(drawn !== undefined);
  return drawn.names.map((name, at) => [
    name,
    reasons[drawn.reason[at] ?? -1],
    daemonSets[drawn.daemonSet[at] ?? -1],
    releases[drawn.release[at] ?? -1],
  ]);
}

describe('the map of nodes', () => {
  it('shows each node by its worst DaemonSet, in the order of names', () => {
    const sets = {
      'ops/agent': { n1: RUNNING, n2: CRASHING },
      'ops/cni': { n1: HELD, n2: RUNNING },
      'ops/gpu': { n1: TAINTED, n2: TAINTED },
    };
    assert.deepEqual(cellsOf(cluster(sets)), [
      ['n1', 'frozen', 'ops/cni', 'a1'],
      ['n2', 'CrashLoopBackOff', 'ops/agent', 'b2'],
    ]);
  });

  it('shows a node as serving where another DaemonSet is not wanted, and as that where it is alone', () => {
    const nodes = { n1: TAINTED, n2: TAINTED };
    const both = cellsOf(cluster({ 'ops/gpu': nodes, 'ops/agent': { n1: RUNNING, n2: TAINTED } }));
    assert.deepEqual(both, [
      ['n1', 'Running', 'ops/agent', 'a1'],
      ['n2', 'TaintNotTolerated', 'ops/gpu', undefined],
    ]);
  });

  it('shows nothing as well while one of its DaemonSets cannot be told', () => {
    const sets = { 'ops/agent': { n1: RUNNING, n2: CRASHING }, 'ops/cni': undefined };
    assert.deepEqual(cellsOf(cluster(sets)), [
      ['n1', undefined, 'ops/cni', undefined],
      ['n2', 'CrashLoopBackOff', 'ops/agent', 'b2'],
    ]);
    const behind = cellsOf(cluster({ 'ops/agent': { n1: RUNNING } }));
    assert.deepEqual(behind[1], ['n2', undefined, 'ops/agent', undefined]);
  });

  it('names the nodes of a cluster of which nothing can be told, and judges none', () => {
    const unknown = 'its watcher is silent';
    const reading = cluster({ 'ops/agent': { n1: RUNNING, n2: RUNNING } }, { unknown });
    assert.deepEqual(cellsOf(reading), [
      ['n1', undefined, undefined, undefined],
      ['n2', undefined, undefined, undefined],
    ]);
    const { clusters, reasons } = drawNodeMap([reading, cluster({})]);
    assert.deepEqual(
      clusters.map(({ isKnown, unknown: why }) => [isKnown, why]),
      [
        [false, unknown],
        [true, undefined],
      ],
    );
    assert.deepEqual(reasons, []);
  });
});
