// Steps of a fleet against tables in memory: who dies, comes twice or late, and what operators ask for meanwhile.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  QUICK,
  holding,
  isDone,
  isHalted,
  many,
  openReturning,
  openSite,
  quickly,
  traitsOf,
  turns,
} from '../../../../support/fleet-simulation/small-site.ts';
import { failingAtWrite } from '../../../../support/store-hooks.ts';
import { KIND_SITE } from '../../../../support/fleet-simulation/fleet-site.ts';
import type { ModelCluster } from '../../../../support/fleet-simulation/model-cluster.ts';
import type { FleetSite } from '../../../../support/fleet-simulation/fleet-site.ts';

const HOUR_MS = 3_600_000;

function assertKept({ audit }: FleetSite): void {
  assert.deepEqual(audit.broken, []);
}

describe('stepFleets: processes', () => {
  it('finishes a rollout whichever write of a turn fails, before or after it took effect', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let write = 0; write < 14; write += 1) {
        const site = await openSite(many(3));
        const watched = site.rollouts.hooks;
        const failing = failingAtWrite(write, moment);
        site.rollouts.hooks = {
          ...(failing.before === undefined ? {} : { before: failing.before }),
          after: async (call) => {
            await watched.after?.(call);
            return failing.after?.(call);
          },
        };
        await site.release('agent:2', QUICK);
        await site.until('it is out', () => isDone(site, 'agent:2'), 200);
        assertKept(site);
        assert.equal(holding(site, 'agent:2').length, 3, `${moment} write ${String(write)}`);
      }
    }
  });

  it('does with two turns at the same time what one does', async () => {
    const site = await openSite(many(8), QUICK, { ...KIND_SITE, twice: 1 });
    await site.release('agent:2', QUICK);
    await site.until('it is out', () => isDone(site, 'agent:2'), 200);
    assertKept(site);
    assert.deepEqual([...new Set(site.audit.sends.values())], [1]);
    assert.ok(site.metrics.sum('FleetSteps', 'lost') > 0);
  });

  it('sends nothing twice that arrives an hour later, and nothing of before after a new release', async () => {
    const late = { ...KIND_SITE, fateOf: () => 'late' as const };
    const site = await openSite(many(3), QUICK);
    site.faults = late;
    await site.release('agent:2', QUICK);
    await turns(site, 3);
    site.faults = KIND_SITE;
    await site.release('agent:3', QUICK);
    await site.until('it is out', () => isDone(site, 'agent:3'), 300);
    await turns(site, 90);
    assert.equal(holding(site, 'agent:3').length, 3);
    assertKept(site);
  });
});

it('counts once that this release cannot read a document, however often it tries', async () => {
  const site = await openSite(many(2));
  const read = site.fleets.readFleet.bind(site.fleets);
  const asOfNewerRelease: typeof read = async (key) => {
    const stored = await read(key);
    return stored && { ...stored, document: { spec: 'of a newer release' } };
  };
  for (const occurrence of [1, 2]) {
    site.fleets.readFleet = asOfNewerRelease;
    await site.release(`agent:${String(occurrence + 1)}`, QUICK);
    await turns(site, 60);
    assert.equal(site.metrics.sum('FleetDecisions', 'unreadable'), occurrence);
    assert.ok(site.metrics.sum('FleetSteps', 'invalid') >= 4 * occurrence);
    site.fleets.readFleet = read;
    await turns(site, 20);
  }
});

describe('stepFleets: clusters that were rebuilt', () => {
  it('make no room for others while they wait to be given it anew', async () => {
    const stages = [{ name: 'all', clusters: '100%' }];
    const of = (maxConcurrency: number) => quickly({ stages, maxConcurrency });
    const slow = traitsOf('a', { canaryMs: 10 * HOUR_MS });
    const site = await openSite([slow, traitsOf('b'), traitsOf('c')], of(3));
    const [rolling, lost, rebuilt] = site.clusters;
    assert.ok(rolling && lost && rebuilt);
    // All three are given it at once, and it arrives in one.
    site.faults = {
      ...KIND_SITE,
      fateOf: (_dice, cluster) => (cluster === rolling ? 'answered' : 'lost'),
    };
    await site.release('agent:2', of(3));
    await turns(site, 2);
    // By then only one may roll at a time; the third is another cluster by now.
    await site.release('agent:2', of(1));
    rebuilt.rebuild(site.nowMs);
    await site.register(rebuilt);
    site.faults = KIND_SITE;
    await turns(site, 60);
    assert.deepEqual([rolling.image, lost.image, rebuilt.image], ['agent:2', 'agent:1', undefined]);
    assertKept(site);
  });
});

