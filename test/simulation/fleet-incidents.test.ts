// Public incidents, and how other fleet managers failed, each with the outcome here (issue 18): damage is bounded to
// the first ring, or there is none.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fleetOf, manifestOf } from '../support/fleet-samples.ts';
import type { FleetSite } from '../support/fleet-simulation/fleet-site.ts';
import {
  QUICK,
  holding,
  isDone,
  isHalted,
  many,
  openSite,
  quickly,
  traitsOf,
  turns,
} from '../support/fleet-simulation/small-site.ts';

async function untilHalted(site: FleetSite): Promise<void> {
  await site.until('it is halted', () => isHalted(site, 'agent:2'));
  await turns(site, 120);
  assert.deepEqual(site.audit.broken, []);
}

describe('incidents', () => {
  it('OpenAI 2024-12-11: an agent whose cost grows with its cluster harms the large one that goes first, and no other', async () => {
    const sizes = [5000, 2000, 400, 50, 10, 3];
    const traits = sizes.map((nodes) =>
      traitsOf(`n${String(nodes)}`, { nodes, labels: { size: nodes > 1000 ? 'large' : 'small' } }),
    );
    // Longer than the quarter of an hour after which a cluster counts as silent.
    const largeFirst = quickly({
      soak: '30m',
      stages: [
        {
          name: 'large',
          clusterSelector: { matchLabels: { size: 'large' } },
          clusters: 1,
          nodes: 1,
        },
        { name: 'early', clusters: 2 },
      ],
    });
    const site = await openSite(traits, largeFirst);
    for (const one of site.clusters) {
      const isOverwhelmed = one.nodes > 1000;
      one.harmOf = (image) => (image === 'agent:2' && isOverwhelmed ? 'silence' : undefined);
    }
    await site.release('agent:2', largeFirst);
    await turns(site, 24 * 60);
    // Its API server is gone with it: nobody can be asked, so nothing goes on, and no stop has to be sent there.
    assert.equal(holding(site, 'agent:2').length, 1);
    assert.equal(site.record?.gate.kind, 'no-evidence');
    assert.equal(
      site.clusters.filter(
        ({ rolling }) => (rolling?.updated ?? 0) > 1 && rolling?.hash === 'agent:2',
      ).length,
      0,
    );
  });

  it('Reddit 2023-03-14: a release that selects nodes by a label that is gone halts at zero, in one cluster', async () => {
    const site = await openSite(many(30));
    for (const one of site.clusters) {
      one.nodesOf = (image): number => (image === 'agent:2' ? 0 : 10);
    }
    await site.release('agent:2', QUICK);
    await untilHalted(site);
    assert.equal(holding(site, 'agent:2').length, 1);
    assert.match(
      site.record?.breach?.message ?? '',
      /NoNodes: it should run on no node any more, and did on 10/,
    );
  });

  it('CrowdStrike 2024-07-19: content that crashes everywhere reaches one node of one of 500 clusters', async () => {
    const canary = quickly({
      stages: [
        { name: 'canary', clusters: 1, nodes: 1 },
        { name: 'early', clusters: '10%' },
      ],
    });
    const site = await openSite(
      many(500, { nodes: 1000 }),
      quickly({ maxConcurrency: '100%', soak: '0s' }),
    );
    for (const one of site.clusters) {
      one.harmOf = (image) => (image === 'agent:2' ? 'start-failure' : undefined);
    }
    await site.release('agent:2', canary);
    await untilHalted(site);
    const nodes = holding(site, 'agent:2').map(({ rolling }) => rolling?.updated);
    assert.deepEqual(nodes, [1], 'of 500,000 nodes');
  });

  it('Datadog 2023-03-08: regions whose windows are aligned still go one stage after the other', async () => {
    const regions = ['eu', 'us', 'ap'];
    const traits = many(30).map((one, index) => ({
      ...one,
      labels: { region: regions[index % 3] ?? '' },
    }));
    const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
    const window = [{ days, from: '06:00', to: '07:00', timeZone: 'UTC' }];
    const stages = regions.map((region) => ({
      name: region,
      clusterSelector: { matchLabels: { region } },
      soak: '30m',
    }));
    const site = await openSite(traits);
    for (const one of site.clusters) {
      one.harmOf = (image) => (image === 'agent:2' ? 'late-restarts' : undefined);
    }
    await site.release('agent:2', quickly({ stages, window, maxConcurrency: 1 }));
    await untilHalted(site);
    const harmed = holding(site, 'agent:2');
    assert.ok(harmed.length <= 8, `${String(harmed.length)} clusters`);
    assert.deepEqual(
      [...new Set(harmed.map(({ traits: { labels } }) => labels['region']))],
      ['eu'],
    );
  });
});

