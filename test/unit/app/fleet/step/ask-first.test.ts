// The first clusters of a stage are asked by a dry run, and a refusal holds the stage before any of them is given anything.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetSite } from '../../../../support/fleet-simulation/fleet-site.ts';
import {
  QUICK,
  holding,
  isDone,
  many,
  openSite,
  quickly,
  turns,
} from '../../../../support/fleet-simulation/small-site.ts';

const FORBIDDEN = 'daemonsets.apps "agent" is forbidden: User "fleet" cannot patch resource';
const MINUTE_MS = 60_000;

/** The canary has the release, and somebody took a right away in all others. */
async function withoutRights(spec = QUICK): Promise<FleetSite> {
  const site = await openSite(many(12), spec);
  await site.release('agent:2', spec);
  await site.until('the canary has it', () => holding(site, 'agent:2').length === 1);
  for (const one of site.clusters) if (one.image !== 'agent:2') one.refusal = FORBIDDEN;
  return site;
}

function assertUnharmed({ record, audit }: FleetSite): void {
  assert.equal(record?.breach, undefined);
  assert.deepEqual(record?.refused, []);
  assert.equal(record?.counts.failed, 0);
  assert.deepEqual(audit.broken, []);
}

describe('stepFleets: clusters that would refuse a release', () => {
  it('hold their stage before any of it is given anything, and it goes on by itself once they take it', async () => {
    for (const onHalt of ['halt', 'rollback']) {
      const site = await withoutRights(quickly({ onHalt, progressDeadline: '10m' }));
      await site.until('it is held', () => site.record?.gate.kind === 'refused', 60);
      await turns(site, 300);
      const gate = site.record?.gate;
      assert.ok(gate?.kind === 'refused');
      assert.equal(gate.message, FORBIDDEN);
      assert.ok(site.clusters.some(({ id }) => id === gate.cluster));
      assert.equal(holding(site, 'agent:2').length, 1);
      assert.equal(site.metrics.sum('FleetDecisions', 'held'), 1);
      assertUnharmed(site);
      for (const one of site.clusters) one.refusal = undefined;
      await site.until('it is out', () => isDone(site, 'agent:2'), 60);
      assertUnharmed(site);
    }
  });

  it('are asked again after a minute at first, and then every ten', async () => {
    const site = await withoutRights();
    await site.until('it is held', () => site.record?.gate.kind === 'refused', 60);
    const from = site.nowMs;
    await turns(site, 120);
    const times = site.asked.map(({ atMs }) => atMs).filter((atMs) => atMs > from);
    const rounds = [...new Set(times)].sort((left, right) => left - right);
    assert.equal((rounds[0] ?? 0) - from, MINUTE_MS);
    assert.ok(rounds.length >= 10 && rounds.length <= 16, String(rounds.length));
    const pauses = rounds.slice(1).map((atMs, index) => atMs - (rounds[index] ?? 0));
    assert.equal(Math.max(...pauses), 10 * MINUTE_MS);
  });

  it('let the stage go on without them where they are frozen', async () => {
    const wide = quickly({ maxConcurrency: '100%' });
    const site = await openSite(many(12), wide);
    await site.release('agent:2', wide);
    await site.until('the canary has it', () => holding(site, 'agent:2').length === 1);
    const others = site.clusters.filter(({ image }) => image !== 'agent:2');
    for (const one of others.slice(1)) one.refusal = FORBIDDEN;
    await site.until('it is held', () => site.record?.gate.kind === 'refused', 60);
    for (const one of others.slice(1)) await site.register(one, { isFrozen: true });
    await site.until('it is out', () => isDone(site, 'agent:2'), 120);
    assert.equal(holding(site, 'agent:2').length, 2);
    assertUnharmed(site);
  });

  it('hold nothing where the stage forgives as many of those that are asked', async () => {
    const spec = quickly({ stages: [{ name: 'canary', clusters: 1 }], maxFailures: 1 });
    const site = await openSite(many(12), spec);
    await site.release('agent:2', spec);
    await site.until('the canary has it', () => holding(site, 'agent:2').length === 1);
    const [refusing] = site.clusters.filter(({ image }) => image !== 'agent:2');
    assert.ok(refusing);
    refusing.refusal = FORBIDDEN;
    await site.until('it is out', () => isDone(site, 'agent:2'), 120);
    assert.equal(holding(site, 'agent:2').length, 11);
    assert.equal(site.record?.breach, undefined);
  });
});

describe('stepFleets: the dry run before a stage', () => {
  it('asks the first batch of each stage once, and each of it before it is given anything', async () => {
    const wide = quickly({ maxConcurrency: '100%' });
    const site = await openSite(many(40), wide);
    site.asked.length = 0;
    await site.release('agent:2', wide);
    await site.until('it is out', () => isDone(site, 'agent:2'), 120);
    const ids = site.asked.map(({ id }) => id);
    assert.equal(ids.length, 1 + 2 + 10);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual([...new Set(site.audit.sends.values())], [1]);
  });

  it('holds nothing where a cluster does not answer it', async () => {
    const site = await openSite(many(3));
    await site.release('agent:2', QUICK);
    await site.until('it soaks', () => site.record?.gate.kind === 'soaking');
    for (const one of site.clusters) one.isSilenced = one.image !== 'agent:2';
    await site.until('the next one is open', () => site.record?.stage === 1);
    await turns(site, 2);
    assert.notEqual(site.record?.gate.kind, 'refused');
    for (const one of site.clusters) one.isSilenced = false;
    await site.until('it is out', () => isDone(site, 'agent:2'), 120);
    assertUnharmed(site);
  });

  it('is not sent to a cluster that was frozen since the step saw it', async () => {
    const site = await openSite(many(6));
    site.asked.length = 0;
    await site.release('agent:2', QUICK);
    site.registry.hooks = {
      after: async ({ operation, target }) => {
        const cluster = site.clusters.find(({ id }) => id === target);
        if (operation !== 'readCluster' || site.record?.stage !== 0) return;
        if (site.image !== 'agent:2' || cluster === undefined) return;
        site.registry.hooks = {};
        await site.register(cluster, { isFrozen: true });
      },
    };
    await site.until('one is frozen', () => site.clusters.some(({ isFrozen }) => isFrozen));
    await turns(site, 3);
    assert.deepEqual(site.asked, []);
  });
});
