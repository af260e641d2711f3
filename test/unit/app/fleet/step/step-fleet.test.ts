// A FleetDaemonSet that is gone: what is recorded of it goes with its mirror, and holds up nobody who has its name now.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QUICK, isDone, many, openSite } from '../../../../support/fleet-simulation/small-site.ts';
import type { FleetSite } from '../../../../support/fleet-simulation/fleet-site.ts';

const KEY = { namespace: 'monitoring', name: 'agent' };

/** Deletes it, as `rollcall fleet delete` does. */
async function forget(site: FleetSite): Promise<void> {
  const stored = await site.fleets.readFleet(KEY);
  assert.ok(stored !== undefined);
  assert.equal(await site.fleets.removeFleet(stored.head), 'written');
}

describe('stepFleet: one that is gone', () => {
  it('leaves nothing once its mirror is removed, and has it removed until then', async () => {
    const site = await openSite(many(2));
    await forget(site);
    site.isMirrorStuck = true;
    for (let turn = 0; turn < 3; turn += 1) await site.turn();
    assert.ok((await site.rollouts.readRecord(KEY)) !== undefined);
    site.isMirrorStuck = false;
    await site.turn();
    assert.equal(await site.rollouts.readRecord(KEY), undefined);
  });

  it('holds up none that has its name now, whatever becomes of its mirror', async () => {
    const site = await openSite(many(2));
    const former = site.record?.uid;
    await forget(site);
    site.isMirrorStuck = true;
    await site.release('agent:2', QUICK);
    await site.until('the new one is out', () => isDone(site, 'agent:2'), 60);
    assert.notEqual((await site.rollouts.readRecord(KEY))?.uid, former);
  });
});