describe('failures of other fleet managers', () => {
  it('Argo CD #29410: a status of the release before opens no gate', async () => {
    // Every view is an hour behind: all say that they are well, with the release before.
    const site = await openSite(many(6));
    for (const { traits } of site.clusters) Object.assign(traits, { lagMs: 3_600_000 });
    await site.release('agent:2', QUICK);
    await turns(site, 55);
    assert.deepEqual([site.record?.stage, holding(site, 'agent:2').length], [0, 1]);
    await site.until('it is out', () => isDone(site, 'agent:2'));
    assert.deepEqual(site.audit.broken, []);
  });

  it('Argo CD: a crash loop is told, and ends the rollout; nobody waits for ever', async () => {
    const site = await openSite(many(12));
    for (const one of site.clusters) {
      one.harmOf = (image) => (image === 'agent:2' ? 'start-failure' : undefined);
    }
    const since = site.nowMs;
    await site.release('agent:2', QUICK);
    await site.until('it is halted', () => isHalted(site, 'agent:2'));
    assert.ok(
      site.nowMs - since <= 10 * 60_000,
      `${String((site.nowMs - since) / 60_000)} minutes`,
    );
    assert.match(site.record?.breach?.message ?? '', /Halted\/StartFailure/);
    assert.equal(holding(site, 'agent:2').length, 1);
  });

  it('Open Cluster Management: a breach goes back by itself where it is asked to, and leaves no mixture', async () => {
    const spec = quickly({ onHalt: 'rollback' });
    const site = await openSite(many(12), spec);
    for (const one of site.clusters) {
      one.harmOf = (image) => (image === 'agent:2' ? 'late-restarts' : undefined);
    }
    await site.release('agent:2', spec);
    await site.until('it is halted', () => isHalted(site, 'agent:2'));
    assert.ok(holding(site, 'agent:2').length <= 12);
    await site.until('all are back', () => site.record?.gate.kind === 'returned', 120);
    assert.deepEqual([holding(site, 'agent:1').length, site.audit.broken], [12, []]);
  });

  it('a tenant who sets it back in one cluster takes it from no other, and spoils no release', async () => {
    const spec = quickly({ onHalt: 'rollback' });
    const site = await openSite(many(12), spec);
    await site.release('agent:2', spec);
    await site.until('two of the second stage have it', () => holding(site, 'agent:2').length >= 3);
    const victim = holding(site, 'agent:2').at(-1);
    assert.ok(victim);
    victim.rival = { image: 'agent:1', delayMs: 30_000, turnsLeft: 3 };
    await site.until('it is halted', () => isHalted(site, 'agent:2'));
    const { breach, refused = [] } = site.record ?? {};
    assert.deepEqual([breach?.grounds, breach?.clusters, refused], ['place', [victim.id], []]);
    const others = holding(site, 'agent:2').filter((one) => one !== victim);
    await turns(site, 120);
    assert.deepEqual(
      others.map(({ image }) => image),
      others.map(() => 'agent:2'),
    );
    assert.equal(await site.order('resume'), 'written');
    await site.until('it is out', () => isDone(site, 'agent:2'));
    assert.deepEqual([holding(site, 'agent:2').length, site.audit.broken], [12, []]);
  });

  it('Rancher Fleet #192: one device that is offline for a day blocks nobody, and gets it when it is back', async () => {
    const site = await openSite(many(20));
    const [device] = site.clusters;
    assert.ok(device);
    device.isOffline = true;
    await turns(site, 20);
    await site.release('agent:2', QUICK);
    const minutes = await site.until('it is out', () => isDone(site, 'agent:2'), 240);
    await turns(site, 24 * 60 - minutes);
    assert.equal(holding(site, 'agent:2').length, 19);
    device.isOffline = false;
    await site.until('it has it', () => device.image === 'agent:2', 30);
  });

  it('Rancher Fleet: who says nothing gets a canary of one node in each of two clusters, soaks, and no failure forgiven', async () => {
    const { stages } = fleetOf({ template: manifestOf() }).strategy;
    assert.deepEqual(
      stages.map(({ nodes, soakMs, maxFailures }) => [nodes, soakMs, maxFailures]),
      [
        [{ kind: 'count', count: 1 }, 3_600_000, { kind: 'count', count: 0 }],
        [undefined, 3_600_000, { kind: 'count', count: 0 }],
        [undefined, 3_600_000, { kind: 'count', count: 0 }],
      ],
    );
    const spec = { placement: { all: true } };
    const site = await openSite(many(20), spec);
    for (const one of site.clusters) {
      one.harmOf = (image) => (image === 'agent:2' ? 'late-restarts' : undefined);
    }
    await site.release('agent:2', spec);
    await untilHalted(site);
    const nodes = holding(site, 'agent:2').map(({ rolling }) => rolling?.updated);
    assert.deepEqual(nodes, [1, 1]);
  });

  it('Karmada: a cluster at none of ten is not hidden by 9,990 of 10,000', async () => {
    const traits = [
      traitsOf('huge', { nodes: 9990, nodesPerMinute: 2000 }),
      traitsOf('small'),
      traitsOf('third'),
    ];
    const site = await openSite(traits);
    const small = site.clusters[1];
    assert.ok(small);
    small.harmOf = (image) => (image === 'agent:2' ? 'start-failure' : undefined);
    await site.release('agent:2', quickly({ maxConcurrency: '100%' }));
    await untilHalted(site);
    assert.match(site.record?.breach?.message ?? '', /small: Halted/);
  });

  it('KubeFleet: a cluster that is stuck is a breach at the deadline, named', async () => {
    const spec = quickly({ progressDeadline: '1h' });
    const site = await openSite(many(4), spec);
    for (const { traits } of site.clusters) Object.assign(traits, { canaryMs: 1e9 });
    await site.release('agent:2', spec);
    await site.until('it is halted', () => isHalted(site, 'agent:2'), 120);
    assert.equal(site.record?.breach?.cause, 'ProgressDeadlineExceeded');
    assert.equal(site.record.breach.clusters.length, 1);
    assert.equal(holding(site, 'agent:2').length, 1);
  });
});