describe('stepFleets: orders', () => {
  it('gives nothing more from the turn after a pause, and goes on after it', async () => {
    const site = await openSite(many(12));
    await site.release('agent:2', QUICK);
    await site.until('the last stage opened', () => site.record?.stage === 2);
    assert.equal(await site.order('pause'), 'written');
    const held = holding(site, 'agent:2').length;
    await turns(site, 60);
    assert.equal(holding(site, 'agent:2').length, held);
    assert.equal(await site.order('resume'), 'written');
    await site.until('it is out', () => isDone(site, 'agent:2'));
    assertKept(site);
  });

  it('stops at a freeze, and goes on once it is thawed', async () => {
    const site = await openSite(many(12));
    await site.release('agent:2', QUICK);
    await site.until('the second stage opened', () => site.record?.stage === 1);
    site.freezes.seed({ daemonSets: {}, all: { by: 'ann', why: 'incident', atMs: site.nowMs } });
    const held = holding(site, 'agent:2').length;
    await turns(site, 60);
    assert.equal(holding(site, 'agent:2').length, held);
    assert.equal(site.record?.gate.kind, 'frozen');
    site.freezes.seed({ daemonSets: {} });
    await site.until('it is out', () => isDone(site, 'agent:2'));
    assertKept(site);
  });

  for (const kind of ['freeze', 'freeze by name', 'pause'] as const) {
    it(`lets a ${kind} between two batches end the second one`, async () => {
      const site = await openSite(many(60), quickly({ maxConcurrency: '100%' }));
      await site.release('agent:2', quickly({ maxConcurrency: '100%' }));
      const note = { by: 'ann', why: '', atMs: site.nowMs };
      let isHeld = false;
      site.freezes.hooks = {
        before: async () => {
          // The first batch of the last stage is given, beyond those of the two before it.
          if (isHeld || holding(site, 'agent:2').length <= 3) return;
          isHeld = true;
          const daemonSets = { 'monitoring/agent': note };
          if (kind === 'freeze') site.freezes.seed({ daemonSets: {}, all: note });
          else if (kind === 'freeze by name') site.freezes.seed({ daemonSets });
          else assert.equal(await site.order('pause'), 'written');
        },
      };
      await site.until('it is held', () => isHeld);
      await turns(site, 60);
      const given = holding(site, 'agent:2').length - 3;
      // A pause is written while the batch that is one late reads the record.
      const most = kind === 'pause' ? 20 : 10;
      assert.ok(given > 0 && given <= most, `${String(given)} of 57`);
      assertKept(site);
    });
  }

  it('opens a gate once for two operators who approve at once', async () => {
    const spec = quickly({ approval: 'after' });
    const site = await openSite(many(3), quickly({}));
    await site.release('agent:2', spec);
    await site.until('it asks', () => site.record?.gate.kind === 'approval');
    const results = await Promise.all([site.order('approve'), site.order('approve')]);
    assert.deepEqual([...results].sort(), ['lost', 'written']);
    assert.ok(['unchanged', 'nothing'].includes(await site.order('approve')));
    await site.turn();
    await site.turn();
    assert.equal(site.record?.stage, 1);
  });

  it('sends every cluster back at an undo, those that came through the ring as well', async () => {
    const site = await openSite(many(6));
    const [returned] = site.clusters.slice(-1);
    assert.ok(returned);
    returned.isOffline = true;
    await turns(site, 20);
    await site.release('agent:2', QUICK);
    await site.until('it is out', () => isDone(site, 'agent:2'));
    returned.isOffline = false;
    await site.until(
      'it came back',
      () => returned.image === 'agent:2' && site.record?.ring.count === 0,
    );
    assert.equal(await site.order('undo'), 'written');
    await site.until('all are back', () => holding(site, 'agent:1').length === 6, 120);
    await turns(site, 30);
    assert.equal(site.record?.gate.kind, 'returned');
    assertKept(site);
  });
});

