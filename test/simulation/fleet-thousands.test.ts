// A stage of more clusters than one turn can look at: seen part by part, and neither a halt, an order nor the end waits for ever.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KIND_SITE, type FleetSite } from '../support/fleet-simulation/fleet-site.ts';
import {
  holding,
  isDone,
  isHalted,
  many,
  openSite,
} from '../support/fleet-simulation/small-site.ts';

const CLUSTERS = 600;
/** A whole look takes three turns and more. */
const LOOK_MS = 200;
const SPEC = {
  placement: { all: true },
  strategy: {
    stages: [{ name: 'canary', clusters: 1 }],
    soak: '5m',
    maxConcurrency: '100%',
    maxFailures: 2,
  },
};

/** One that has agent:1 everywhere, and now as little time as that. */
async function slowSite(): Promise<FleetSite> {
  const site = await openSite(many(CLUSTERS), SPEC);
  site.costMsOf = (operation) => (operation === 'readDaemonSet' ? LOOK_MS : 0);
  return site;
}

function isSoaking({ record }: FleetSite): boolean {
  return record?.gate.kind === 'soaking';
}

describe('stepFleets: a stage of more clusters than a turn can look at', () => {
  it('rolls and ends, without an invocation that runs out of time', async () => {
    const site = await slowSite();
    await site.release('agent:2', SPEC);
    await site.until('it is out', () => isDone(site, 'agent:2'), 120);
    assert.equal(holding(site, 'agent:2').length, CLUSTERS);
    assert.equal(site.timeouts, 0);
    assert.deepEqual(site.audit.broken, []);
  });

  it('is held by clusters that turned bad after they were looked at', async () => {
    const site = await slowSite();
    await site.release('agent:2', SPEC);
    await site.until('all have it', () => holding(site, 'agent:2').length === CLUSTERS, 120);
    await site.until('it soaks', () => isSoaking(site), 120);
    for (const { rolling } of site.clusters.slice(0, 3)) if (rolling) rolling.breach = 'Restarts';
    await site.until('it is halted', () => isHalted(site, 'agent:2'), 30);
    assert.equal(site.timeouts, 0);
  });

  it('does not end by what was seen before it soaked', async () => {
    const site = await slowSite();
    const spec = { ...SPEC, strategy: { ...SPEC.strategy, soak: '1m', maxFailures: 0 } };
    await site.release('agent:2', spec);
    await site.until(
      'the last stage soaks',
      () => isSoaking(site) && site.record?.stage === 1,
      120,
    );
    for (const { rolling } of site.clusters.slice(-1)) if (rolling) rolling.breach = 'Restarts';
    await site.until('it is halted', () => isHalted(site, 'agent:2'), 30);
    assert.equal(site.timeouts, 0);
  });

  it('loses no place to processes that die, come twice, or deal out anew', async () => {
    const site = await slowSite();
    site.faults = { ...KIND_SITE, dies: 0.0005, twice: 0.3, never: 0.1 };
    await site.release('agent:2', SPEC);
    for (let minutes = 0; minutes < 200 && !isDone(site, 'agent:2'); minutes += 1) {
      const [cluster] = site.clusters.slice(minutes % CLUSTERS);
      if (minutes % 5 === 0 && cluster)
        await site.register(cluster, { labels: { at: String(minutes) } });
      await site.turn();
    }
    assert.ok(isDone(site, 'agent:2'), JSON.stringify(site.record?.counts));
    assert.deepEqual(site.audit.broken, []);
  });

  it('goes back at once when somebody orders it, in the middle of a look', async () => {
    const site = await slowSite();
    await site.release('agent:2', SPEC);
    await site.until('half have it', () => holding(site, 'agent:2').length > CLUSTERS / 2, 120);
    await site.order('undo');
    await site.turn();
    const left = holding(site, 'agent:2').length;
    assert.ok(left < CLUSTERS / 2, `${String(left)} still have it`);
    await site.until('all are back', () => site.record?.gate.kind === 'returned', 60);
    assert.equal(holding(site, 'agent:1').length, CLUSTERS);
    assert.equal(site.timeouts, 0);
  });
});
