/**
 * After every own write: the view stays as it was before that write, and runs go on upon it.
 *
 * Either the watch carries nothing any more, or messages are not applied; for 20 s, within the cap of
 * deferrals, or for 70 s, beyond it, where live reads decide (faults rows 2, 3, 91). Meanwhile the key is
 * hinted again and again. While a pod of ours is missing from the view a deferral must be seen.
 */
import assert from 'node:assert/strict';
import { theWatcher } from '../simulation/look.ts';
import type { World } from '../simulation/world.ts';
import { effectText } from './call-series.ts';
import { referenceOf } from './references.ts';
import type { Scene } from './scene.ts';
import { SCENES } from './scenes.ts';
import type { Sweep, Trial } from './sweep.ts';
import { DeadPlanError, assertSameEnd, playTrial, type Fault } from './trial.ts';

const WAYS = ['watch', 'ingest'] as const;
const STALE_MS = [20_000, 70_000] as const;
const HINTS_MS = [100, 1500, 5000, 12_000, 19_000, 33_000, 45_000, 65_000];

interface StalePlan {
  readonly way: (typeof WAYS)[number];
  readonly staleMs: number;
  readonly index: number;
  readonly text: string;
}

/** The sweep `stale`: its trials are `stale/<scene>/<way>-<seconds>/<number of the write>`. */
export const staleSweep: Sweep = {
  name: 'stale',
  trials: async (only) => {
    const trials: Trial[] = [];
    for (const scene of SCENES) {
      if (only !== undefined && scene.name !== only) continue;
      const texts: string[] = [];
      await playTrial(scene, recordWrites(texts));
      for (const way of WAYS) {
        for (const staleMs of STALE_MS) {
          texts.forEach((text, place) => {
            trials.push(trialOf(scene, { way, staleMs, index: place + 1, text }));
          });
        }
      }
    }
    return trials;
  },
};

function trialOf(scene: Scene, plan: StalePlan): Trial {
  return {
    name: `stale/${scene.name}/${plan.way}-${plan.staleMs / 1000}/${plan.index}`,
    what: `view older than ${plan.text}`,
    play: async () => {
      const { end: reference } = await referenceOf(scene);
      let from = 0;
      const { end: trial, world } = await playTrial(
        scene,
        staleFault(plan, (results) => {
          from = results;
        }),
      );
      assertSameEnd(scene, { reference, trial });
      const later = world.host.results.slice(from);
      if (!/^(create|delete)-pod/.test(plan.text)) return;
      assert.ok(
        later.some((result) => result.includes('deferred')),
        'row 2: no deferral was seen',
      );
    },
  };
}

function recordWrites(texts: string[]): Fault {
  return (world) => {
    world.site.afterEffect = (effect) => {
      if (!isEvent(effectText(effect))) texts.push(effectText(effect));
    };
    return { fired: () => 'nothing' };
  };
}

function staleFault(plan: StalePlan, onStale: (results: number) => void): Fault {
  return (world) => {
    let count = 0;
    let fired: string | undefined;
    let isOver = true;
    world.site.afterEffect = (effect) => {
      const text = effectText(effect);
      if (isEvent(text)) return;
      count += 1;
      if (count !== plan.index) return;
      fired = text;
      if (text !== plan.text) throw new DeadPlanError(`planned ${plan.text}, came ${text}`);
      onStale(world.host.results.length);
      isOver = false;
      goStale(world, plan);
      world.clock.after(plan.staleMs, () => {
        isOver = true;
      });
    };
    return { fired: () => fired, isOver: () => isOver };
  };
}

function goStale(world: World, { way, staleMs, text }: StalePlan): void {
  world.note(`fault stale (${way}) after ${text}`);
  const { faults, source } = theWatcher(world);
  if (way === 'ingest') world.mapping('events.fifo').isPaused = true;
  else for (const kind of KINDS) faults.frozen.add(kind);
  for (const afterMs of HINTS_MS) {
    if (afterMs < staleMs) world.clock.after(afterMs, () => world.hint('agent'));
  }
  world.clock.after(staleMs, () => {
    if (way === 'ingest') world.resume('events.fifo');
    else source.thaw();
  });
}

const KINDS = ['Node', 'Pod', 'DaemonSet', 'ControllerRevision'] as const;

function isEvent(text: string): boolean {
  return text.endsWith('-event');
}