describe('stepFleets: releases', () => {
  it('holds the same bad content however often GitOps applies it', async () => {
    const site = await openSite(many(6));
    for (const one of site.clusters) {
      one.harmOf = (image) => (image === 'agent:2' ? 'start-failure' : undefined);
    }
    await site.release('agent:2', QUICK);
    await site.until('it is halted', () => isHalted(site, 'agent:2'));
    for (let again = 0; again < 12; again += 1) {
      await turns(site, 5);
      await site.release('agent:2', again % 2 === 0 ? QUICK : quickly({ soak: '6m' }));
    }
    assert.equal(holding(site, 'agent:2').length, 1);
    await site.release('agent:3', QUICK);
    await turns(site, 2);
    await site.release('agent:2', QUICK);
    await turns(site, 20);
    assert.equal(site.record?.breach?.cause, 'KnownBad');
    assert.ok(holding(site, 'agent:2').length <= 1);
    assertKept(site);
  });

  it('begins anew with a new release in the middle of another one', async () => {
    const site = await openSite(many(8));
    await site.release('agent:2', QUICK);
    await site.until('the second stage opened', () => site.record?.stage === 1);
    await site.release('agent:3', QUICK);
    await site.until('it is out', () => isDone(site, 'agent:3'));
    assert.equal(holding(site, 'agent:3').length, 8);
    assertKept(site);
  });

  it('keeps who waits in the open stage when labels of others change', async () => {
    const site = await openSite(many(20), quickly({ maxConcurrency: 1 }));
    await site.release('agent:2', quickly({ maxConcurrency: 1 }));
    await site.until('the last stage opened', () => site.record?.stage === 2);
    const count = site.record?.stages[2]?.members.count;
    const [first] = site.clusters;
    assert.ok(first);
    await turns(site, 6);
    await site.register(first, { labels: { site: 'moved' } });
    await turns(site, 12);
    assert.deepEqual([site.record?.stages[2]?.members.count, site.record?.ring.count], [count, 0]);
    await site.until('it is out', () => isDone(site, 'agent:2'));
    assertKept(site);
  });

  it('gives a cluster that was rebuilt under its id its release again', async () => {
    const site = await openSite(many(4));
    await site.release('agent:2', QUICK);
    await site.until('it is out', () => isDone(site, 'agent:2'));
    const [rebuilt] = site.clusters;
    assert.ok(rebuilt);
    rebuilt.rebuild(site.nowMs);
    await site.register(rebuilt);
    await site.until('it has it again', () => rebuilt.image === 'agent:2', 120);
    assertKept(site);
  });
});

describe('stepFleets: clusters that are scaled to nothing in their soak', () => {
  /** The canary soaks; its nodes go, all that there are or all that it selects. */
  async function scaled(hasNoMachines: boolean): Promise<FleetSite> {
    const site = await openSite(many(6));
    await site.release('agent:2', QUICK);
    await site.until('it soaks', () => site.record?.gate.kind === 'soaking');
    const [canary] = holding(site, 'agent:2');
    assert.ok(canary);
    canary.nodes = 0;
    canary.hasNoMachines = hasNoMachines;
    await turns(site, 30);
    canary.nodes = canary.traits.nodes;
    canary.hasNoMachines = false;
    return site;
  }

  it('hold the stage that rests on them, until there are nodes again', async () => {
    const site = await scaled(true);
    assert.equal(site.record?.gate.kind, 'no-evidence');
    await site.until('it is out', () => isDone(site, 'agent:2'), 200);
    assertKept(site);
  });

  it('fail where there are nodes, and it runs on none of them any more', async () => {
    const site = await scaled(false);
    assert.match(site.record?.breach?.message ?? '', /NoNodes/);
  });
});

