// Where each cluster stands in a plan: the words of docs/fleet.md, one test each.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClusterFacts } from '../../../../src/core/fleet/cluster-facts.ts';
import { planFleet, type FleetPlan } from '../../../../src/core/fleet/plan-fleet.ts';
import {
  NOW_MS,
  factsOf,
  fleetOf,
  liveOf,
  manifestOf,
  nodesOf,
} from '../../../support/fleet-samples.ts';

const DAY_MS = 86_400_000;
const BY_RING = {
  stages: [
    { name: 'first', clusterSelector: { matchLabels: { ring: '0' } } },
    { name: 'second', clusterSelector: { matchLabels: { ring: '1' } } },
  ],
};

function plan(clusters: readonly ClusterFacts[], spec: JsonObject = {}): FleetPlan {
  return planFleet(fleetOf(spec), clusters, NOW_MS);
}

/** Names of the clusters of each stage that has some. */
function stagesOf({ stages }: FleetPlan): Readonly<Record<string, readonly string[]>> {
  const filled = stages.filter(({ clusters }) => clusters.length > 0);
  return Object.fromEntries(
    filled.map(({ name, clusters }) => [name, clusters.map(({ id }) => id).sort()]),
  );
}

const inRing = (id: string, ring: string): ClusterFacts => factsOf(id, { labels: { ring } });
const many = (count: number): readonly ClusterFacts[] =>
  Array.from({ length: count }, (_, index) => factsOf(`c${String(index)}`));

describe('planFleet: stages', () => {
  it('by default goes from one node of each of two clusters to a tenth, then to the rest', () => {
    const { stages } = plan(many(25));
    assert.deepEqual(
      stages.map(({ name, clusters, concurrentClusters, failedClustersMax, soakMs }) => [
        name,
        clusters.length,
        concurrentClusters,
        failedClustersMax,
        soakMs,
      ]),
      [
        ['canary', 2, 1, 0, 3_600_000],
        ['early', 3, 1, 0, 3_600_000],
        ['rest', 20, 2, 0, 3_600_000],
      ],
    );
  });

  it('takes a percentage of those that the stage names', () => {
    const clusters = [...many(10), inRing('r1', '0'), inRing('r2', '0')];
    const stages = [
      { name: 'half', clusters: '50%', clusterSelector: { matchLabels: { ring: '0' } } },
    ];
    const [half] = plan(clusters, { strategy: { stages } }).stages;
    assert.equal(half?.clusters.length, 1);
    assert.equal(half.baseClusters, 2);
  });

  it('goes by the order of labels, what is last at the end', () => {
    const order = [
      { label: 'tier', values: ['dev'], last: false },
      { label: 'ring', last: true },
    ];
    const clusters = [
      inRing('z-last', '9'),
      factsOf('prod', { labels: { tier: 'prod' } }),
      factsOf('dev', { labels: { tier: 'dev' } }),
    ];
    const { stages } = plan(clusters, { strategy: { order, stages: [{ name: 'all' }] } });
    assert.deepEqual(
      stages[0]?.clusters.map(({ id }) => id),
      ['dev', 'prod', 'z-last'],
    );
  });

  it('places a cluster that no stage names in the rest, and one without the label of the placement nowhere', () => {
    const clusters = [inRing('a', '0'), factsOf('new'), factsOf('gone', { labels: { lab: '1' } })];
    const placement = { all: true, exclude: { clusterSelector: { matchLabels: { lab: '1' } } } };
    const planned = plan(clusters, { strategy: BY_RING, placement });
    assert.deepEqual(stagesOf(planned), { first: ['a'], rest: ['new'] });
  });

  it('plans each cluster from what it runs after a new apply in the middle of a rollout', () => {
    const runs = (id: string, image: string): ClusterFacts => {
      const daemonSet = liveOf({
        ...manifestOf({}, image),
        metadata: { annotations: { 'rollcall.dev/rollout': '{}' } },
      });
      return factsOf(id, { seen: { heardAtMs: NOW_MS, nodes: nodesOf(3), daemonSet } });
    };
    const clusters = [
      runs('a', 'agent:1'),
      runs('b', 'agent:2'),
      runs('c', 'agent:3'),
      factsOf('d'),
    ];
    const { stages } = plan(clusters, {
      template: manifestOf({}, 'agent:3'),
      strategy: { stages: [{ name: 'all' }] },
    });
    const found = stages[0]?.clusters.map(({ id, change, images }) => [id, change, images]).sort();
    assert.deepEqual(found, [
      ['a', 'update', [{ container: 'agent', from: 'agent:1', to: 'agent:3' }]],
      ['b', 'update', [{ container: 'agent', from: 'agent:2', to: 'agent:3' }]],
      ['c', 'none', []],
      ['d', 'create', [{ container: 'agent', to: 'agent:3' }]],
    ]);
  });
});

