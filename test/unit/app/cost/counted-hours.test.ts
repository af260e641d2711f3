/**
 * What functions count for `rollcall cost`, by the code that is deployed over tables that bill as DynamoDB does: counts are what
 * was sent, their price is what was billed, and nothing is written for them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCounts } from '../../../../src/app/cost/read-counts.ts';
import { clusterMonth } from '../../../../src/core/cost/month.ts';
import { totalOf } from '../../../../src/core/cost/prices.ts';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import { dollarsOf } from '../../../performance/support/cost-model.ts';
import { setImageOf } from '../../../support/model/model-look.ts';
import { usedBetween, withoutResync } from '../../../support/model/model-use.ts';
import { ModelWorld, type ModelCluster } from '../../../support/model/model-world.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

interface Seen {
  readonly messages: number;
  readonly sliceUnits: number;
  readonly looks: number;
  readonly acts: number;
  readonly dollars: number;
}

describe('what functions count', () => {
  let world: ModelWorld;
  let cluster: ModelCluster;

  async function begin(nodes: number): Promise<void> {
    // In a fleet no environment is without work for long.
    world = new ModelWorld({ idleEnvironmentMs: Infinity });
    const daemonSet = { spec: { updateStrategy: { type: 'RollingUpdate' } } };
    cluster = await world.add({ name: 'a', nodes, daemonSets: 4, daemonSet });
    await world.clock.advance(30 * MINUTE_MS);
  }

  async function look(): Promise<Seen> {
    const { view } = world.stores();
    const nowMs = world.clock.nowMs();
    const counts = await readCounts(clusterUid('uid-of-a'), { view, nowMs });
    const { messages, runs, daemonSets } = counts;
    assert.ok(messages !== undefined);
    assert.equal(daemonSets, 4);
    const sum = (of: 'looks' | 'acts'): number =>
      runs.reduce((total, each) => total + each.counts[of], 0);
    // As if each had taken a month: the dollars of the counts themselves.
    const month = { hours: 730 };
    const { dollars } = clusterMonth({
      messages: { ...messages, ...month },
      runs: runs.map((each) => ({ ...each, ...month })),
      daemonSets,
    });
    const { idle: _schedule, ...counted } = dollars;
    const total = Object.values(counted).reduce((all, part) => all + part, 0);
    return { ...messages.counts, looks: sum('looks'), acts: sum('acts'), dollars: total };
  }

  async function during(work: () => Promise<void>) {
    const before = { seen: await look(), use: world.use, messages: world.messages };
    await work();
    const after = await look();
    const use = usedBetween(before.use, world.use);
    const counted = Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, value - before.seen[name as keyof Seen]]),
    ) as unknown as Seen; // the same names
    return { use, counted, sent: world.messages - before.messages };
  }

  function billed(use: ReturnType<typeof usedBetween>): number {
    return totalOf(dollarsOf(withoutResync(use), world.memoryOf.bind(world)));
  }

  it('is each message of an hour of changes, each run that wrote, and within a quarter of its price', async () => {
    await begin(10);
    const { counted, sent, use } = await during(async () => {
      setImageOf(cluster.site, 'agent-2', 'agent-2:2');
      await world.clock.advance(20 * MINUTE_MS);
      const [pod] = cluster.site.api.list('pods');
      assert.ok(pod !== undefined);
      cluster.site.controllers.deletePod(pod);
      await world.clock.advance(40 * MINUTE_MS);
    });
    assert.equal(counted.messages, sent);
    assert.ok(counted.acts >= 11, 'ten pods of a rollout, and one that was deleted');
    const slices = use.ingest.writeUnits - sent;
    assert.ok(
      Math.abs(counted.sliceUnits - slices) <= 0.1 * slices,
      `${counted.sliceUnits} ${slices}`,
    );
    const share = counted.dollars / billed(use);
    assert.ok(share > 0.75 && share < 1.25, String(share));
  });

  it('makes nobody write while nothing happens: a META for each message, a state for each run', async () => {
    await begin(3);
    const { counted, sent, use } = await during(() => world.clock.advance(7 * HOUR_MS));
    assert.equal(counted.messages, sent);
    assert.deepEqual([counted.sliceUnits, counted.acts], [0, 0]);
    assert.equal(use.ingest.writeUnits, sent);
    assert.equal(use.reconcile.writeUnits, counted.looks);
    const share = counted.dollars / billed(use);
    assert.ok(share > 0.75 && share < 1.25, String(share));
  });
});
