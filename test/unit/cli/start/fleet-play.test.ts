/** The play of a fleet over stores in memory: its documents, what it applies and when, how it ends, and which nodes it touched. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { createFleetReader } from '../../../../src/adapters/policy/fleet/fleet-reader.ts';
import {
  readFleetDocuments,
  playedRelease,
  endingOf,
  isAsPlanned,
  FLEET_FAILURES,
  PROVEN_IMAGE,
  type FleetPlan,
  type FleetDocuments,
} from '../../../../src/cli/start/fleet-plan.ts';
import { FleetPlay, TouchedNodes, Paced } from '../../../../src/cli/start/fleet-play.ts';
import type { FleetGate } from '../../../../src/core/fleet/rollout/fleet-record.ts';
import { packageFile } from '../../../../src/engine/package-files.ts';
import { fleetRecordOf } from '../../../support/fleet-records.ts';
import { MemoryFleetRolloutStore } from '../../../support/memory-fleet-rollout-store.ts';
import { RegistryInProcess } from '../../../support/registry-in-process.ts';
import { MemoryRegistryStore } from '../../../support/memory-registry-store.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { imagesOf } from '../../../../src/core/fleet/plan-cluster.ts';
import type { FleetClusterLine } from '../../../../src/app/fleet/rollout/list-clusters.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import { cluster, daemonSet } from './fixtures.ts';

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

function documentsOf({ onHalt, inject }: FleetPlan): Promise<FleetDocuments> {
  const file = packageFile('examples/fleet/fleet-agent.yaml');
  return readFleetDocuments(file, playedRelease(inject), { onHalt, reader: createFleetReader() });
}

async function start(plan: FleetPlan): Promise<Stage> {
  const reader = createFleetReader();
  const clock = new VirtualClock();
  const { fleets } = new RegistryInProcess();
  const rollouts = new MemoryFleetRolloutStore();
  const documents = await documentsOf(plan);
  const said: string[] = [];
  const counts = { turns: 0, replaced: 0 };
  const applied = async (): Promise<number | undefined> =>
    (await fleets.readFleet(KEY))?.head.generation;
  const play = new FleetPlay({
    plan,
    documents,
    compareMs: playedRelease(plan.inject).compareMs,
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

const HALT = { onHalt: 'halt' } as const;
const ROLLBACK = { onHalt: 'rollback' } as const;

function ended(gate: FleetGate, plan: { readonly onHalt: 'halt' | 'rollback' }): unknown {
  const record = fleetRecordOf({ gate });
  return endingOf(record, record.release.generation, plan);
}

describe('the rollout of a fleet', () => {
  it('ended once it is done, halted, or back', () => {
    assert.equal(ended({ kind: 'done' }, HALT), 'completed');
    assert.equal(ended({ kind: 'breach' }, HALT), 'halted');
    assert.equal(ended({ kind: 'returned' }, ROLLBACK), 'rolled-back');
    assert.equal(ended({ kind: 'updating' }, HALT), undefined);
    assert.equal(ended({ kind: 'returning' }, ROLLBACK), undefined);
  });

  it('is halted for good where there is no way back', () => {
    const record = fleetRecordOf({ gate: { kind: 'breach' } });
    const { generation } = record.release;
    assert.equal(endingOf(record, generation, ROLLBACK), undefined);
    assert.equal(endingOf({ ...record, good: [] }, generation, ROLLBACK), 'halted');
  });
});

describe('a play', () => {
  it('of a good release is to go through', () => {
    assert.equal(isAsPlanned('completed', { stage: 3 }, HALT), true);
    assert.equal(isAsPlanned('halted', { stage: 0 }, HALT), false);
  });

  it('of a bad one is to be halted in the first ring, and to go back if told to', () => {
    const bad = { ...HALT, inject: 'kernel' } as const;
    assert.equal(isAsPlanned('halted', { stage: 0 }, bad), true);
    assert.equal(isAsPlanned('halted', { stage: 1 }, bad), false, 'that was too late');
    assert.equal(isAsPlanned('completed', { stage: 3 }, bad), false);
    const back = { ...ROLLBACK, inject: 'kernel' } as const;
    assert.equal(isAsPlanned('halted', { stage: 0 }, back), false);
    assert.equal(isAsPlanned('rolled-back', { stage: 0 }, back), true);
  });
});

describe('the documents of a play', () => {
  it('prove one image everywhere at once, and roll the other out in a ring, three clusters, the rest', async () => {
    const { proven, played } = await documentsOf(ROLLBACK);
    const stagesOf = ({ fleet }: typeof proven): unknown =>
      fleet.strategy.stages.map(({ name }) => name);
    assert.deepEqual(stagesOf(proven), ['rest']);
    assert.deepEqual(stagesOf(played), ['canary', 'early', 'rest']);
    assert.deepEqual(played.fleet.strategy.stages[0].nodes, { kind: 'count', count: 3 });
    assert.deepEqual(played.fleet.strategy.stages[1]?.share, { kind: 'count', count: 3 });
    assert.deepEqual([...imagesOf(proven.fleet.manifest).values()], [PROVEN_IMAGE]);
    assert.notDeepEqual(imagesOf(played.fleet.manifest), imagesOf(proven.fleet.manifest));
    assert.equal(played.fleet.strategy.onHalt, 'rollback');
  });

  it('differ by failure in the image alone, and in how long the canary is watched', async () => {
    const images = new Set<string>();
    for (const failure of FLEET_FAILURES) {
      const { played } = await documentsOf({ ...ROLLBACK, inject: failure });
      for (const image of imagesOf(played.fleet.manifest).values()) images.add(image);
      const text = JSON.stringify(played.document);
      const soak = `soak: ${String(playedRelease(failure).canarySoakSeconds)}s`;
      assert.ok(text.includes(soak), `${failure}: ${soak}`);
    }
    assert.equal(images.size, FLEET_FAILURES.length);
  });
});

const AGENT = { namespace: 'monitoring', name: 'agent' };

function line(id: string, place: string, phase: FleetClusterLine['phase']): FleetClusterLine {
  return { cluster: clusterId(id), place, phase };
}

describe('nodes that a release touched', () => {
  it('are the most that was seen of the generation that the cluster was given, and none on its way back', () => {
    const touched = new TouchedNodes(AGENT);
    const look = (
      phase: FleetClusterLine['phase'],
      seen: {
        readonly generation: number;
        readonly observedGeneration: number;
        readonly upToDate: number;
      },
    ): void => {
      const shown = [
        { ...cluster({ daemonSets: [daemonSet({ ...AGENT, ...seen })] }), cluster: 'a' },
      ];
      touched.note(shown, [line('a', 'canary', phase)]);
    };
    look('waiting', { generation: 1, observedGeneration: 1, upToDate: 24 });
    assert.deepEqual(touched.counts(), {});
    look('rolling', { generation: 2, observedGeneration: 1, upToDate: 24 });
    assert.deepEqual(touched.counts(), { a: 0 }, 'that status is of before');
    look('rolling', { generation: 2, observedGeneration: 2, upToDate: 3 });
    look('failed', { generation: 2, observedGeneration: 2, upToDate: 2 });
    look('returning', { generation: 3, observedGeneration: 3, upToDate: 24 });
    assert.deepEqual(touched.counts(), { a: 3 });
  });
});

describe('work that is begun again and again', () => {
  it('is begun when it is due, and never beside itself', async () => {
    let begun = 0;
    let end = (): void => undefined;
    const paced = new Paced(1000, () => {
      begun += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    paced.run(0);
    paced.run(5000);
    assert.equal(begun, 1, 'the first is still under way');
    end();
    await paced.idle();
    paced.run(900);
    assert.equal(begun, 1, 'not due yet');
    paced.run(1000);
    assert.equal(begun, 2);
    end();
    await paced.idle();
  });

  it('tells what it failed with when it would be begun again', async () => {
    const paced = new Paced(1000, () => Promise.reject(new Error('it broke')));
    paced.run(0);
    await paced.idle();
    assert.throws(() => {
      paced.run(0);
    }, /it broke/);
  });
});