describe('planFleet: clusters that are in no stage', () => {
  it('counts observed, frozen and contested clusters, and touches none of them', () => {
    const clusters = [
      factsOf('seen', { mode: 'observe' }),
      factsOf('held', { isFrozen: true }),
      factsOf('fought', { rival: { seenAtMs: 1, evidence: 'x' } }),
      factsOf('ours'),
    ];
    const planned = plan(clusters);
    assert.deepEqual(
      planned.untouched.map(({ id, why, nodes, change }) => [id, why, nodes, change]),
      [
        ['seen', 'observe', 2, 'create'],
        ['held', 'frozen', 2, 'create'],
        ['fought', 'conflict', 2, 'create'],
      ],
    );
    assert.deepEqual(stagesOf(planned), { canary: ['ours'] });
  });

  it('keeps RollingUpdate from clusters in copilot alone, whose built-in controller would roll it unstaged', () => {
    const clusters = [factsOf('eks', { mode: 'copilot' }), factsOf('own')];
    const planned = plan(clusters);
    assert.deepEqual(stagesOf(planned), { canary: ['own'] });
    const [refused] = planned.refused;
    assert.deepEqual(
      [refused?.id, refused?.problems[0]?.field],
      ['eks', 'spec.updateStrategy.type'],
    );
    assert.match(refused?.problems[0]?.message ?? '', /must be OnDelete.*override/);
  });

  it('lets clusters that are not heard neither block nor count', () => {
    const seen = { heardAtMs: NOW_MS - DAY_MS, nodes: nodesOf(2), daemonSet: null };
    const { seen: _seen, ...never } = factsOf('never');
    const clusters = [...many(10), factsOf('silent', { seen }), never];
    const planned = plan(clusters, { strategy: { stages: [{ name: 'part', clusters: '10%' }] } });
    assert.equal(planned.stages[0]?.baseClusters, 10);
    assert.deepEqual(
      planned.offline.map(({ id, silentForMs }) => [id, silentForMs]),
      [
        ['silent', DAY_MS],
        ['never', undefined],
      ],
    );
  });

  it('holds a cluster for online until its longest heartbeat is over', () => {
    const heard = (agoMs: number): FleetPlan =>
      plan([factsOf('a', { seen: { heardAtMs: NOW_MS - agoMs, nodes: [], daemonSet: null } })]);
    assert.equal(heard(840_000).offline.length, 0);
    assert.equal(heard(840_001).offline.length, 1);
    // A clock that is behind the queue's.
    assert.equal(heard(-5000).offline.length, 0);
  });

  it('names the clusters whose overrides leave no DaemonSet, and puts them in no stage', () => {
    const overrides = [
      {
        name: 'odd',
        clusterNames: ['c1'],
        jsonPatch: [{ op: 'remove', path: '/spec/template/spec/containers' }],
      },
    ];
    const planned = plan(many(3), { overrides });
    assert.deepEqual(
      planned.refused.map(({ id }) => id),
      ['c1'],
    );
    assert.deepEqual(Object.values(stagesOf(planned)).flat().sort(), ['c0', 'c2']);
  });

  it('names what is named and not registered', () => {
    const placement = { clusterNames: ['c0', 'gone'], exclude: { clusterNames: ['typo'] } };
    assert.deepEqual(plan(many(1), { placement }).unknownNames, ['gone', 'typo']);
  });
});

