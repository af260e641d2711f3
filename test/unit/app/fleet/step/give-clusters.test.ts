// What is given while registrations change: between two batches of one turn, and between a cluster's record and its request.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KIND_SITE, type FleetSite } from '../../../../support/fleet-simulation/fleet-site.ts';
import type { ModelCluster } from '../../../../support/fleet-simulation/model-cluster.ts';
import { BUSY_MS } from '../../../../support/fleet-simulation/model-ports.ts';
import {
  QUICK,
  holding,
  isDone,
  many,
  openSite,
  quickly,
  turns,
} from '../../../../support/fleet-simulation/small-site.ts';

const MOVED = 'https://203.0.113.2';
const WIDE = quickly({ maxConcurrency: '100%' });

/** Somebody who changes a registration, and what has the cluster given it after all. */
interface Change {
  readonly name: string;
  readonly make: (site: FleetSite, cluster: ModelCluster) => Promise<unknown>;
  /** Absent: it is given it without anything else. */
  readonly takeBack?: (site: FleetSite, cluster: ModelCluster) => Promise<unknown>;
}

const CHANGES: readonly Change[] = [
  {
    name: 'frozen',
    make: (site, cluster) => site.register(cluster, { isFrozen: true }),
    takeBack: (site, cluster) => site.register(cluster, { isFrozen: false }),
  },
  {
    name: 'set to observe',
    make: (site, cluster) => site.register(cluster, { mode: 'observe' }),
    takeBack: (site, cluster) => site.register(cluster, { mode: 'takeover' }),
  },
  { name: 'moved', make: (site, cluster) => site.register(cluster, { server: MOVED }) },
  {
    name: 'removed',
    make: async ({ registry }, { id }) => {
      const stored = await registry.readCluster(id);
      assert.equal(await registry.removeCluster(id, stored?.configVersion ?? 0), 'removed');
    },
    takeBack: (site, cluster) => site.register(cluster),
  },
];

/** Of clusters that were changed: none of them was sent it by what its registration said before. */
function assertUntouched(site: FleetSite, changed: readonly ModelCluster[], from: number): void {
  const ids = new Set<string>(changed.map(({ id }) => id));
  const reached = site.connections.slice(from).filter((one) => ids.has(one.split(' ')[0] ?? ''));
  assert.deepEqual(
    reached.filter((one) => !one.endsWith(MOVED)),
    [],
  );
}

async function assertNoneFailed(site: FleetSite): Promise<void> {
  const { record } = site;
  assert.ok(record);
  const ids = site.clusters.map(({ id }) => id);
  const records = await site.rollouts.readClusterRecords(record, ids);
  const failed = [...records.values()].filter(({ phase }) => phase === 'failed');
  assert.deepEqual(failed, []);
  assert.equal(record.breach, undefined);
}

it('giveClusters asks a busy API server again no sooner than it said (L5)', async () => {
  const site = await openSite(many(1));
  site.faults = { ...KIND_SITE, fateOf: () => 'busy' };
  await site.release('agent:2', QUICK);
  const sends = (): number => site.audit.sends.get('c000 agent:2') ?? 0;
  await site.until('it was asked', () => sends() === 1);
  await turns(site, BUSY_MS / site.turnMs - 1);
  assert.equal(sends(), 1);
  await site.until('it is asked again', () => sends() === 2, 2);
});

describe('giveClusters: a registration that changes in the middle of a turn (S17)', () => {
  for (const { name, make, takeBack } of CHANGES) {
    it(`gives nothing by the former one to clusters ${name} between two batches`, async () => {
      const site = await openSite(many(40), WIDE);
      await site.release('agent:2', WIDE);
      let changed: readonly ModelCluster[] = [];
      let from = 0;
      site.freezes.hooks = {
        before: async () => {
          // The first batch of the last stage is given, beyond those of the two before it.
          if (changed.length > 0 || holding(site, 'agent:2').length <= 3) return;
          changed = site.clusters.filter(({ image }) => image !== 'agent:2');
          for (const cluster of changed) await make(site, cluster);
          from = site.connections.length;
        },
      };
      await site.until('they are changed', () => changed.length > 0);
      assert.ok(changed.length > 10 && changed.length < 40);
      assertUntouched(site, changed, from);
      await turns(site, 20);
      assertUntouched(site, changed, from);
      await assertNoneFailed(site);
      for (const cluster of changed) await takeBack?.(site, cluster);
      await site.until('all have it', () => holding(site, 'agent:2').length === 40, 120);
      await site.until('it is out', () => isDone(site, 'agent:2'), 120);
      await assertNoneFailed(site);
      assert.deepEqual(site.audit.broken, []);
    });

    it(`gives nothing by the former one to a cluster ${name} after its record was written`, async () => {
      const site = await openSite(many(6));
      await site.release('agent:2', QUICK);
      const watched = site.rollouts.hooks;
      let changed: ModelCluster | undefined;
      let from = 0;
      site.rollouts.hooks = {
        after: async (call) => {
          const isOfCluster = call.operation === 'writeClusterRecord' && changed === undefined;
          if (isOfCluster && site.image === 'agent:2') {
            changed = site.clusters.find(({ id }) => call.target.endsWith(` ${id}`));
            assert.ok(changed);
            await make(site, changed);
            from = site.connections.length;
          }
          return watched.after?.(call);
        },
      };
      await site.until('it is changed', () => changed !== undefined);
      assert.ok(changed);
      await turns(site, 20);
      assertUntouched(site, [changed], from);
      await assertNoneFailed(site);
      await takeBack?.(site, changed);
      await site.until('all have it', () => holding(site, 'agent:2').length === 6, 120);
      await site.until('it is out', () => isDone(site, 'agent:2'), 120);
      await assertNoneFailed(site);
      assert.deepEqual(site.audit.broken, []);
    });
  }
});
