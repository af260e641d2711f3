// A step of a fleet: who gives to a cluster that was out of reach meanwhile, its stage or the ring; never both.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetSite } from '../../../../support/fleet-simulation/fleet-site.ts';
import type { ModelCluster } from '../../../../support/fleet-simulation/model-cluster.ts';
import {
  QUICK,
  holding,
  isDone,
  many,
  openReturning,
  openSite,
  quickly,
  turns,
} from '../../../../support/fleet-simulation/small-site.ts';

/** Longer than a cluster may be silent. */
const SILENT_TURNS = 30;

function sendsTo({ audit }: FleetSite, { id }: ModelCluster, image: string): number {
  return audit.sends.get(`${id} ${image}`) ?? 0;
}

describe('stepFleets: clusters that were out of reach, and belong to a stage', () => {
  it('have one owner once a way back is taken back: their stage, not the ring as well', async () => {
    const site = await openSite(many(6));
    await site.release('agent:2', QUICK);
    await site.until('the second stage rolls', () => holding(site, 'agent:2').length === 2);
    await turns(site, 1);
    const late = holding(site, 'agent:2').find(({ isThrough }) => !isThrough);
    assert.ok(late, 'the one that rolls');
    late.isOffline = true;
    await turns(site, SILENT_TURNS);
    await site.order('undo');
    await site.until('all within reach are back', () => site.record?.gate.kind === 'returned');
    late.isOffline = false;
    await site.until('it is back as well', () => late.image === 'agent:1' && late.isThrough);
    await turns(site, 2);
    const before = sendsTo(site, late, 'agent:1');
    assert.equal(await site.order('resume'), 'written');
    await site.until('it is out', () => isDone(site, 'agent:2'), 120);
    await turns(site, SILENT_TURNS);
    assert.equal(late.image, 'agent:2');
    assert.equal(sendsTo(site, late, 'agent:1'), before, 'nobody took it back once more');
    assert.deepEqual(site.audit.broken, []);
  });

  it('go on with the next stage where some of their nodes have it, and are given nothing by the ring', async () => {
    const stages = [{ name: 'canary', clusters: 2, nodes: 1 }];
    const spec = quickly({ stages, maxConcurrency: 1 });
    const site = await openSite(many(6), spec);
    await site.release('agent:2', spec);
    await site.until('both have begun', () => holding(site, 'agent:2').length === 2);
    await turns(site, 1);
    const late = holding(site, 'agent:2').find(({ isThrough }) => !isThrough);
    assert.ok(late, 'the one that rolls');
    late.isOffline = true;
    await site.until('the next stage is open', () => site.record?.stage === 1);
    const before = sendsTo(site, late, 'agent:1');
    late.isOffline = false;
    await site.until('it is out', () => isDone(site, 'agent:2'));
    assert.equal(late.image, 'agent:2');
    assert.ok(late.isThrough);
    assert.equal(sendsTo(site, late, 'agent:1'), before, 'the ring gave it what is proven');
    assert.deepEqual(site.audit.broken, []);
  });
});

describe('stepFleets: a cluster that is given some nodes first, and the others with the next stage', () => {
  const spec = quickly({ stages: [{ name: 'canary', clusters: 1, nodes: 1 }] });

  it('goes back once, and is counted once', async () => {
    const site = await openSite(many(4), spec);
    await site.release('agent:2', spec);
    await site.until('the first one rolls', () => holding(site, 'agent:2').length === 1);
    const [first] = holding(site, 'agent:2');
    assert.ok(first);
    const before = sendsTo(site, first, 'agent:1');
    await site.order('undo');
    await turns(site, 1);
    const { returning, rolling, waiting } = site.record?.counts ?? {};
    assert.deepEqual({ returning, rolling, waiting }, { returning: 1, rolling: 0, waiting: 0 });
    await site.until('it is back', () => site.record?.gate.kind === 'returned');
    assert.equal(sendsTo(site, first, 'agent:1'), before + 1);
    assert.deepEqual(site.audit.broken, []);
  });

  it('rolls from the step on that gives it the release', async () => {
    const site = await openSite(many(4), spec);
    await site.release('agent:2', spec);
    await site.until('it has it', () => holding(site, 'agent:2').length === 1);
    const { rolling, waiting } = site.record?.counts ?? {};
    assert.deepEqual({ rolling, waiting }, { rolling: 1, waiting: 0 });
  });
});

describe('stepFleets: many clusters that come back at once', () => {
  it('are given what is proven, as many at a time as the last stage allows', async () => {
    const site = await openReturning(quickly({ maxConcurrency: 2 }));
    let most = 0;
    await site.until(
      'all have it',
      () => {
        most = Math.max(most, holding(site, 'agent:2').filter((one) => !one.isThrough).length);
        return holding(site, 'agent:2').length === 12;
      },
      400,
    );
    assert.equal(most, 2);
    assert.deepEqual(site.audit.broken, []);
  });
});