describe('planFleet: nodes', () => {
  it('counts the nodes that the rendered manifest would run on', () => {
    const nodes = nodesOf(4).map((node, index) => ({
      ...node,
      labels: index === 0 ? {} : { arch: 'arm64' },
    }));
    const facts = factsOf('a', { seen: { heardAtMs: NOW_MS, nodes, daemonSet: null } });
    const template = manifestOf({ nodeSelector: { arch: 'arm64' } });
    const [canary] = plan([facts], { template }).stages;
    assert.equal(canary?.clusters[0]?.nodes, 3);
  });

  it('takes so many nodes of a cluster that runs it already, and all of one that has none', () => {
    const daemonSet = liveOf(manifestOf({}, 'agent:0'), 40);
    const seen = { heardAtMs: NOW_MS, nodes: nodesOf(40), daemonSet };
    const strategy = { stages: [{ name: 'first', nodes: '10%' }] };
    const changed = plan([factsOf('a', { seen })], { strategy }).stages[0];
    assert.equal(changed?.changedNodes, 4);
    assert.equal(changed.clusters[0]?.nodesNow, 40);
    const made = plan([factsOf('a', { seen: { ...seen, daemonSet: null } })], { strategy })
      .stages[0];
    assert.equal(made?.changedNodes, 40);
  });

  it('leaves the other nodes of a first stage to the next one, so that stages add up', () => {
    const strategy = {
      stages: [{ name: 'first', clusterNames: ['a'], nodes: 3 }, { name: 'then' }],
    };
    const olderOn = (updated: number): ClusterFacts => {
      const live = liveOf(manifestOf({}, updated === 0 ? 'agent:0' : undefined), 24);
      const metadata = { ...live.metadata, generation: 2 };
      const status = {
        ...{ desiredNumberScheduled: 24, currentNumberScheduled: 24, numberReady: 24 },
        ...{ numberMisscheduled: 0, observedGeneration: 2, updatedNumberScheduled: updated },
      };
      const daemonSet = { ...live, metadata, status };
      return factsOf('a', { seen: { heardAtMs: NOW_MS, nodes: nodesOf(24), daemonSet } });
    };
    const nodesBy = (updated: number): readonly number[] =>
      plan([olderOn(updated)], { strategy }).stages.map(({ changedNodes }) => changedNodes);
    assert.deepEqual(nodesBy(0).slice(0, 2), [3, 21]);
    // In the middle of the canary its template is there, and most pods are of the one before.
    assert.deepEqual(nodesBy(3).slice(0, 2), [0, 21]);
    const [first] = plan([olderOn(3)], { strategy }).stages;
    const { change, changedNodes } = first?.clusters[0] ?? assert.fail();
    assert.deepEqual([change, changedNodes], ['update', 21]);
  });

  it('counts no node where only what is outside of the pod template differs', () => {
    const seen = { heardAtMs: NOW_MS, nodes: nodesOf(3), daemonSet: liveOf(manifestOf()) };
    const [canary] = plan([factsOf('a', { seen })]).stages;
    const { change, differences } = canary?.clusters[0] ?? assert.fail();
    // The annotation of the fleet's policy is not there yet.
    assert.deepEqual([change, differences.length, canary?.changedNodes], ['adjust', 1, 0]);
  });

  it('tells nothing where the view does not', () => {
    const [canary] = plan([factsOf('a', { seen: { heardAtMs: NOW_MS } })]).stages;
    const { change, nodes, images } = canary?.clusters[0] ?? assert.fail();
    assert.deepEqual([change, nodes, images], ['unknown', undefined, []]);
    assert.equal(canary?.changedNodes, 0);
  });
});
