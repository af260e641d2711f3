// Asking clusters by a server-side dry run: whom, with what, and what of it is kept (nothing).
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { askClusters, type ClusterCheck } from '../../../../../src/app/fleet/check/ask-clusters.ts';
import type { ClusterFacts } from '../../../../../src/core/fleet/cluster-facts.ts';
import type { FleetDaemonSet } from '../../../../../src/core/fleet/fleet-daemon-set.ts';
import { planFleet } from '../../../../../src/core/fleet/plan-fleet.ts';
import { fleetRenderer } from '../../../../../src/core/fleet/render-fleet.ts';
import { clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { ApplyOptions } from '../../../../../src/ports/cluster/manifest-access.ts';
import { factsOf, fleetOf, manifestOf, NOW_MS } from '../../../../support/fleet-samples.ts';
import { MemoryRegistryStore } from '../../../../support/memory-registry-store.ts';
import { SimulatedCluster } from '../../../../support/simulated-cluster.ts';
import { SimulatedConnector } from '../../../../support/simulated-connector.ts';
import { registrationOf } from '../../../../support/store-suite.ts';

const PLAIN = { isDryRun: false, isForced: false };

describe('askClusters', () => {
  let clock: VirtualClock;
  let connector: SimulatedConnector;
  let registry: MemoryRegistryStore;
  let controller: AbortController;
  let sent: ApplyOptions[];
  beforeEach(() => {
    clock = new VirtualClock();
    connector = new SimulatedConnector();
    registry = new MemoryRegistryStore();
    controller = new AbortController();
    sent = [];
  });

  async function add(id: string): Promise<SimulatedCluster> {
    const cluster = new SimulatedCluster(clusterUid(`uid-of-${id}`), clock);
    cluster.hooks = {
      beforeApply: (_manifest, options) => {
        sent.push(options);
        return undefined;
      },
    };
    connector.clusters.set(id, cluster);
    await registry.writeCluster({ ...registrationOf(id), mode: 'takeover' }, 0);
    return cluster;
  }

  /** Somebody else gives the cluster an image of their own. */
  function own(manager: string, cluster: SimulatedCluster): void {
    const other = fleetOf({ template: manifestOf({}, 'other:1') });
    const rendered = fleetRenderer(other)(factsOf('a'));
    assert.equal(rendered.kind, 'rendered');
    assert.equal(cluster.manifests.applyAs(manager, rendered.manifest, PLAIN).kind, 'applied');
  }

  function ask(
    fleet: FleetDaemonSet,
    clusters: readonly ClusterFacts[],
    onAsked: (asked: number, all: number) => void = () => undefined,
  ): Promise<readonly ClusterCheck[]> {
    const { signal } = controller;
    const plan = planFleet(fleet, clusters, NOW_MS);
    return askClusters(fleet, plan, { registry, connector, clock, signal, onAsked });
  }

  it('asks by dry runs alone, forgets connections, and nothing is kept', async () => {
    const cluster = await add('a');
    const progress: string[] = [];
    const checks = await ask(fleetOf(), [factsOf('a')], (asked, all) =>
      progress.push(`${String(asked)}/${String(all)}`),
    );
    assert.deepEqual(checks, [{ id: 'a', kind: 'accepted' }]);
    assert.deepEqual(
      sent.map(({ isDryRun, isForced }) => [isDryRun, isForced]),
      [[true, false]],
    );
    assert.deepEqual(cluster.list('daemonsets'), []);
    assert.deepEqual(connector.forgotten, ['a']);
    assert.deepEqual(progress, ['1/1']);
  });

  it('asks nobody that is observed, frozen, held by a rival or offline', async () => {
    await add('a');
    const checks = await ask(fleetOf(), [
      factsOf('a', { mode: 'observe' }),
      factsOf('b', { isFrozen: true }),
      factsOf('c', { rival: { seenAtMs: 1, evidence: 'x' } }),
      factsOf('d', { seen: { heardAtMs: 0 } }),
    ]);
    assert.deepEqual(checks, []);
    assert.equal(connector.connects, 0);
  });

  it('names who owns a field, unless the fleet overwrites', async () => {
    own('argocd', await add('a'));
    const [check] = await ask(fleetOf(), [factsOf('a')]);
    assert.equal(check?.kind, 'conflict');
    assert.equal(check.conflicts[0]?.manager, 'argocd');
    assert.match(check.conflicts[0].field, /image/);
    const overwrites = fleetOf({ strategy: { conflicts: 'overwrite' } });
    assert.equal((await ask(overwrites, [factsOf('a')]))[0]?.kind, 'accepted');
  });

  it('asks at the version that it read, as a step does', async () => {
    const cluster = await add('a');
    own('rollcall', cluster);
    const [live] = cluster.list('daemonsets');
    await ask(fleetOf(), [factsOf('a')]);
    assert.equal(sent[0]?.uid, live?.metadata.uid);
    assert.equal(sent[0]?.resourceVersion, live?.metadata.resourceVersion);
  });

  it('gives each cluster what is rendered for it', async () => {
    const images: string[] = [];
    for (const id of ['a', 'b']) {
      const cluster = await add(id);
      cluster.hooks = {
        beforeApply: ({ spec }) => {
          const found = /"image":"([^"]+)"/.exec(JSON.stringify(spec));
          images.push(`${id} ${found?.[1] ?? ''}`);
          return undefined;
        },
      };
    }
    const overrides = [
      {
        name: 'eu',
        clusterNames: ['b'],
        jsonPatch: [
          { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'b:2' },
        ],
      },
    ];
    await ask(fleetOf({ overrides }), [factsOf('a'), factsOf('b')]);
    assert.deepEqual(images.sort(), ['a registry.example/agent:1', 'b b:2']);
  });

  it('says of whom it cannot reach that they were not checked, and asks the others', async () => {
    await add('a');
    const bare = { ...registrationOf('b'), mode: 'takeover' as const };
    await registry.writeCluster(bare, 0);
    const checks = await ask(fleetOf(), [factsOf('a'), factsOf('b'), factsOf('gone')]);
    const told = new Map(checks.map((check) => [String(check.id), check.kind]));
    assert.deepEqual(
      [told.get('a'), told.get('b'), told.get('gone')],
      ['accepted', 'not-checked', 'not-checked'],
    );
  });

  it('ends: nobody is asked after two minutes, or after Ctrl-C', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `c${String(index)}`);
    for (const id of ids) {
      (await add(id)).hooks = {
        beforeApply: async () => {
          await clock.advance(60_000);
          return undefined;
        },
      };
    }
    const facts = ids.map((id) => factsOf(id));
    const late = await ask(fleetOf(), facts);
    assert.equal(late.length, 40);
    // Each takes a minute: of 16 at once two rounds begin at most.
    assert.ok(connector.connects <= 32, String(connector.connects));
    assert.ok(late.filter(({ kind }) => kind === 'not-checked').length >= 8);
    controller.abort();
    connector.connects = 0;
    const aborted = await ask(fleetOf(), facts);
    assert.ok(aborted.every(({ kind }) => kind === 'not-checked'));
    assert.equal(connector.connects, 0);
  });
});
