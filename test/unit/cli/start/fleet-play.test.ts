/** The play of a fleet from its start to its end, over stores in memory: what it applies and when, and how it ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { createFleetReader } from '../../../../src/adapters/policy/fleet/fleet-reader.ts';
import type { FleetPlan } from '../../../../src/cli/start/fleet-plan.ts';
import { readFleetDocuments, playedRelease } from '../../../../src/cli/start/fleet-plan.ts';
import { FleetPlay } from '../../../../src/cli/start/fleet-play.ts';
import type { FleetGate } from '../../../../src/core/fleet/rollout/fleet-record.ts';
import { packageFile } from '../../../../src/engine/package-files.ts';
import { fleetRecordOf } from '../../../support/fleet-records.ts';
import { MemoryFleetRolloutStore } from '../../../support/memory-fleet-rollout-store.ts';
import { MemoryFleetStore } from '../../../support/memory-fleet-store.ts';
import { MemoryRegistryStore } from '../../../support/memory-registry-store.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';

const KEY = { namespace: 'node-agents', name: 'fleet-agent' };

interface Stage {
  readonly play: FleetPlay;
  readonly said: readonly string[];
  readonly clock: VirtualClock;
  readonly counts: { turns: number; replaced: number };
  /** What the function has recorded by now. */
  readonly record: (gate: FleetGate, stage?: number) => Promise<void>;
  /** Generation that was applied last. */
  readonly applied: () => Promise<number | undefined>;
}

async function start(plan: FleetPlan): Promise<Stage> {
  const reader = createFleetReader();
  const clock = new VirtualClock();
  const fleets = new MemoryFleetStore();
  const rollouts = new MemoryFleetRolloutStore();
  const release = playedRelease(plan.inject);
  const file = packageFile('examples/fleet/fleet-agent.yaml');
  const documents = await readFleetDocuments(file, release, { onHalt: plan.onHalt, reader });
  const said: string[] = [];
  const counts = { turns: 0, replaced: 0 };
  const applied = async (): Promise<number | undefined> =>
    (await fleets.readFleet(KEY))?.head.generation;
  const play = new FleetPlay({
    plan,
    documents,
    compareMs: release.compareMs,
    engine: {
      fleets,
      rollouts,
      registry: new MemoryRegistryStore(),
      view: new MemoryViewStore(),
    },
    turn: () => {
      counts.turns += 1;
      return Promise.resolve();
    },
    replacePod: () => {
      counts.replaced += 1;
      return Promise.resolve();
    },
    reader,
    clock,
    random: seededRandom(1),
    say: (text) => {
      said.push(text);
    },
  });
  return {
    play,
    said,
    clock,
    counts,
    applied,
    record: async (gate, stage = 0) => {
      const { generation = 0, uid = '' } = (await fleets.readFleet(KEY))?.head ?? {};
      const before = await rollouts.readRecord(KEY);
      const { release: made, ...rest } = fleetRecordOf({ ...KEY, gate, stage, stages: [] });
      const version = before?.version ?? 0;
      await rollouts.writeRecord({ ...rest, uid, version, release: { ...made, generation } });
    },
  };
}

/** As far as the release of the stages. */
async function toStages({ play, record }: Stage): Promise<void> {
  await play.advance({ clusters: [], isSettled: false });
  await play.advance({ clusters: [], isSettled: true });
  await record({ kind: 'done' });
  await play.advance({ clusters: [], isSettled: false });
}

describe('the play of a fleet', () => {
  it('applies nothing before the clusters settled, nor the release of the stages before the other is proven', async () => {
    const stage = await start({ onHalt: 'halt' });
    assert.equal(
      await stage.play.advance({ clusters: [], isSettled: false }),
      'the clusters to settle',
    );
    assert.equal(await stage.applied(), undefined);
    assert.equal(stage.counts.turns, 0);
    await stage.play.advance({ clusters: [], isSettled: true });
    assert.equal(await stage.applied(), 1);
    await stage.record({ kind: 'updating' });
    await stage.play.advance({ clusters: [], isSettled: true });
    assert.equal(await stage.applied(), 1);
    assert.equal(stage.counts.turns, 1);
    await stage.record({ kind: 'done' });
    await stage.play.advance({ clusters: [], isSettled: true });
    assert.equal(await stage.applied(), 2);
  });

  it('ends once a good release went through, and tells so', async () => {
    const stage = await start({ onHalt: 'halt' });
    await toStages(stage);
    assert.notEqual(
      await stage.play.advance({ clusters: [], isSettled: true }),
      undefined,
      'that record is of before',
    );
    await stage.record({ kind: 'done' }, 3);
    assert.equal(await stage.play.advance({ clusters: [], isSettled: true }), undefined);
    assert.equal(await stage.play.advance({ clusters: [], isSettled: true }), undefined);
    const { generation, ending, isAsPlanned } = stage.play.report();
    assert.deepEqual(
      { generation, ending, isAsPlanned },
      {
        generation: 2,
        ending: 'completed',
        isAsPlanned: true,
      },
    );
  });

  it('tells that a bad release went through, which is what should not be', async () => {
    const stage = await start({ onHalt: 'halt', inject: 'crash-loop' });
    await toStages(stage);
    await stage.record({ kind: 'done' }, 3);
    assert.equal(await stage.play.advance({ clusters: [], isSettled: true }), undefined);
    assert.equal(stage.play.report().isAsPlanned, false);
    assert.match(stage.said.at(-1) ?? '', /not what was to be shown/);
  });

  it('ends where what should have been proven was not', async () => {
    const stage = await start({ onHalt: 'halt', inject: 'crash-loop' });
    await stage.play.advance({ clusters: [], isSettled: true });
    await stage.record({ kind: 'breach' });
    assert.equal(await stage.play.advance({ clusters: [], isSettled: true }), undefined);
    assert.equal(stage.play.report().isAsPlanned, false);
    assert.equal(await stage.applied(), 1);
  });

  it('has traffic before and during a release that only traffic shows, and for no other', async () => {
    const stage = await start({ onHalt: 'halt', inject: 'slow-api' });
    await toStages(stage);
    assert.equal(await stage.applied(), 1, 'nothing to compare with yet');
    for (let second = 0; second < 110; second += 1) {
      await stage.clock.advance(1000);
      await stage.play.advance({ clusters: [], isSettled: true });
    }
    assert.equal(await stage.applied(), 2);
    assert.ok(stage.counts.replaced >= 13, String(stage.counts.replaced));
    const other = await start({ onHalt: 'halt', inject: 'kernel' });
    await toStages(other);
    await other.play.advance({ clusters: [], isSettled: true });
    assert.equal(other.counts.replaced, 0);
  });
});