describe('stepFleets: clusters that come late', () => {
  /** Until the last stage is open, which clusters take long for. */
  async function inTheMiddle(site: FleetSite, spec = QUICK): Promise<void> {
    await site.release('agent:2', spec);
    await site.until('the second stage is open', () => site.record?.stage === 1);
  }

  /** No image ran there that was not proven by then, at any turn until the rollout is out. */
  async function untilOut(site: FleetSite, late: ModelCluster): Promise<void> {
    await site.until('it is out', () => {
      const isProven = site.record?.good[0]?.generation === site.record?.release.generation;
      assert.ok(isProven || late.image !== 'agent:2', 'ahead of its proof');
      return isDone(site, 'agent:2');
    });
    await site.until('it has it as well', () => late.image === 'agent:2', 60);
    assertKept(site);
  }

  it('gives one that returns in the middle what is proven, and the release once that is', async () => {
    const site = await openSite(many(12));
    const late = site.clusters.at(-1);
    assert.ok(late);
    late.isOffline = true;
    await turns(site, 20);
    await inTheMiddle(site);
    late.isOffline = false;
    await untilOut(site, late);
  });

  it('gives one that is registered in the middle what is proven, and the release once that is', async () => {
    const placed = { ...QUICK, placement: { clusterSelector: { matchLabels: { in: 'yes' } } } };
    const traits = many(12).map((one, index) => ({
      ...one,
      labels: index === 11 ? {} : { in: 'yes' },
    }));
    const site = await openSite(traits, placed);
    const late = site.clusters.at(-1);
    assert.ok(late);
    assert.equal(late.image, undefined);
    await site.release('agent:2', placed);
    await site.until('the last stage is open', () => site.record?.stage === 1);
    await site.register(late, { labels: { in: 'yes' } });
    await untilOut(site, late);
  });

  it('gives one of a stage that passed, rebuilt in the middle, what is proven at first', async () => {
    const site = await openSite(many(12));
    await inTheMiddle(site);
    const { record } = site;
    assert.ok(record?.stages[0]);
    const [canary] = await site.rollouts.readMembers(record, record.stages[0].members, 0);
    const late = holding(site, 'agent:2').find(({ id }) => id === canary);
    assert.ok(late, 'the canary');
    late.rebuild(site.nowMs);
    await site.register(late);
    await untilOut(site, late);
  });

  it('gives one of the open stage, rebuilt in the middle, the release as the others of it', async () => {
    const site = await openSite(many(12), quickly({ maxConcurrency: 1 }));
    await inTheMiddle(site, quickly({ maxConcurrency: 1 }));
    await site.until('the last stage is open', () => site.record?.stage === 2);
    await turns(site, 3);
    const late = holding(site, 'agent:2').find(({ isThrough }) => !isThrough);
    assert.ok(late, 'the one that rolls');
    late.rebuild(site.nowMs);
    await site.register(late);
    await site.until('it is out', () => isDone(site, 'agent:2'));
    assert.equal(late.image, 'agent:2');
    assertKept(site);
  });
});

describe('stepFleets: an override that labels bring to many clusters at once', () => {
  const image = 'agent:9';
  const container = { name: 'agent', image };
  const strategicMerge = { spec: { template: { spec: { containers: [container] } } } };
  const overrides = [
    { name: 'nine', clusterSelector: { matchLabels: { nine: 'yes' } }, strategicMerge },
  ];
  const spec = { ...quickly({ drift: 'heal', maxConcurrency: 2, maxFailures: 0 }), overrides };

  /** Everywhere at once; then some hours pass. */
  async function relabelled(site: FleetSite): Promise<number> {
    for (const one of site.clusters) await site.register(one, { labels: { nine: 'yes' } });
    let most = 0;
    for (let turn = 0; turn < 12 * 60; turn += 1) {
      await site.turn();
      const rolling = site.clusters.filter((one) => one.image === image && !one.isThrough);
      most = Math.max(most, rolling.length);
    }
    return most;
  }

  it('is healed as many at a time as the last stage allows', async () => {
    const site = await openSite(many(12), spec);
    assert.equal(await relabelled(site), 2);
    assert.equal(holding(site, image).length, 12);
  });

  it('is healed no further once one of them fails of it', async () => {
    const site = await openSite(many(12), spec);
    for (const one of site.clusters) {
      one.harmOf = (ran) => (ran === image ? 'start-failure' : undefined);
    }
    await relabelled(site);
    assert.ok(holding(site, image).length <= 2, `${String(holding(site, image).length)} of 12`);
  });

  it('goes through the ring as many at a time as well', async () => {
    const site = await openReturning(spec);
    await site.until('all have what is proven', () => holding(site, 'agent:2').length === 12, 400);
    await turns(site, 30);
    assert.equal(await relabelled(site), 2);
    assert.equal(holding(site, image).length, 12);
  });
});

