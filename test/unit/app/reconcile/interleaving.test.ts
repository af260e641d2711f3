/**
 * Two runs of one key, switched at every await of either (design 3, "Why two runs cannot hurt"; spec
 * faults 19, 20, 21): never two live pods of the DaemonSet on a node, and the same end state.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Turnstile, gate } from '../../../support/interleaving.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { createProcessCache } from '../../../../src/app/reconcile/process/process-cache.ts';

/** Brings a world to where two hints of one key are at hand. */
type Scene = (world: ReconcileWorld) => Promise<void>;

interface Schedule {
  readonly first: number;
  readonly second: number;
  /** What happens between the two runs' first stretches. */
  readonly between: (world: ReconcileWorld) => Promise<void>;
}

interface Played {
  readonly world: ReconcileWorld;
  /** Whether a run had fewer calls to make than its first stretch allowed: a longer stretch is the same schedule. */
  readonly isFirstOver: boolean;
  readonly isSecondOver: boolean;
}

async function play(scene: Scene, schedule: Schedule): Promise<Played> {
  const world = new ReconcileWorld({ nodes: 2 });
  await scene(world);
  await world.mirror.sync();
  const turnstiles = [new Turnstile(), new Turnstile()] as const;
  const runs = turnstiles.map((turnstile) =>
    world.run({ ...gate(world.dependencies, turnstile), cache: createProcessCache() }),
  );
  await turnstiles[0].allow(schedule.first);
  const isFirstOver = turnstiles[0].passed < schedule.first;
  await schedule.between(world);
  await turnstiles[1].allow(schedule.second);
  const isSecondOver = turnstiles[1].passed < schedule.second;
  await turnstiles[0].allow(Infinity);
  await turnstiles[1].allow(Infinity);
  await Promise.all(runs);
  await world.settle();
  return { world, isFirstOver, isSecondOver };
}

/** More calls than a run makes; who gets there has not tried every switch. */
const CALLS_MAX = 60;

/** Of two runs from nothing every switch is tried; of the scenes that add something between them each third. */
const STRIDE = 3;

/** Tries every switch, or every `stride`th, begun elsewhere for each first stretch; resolves to how many schedules that were. */
async function explore(scene: Scene, between: Schedule['between'], stride = 1): Promise<number> {
  let schedules = 0;
  for (let first = 0, isFirstOver = false; !isFirstOver; first += 1) {
    for (let second = first % stride, isSecondOver = false; !isSecondOver; second += stride) {
      assert.ok(first < CALLS_MAX && second < CALLS_MAX + stride, 'the runs have no end');
      const played = await play(scene, { first, second, between });
      const where = `switched after ${first} and ${second} calls`;
      assert.deepEqual(played.world.cluster.violations, [], where);
      assert.deepEqual(played.world.placed, ['node-0001', 'node-0002'], where);
      schedules += 1;
      ({ isFirstOver, isSecondOver } = played);
    }
  }
  return schedules;
}

const nothing = (): Promise<void> => Promise.resolve();

describe('two runs of one key, interleaved', () => {
  it('create one pod per node from nothing (S1, row 20)', async () => {
    assert.ok((await explore(nothing, nothing)) > 100, 'fewer switches than two runs have');
  });

  it('create one pod per node when the view moves in between (S1, row 76)', async () => {
    await explore(nothing, (world) => world.mirror.sync(), STRIDE);
  });

  it('create one pod per node when the state item is lost in between (S1, row 34)', async () => {
    let lost = 0;
    const lose: Schedule['between'] = (world) => {
      lost += world.view.lose('STATE');
      return Promise.resolve();
    };
    await explore(nothing, lose, STRIDE);
    assert.ok(lost > 100 / STRIDE, `it was there to be lost in ${lost} schedules`);
  });

  it('replace a failed pod once (S1, S4)', async () => {
    const scene: Scene = async (world) => {
      await world.settle();
      await world.clock.advance(60_000);
      const [pod] = world.pods;
      assert.ok(pod !== undefined);
      world.setPhase(pod.metadata.name, 'Failed');
    };
    await explore(scene, nothing, STRIDE);
    await explore(
      scene,
      async (world) => {
        world.cluster.finishTermination();
        await world.mirror.sync();
      },
      STRIDE,
    );
  });
});