describe('stepFleets: clusters that do not do as they are told', () => {
  it('answers somebody who takes a template back twice, and names him at the third turn', async () => {
    const site = await openSite([traitsOf('a'), traitsOf('b')]);
    for (const one of site.clusters) {
      one.rival = { image: 'agent:1', delayMs: 20_000, turnsLeft: 1000 };
    }
    await site.release('agent:2', QUICK);
    await site.until('it is halted', () => isHalted(site, 'agent:2'), 60);
    assert.match(
      site.record?.breach?.message ?? '',
      /Reverted: another client set .* back 3 times/,
    );
    const sends = [...site.audit.sends.values()];
    await turns(site, 120);
    assert.deepEqual([...site.audit.sends.values()], sends, 'it went on against him');
    assert.ok(Math.max(...sends) <= 4);
  });

  it('goes on where he stops after two turns', async () => {
    const site = await openSite([traitsOf('a'), traitsOf('b')]);
    for (const one of site.clusters) {
      one.rival = { image: 'agent:1', delayMs: 20_000, turnsLeft: 2 };
    }
    await site.release('agent:2', QUICK);
    await site.until('it is out', () => isDone(site, 'agent:2'), 200);
  });

  it('halts at a conflict and at a refusal, in the first cluster, and sends neither again', async () => {
    for (const fate of ['conflict', 'refused'] as const) {
      const site = await openSite(many(10));
      site.faults = { ...KIND_SITE, fateOf: () => fate };
      await site.release('agent:2', QUICK);
      await site.until('it is halted', () => isHalted(site, 'agent:2'), 30);
      await turns(site, 120);
      const sends = [...site.audit.sends].filter(([key]) => key.endsWith('agent:2'));
      assert.deepEqual(
        sends.map(([, count]) => count),
        [1],
        fate,
      );
    }
  });

  it('tries an API server that does not answer ever more seldom, and fails it after hours', async () => {
    const site = await openSite(many(4));
    site.faults = { ...KIND_SITE, fateOf: () => 'lost' };
    await site.release('agent:2', QUICK);
    const since = site.nowMs;
    await site.until('it is halted', () => isHalted(site, 'agent:2'), 600);
    const hours = (site.nowMs - since) / HOUR_MS;
    assert.ok(hours > 2 && hours < 5, `${String(hours)} hours`);
    assert.match(site.record?.breach?.message ?? '', /Unreachable/);
    assert.ok(Math.max(...site.audit.sends.values()) <= 24);
  });

  it('sends a copilot cluster nothing that its built-in controller would roll by itself', async () => {
    const site = await openSite([traitsOf('a'), traitsOf('b')]);
    const rolling = {
      ...QUICK,
      overrides: [
        {
          name: 'rolling',
          strategicMerge: { spec: { updateStrategy: { type: 'RollingUpdate' } } },
        },
      ],
      strategy: { stages: [{ name: 'copilots', clusterNames: ['a'] }], soak: '5m' },
    };
    assert.equal(await site.release('agent:2', rolling), 'changed');
    // Applied for takeover: it would have been refused in copilot.
    const [first] = site.clusters;
    assert.ok(first);
    await site.register(first, { mode: 'copilot' });
    assert.equal(await site.release('agent:3', rolling), 'refused');
    await site.until('it is halted', () => isHalted(site, 'agent:2'), 30);
    assert.equal(holding(site, 'agent:2').length, 0);
    assert.match(site.record?.breach?.message ?? '', /PolicyNotFollowed/);
  });

  it('costs nothing but the look at what is due once it is done', async () => {
    const site = await openSite(many(40));
    await turns(site, 5);
    const { calls, writes } = site;
    await turns(site, 60);
    assert.equal(site.writes, writes);
    assert.ok(site.calls - calls <= 120, String(site.calls - calls));
  });
});
