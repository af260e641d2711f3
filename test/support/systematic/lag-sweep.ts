/**
 * One type of objects is seen late, and all others at once: nothing orders the watches of different types.
 *
 * Each kind stands still from the start of a scene on, for a while; or it stutters all along, so that its
 * events come in bursts between those of the others (faults rows 4, 22, 85; protocol 1).
 */
import type { WatchedKind } from '../../../src/core/model/projections.ts';
import { theWatcher } from '../simulation/look.ts';
import type { World } from '../simulation/world.ts';
import { referenceOf } from './references.ts';
import type { Scene } from './scene.ts';
import { SCENES } from './scenes.ts';
import type { Sweep, Trial } from './sweep.ts';
import { assertSameEnd, playTrial, type Fault } from './trial.ts';

const KINDS: readonly WatchedKind[] = ['Node', 'Pod', 'DaemonSet', 'ControllerRevision'];
const STANDS_MS = [30, 120, 400, 1100, 2500, 20_000, 70_000] as const;
const STUTTERS_MS = [45, 350, 1500] as const;
const STUTTERS_FOR_MS = 25_000;

interface LagPlan {
  readonly kind: WatchedKind;
  readonly way: 'stands' | 'stutters';
  readonly ms: number;
}

const PLANS: readonly LagPlan[] = KINDS.flatMap((kind) => [
  ...STANDS_MS.map((ms) => ({ kind, way: 'stands' as const, ms })),
  ...STUTTERS_MS.map((ms) => ({ kind, way: 'stutters' as const, ms })),
]);

/** The sweep `lag`: its trials are `lag/<scene>/<kind>-<way>/<milliseconds>`. */
export const lagSweep: Sweep = {
  name: 'lag',
  trials: (only) => {
    const scenes = SCENES.filter(({ name }) => only === undefined || name === only);
    return Promise.resolve(scenes.flatMap((scene) => PLANS.map((plan) => trialOf(scene, plan))));
  },
};

function trialOf(scene: Scene, plan: LagPlan): Trial {
  return {
    name: `lag/${scene.name}/${plan.kind}-${plan.way}/${plan.ms}`,
    what: `${plan.kind} ${plan.way} for ${plan.ms} ms`,
    play: async () => {
      const { end: reference } = await referenceOf(scene);
      const { end: trial } = await playTrial(scene, lagFault(plan));
      // Who does not see that a node is gone makes a pod for it, which the cluster collects.
      const keepsCounts = scene.keepsCounts && plan.kind !== 'Node';
      assertSameEnd(scene, { reference, trial, keepsCounts });
    },
  };
}

function lagFault(plan: LagPlan): Fault {
  return (world) => {
    let times = 0;
    const begin = (): void => {
      times += 1;
      theWatcher(world).faults.frozen.add(plan.kind);
      world.clock.after(plan.ms, () => {
        theWatcher(world).source.thaw();
      });
    };
    world.note(`fault lag: ${plan.kind} ${plan.way} for ${plan.ms} ms`);
    begin();
    if (plan.way === 'stutters') stutter(world, { everyMs: plan.ms * 1.5, begin });
    let isOver = false;
    world.clock.after(plan.way === 'stutters' ? STUTTERS_FOR_MS + plan.ms * 2 : plan.ms, () => {
      isOver = true;
    });
    return { fired: () => (times > 0 ? plan.kind : undefined), isOver: () => isOver };
  };
}

function stutter(
  world: World,
  { everyMs, begin }: { readonly everyMs: number; readonly begin: () => void },
): void {
  const rounds = Math.ceil(STUTTERS_FOR_MS / everyMs);
  for (let round = 1; round <= rounds; round += 1) world.clock.after(round * everyMs, begin);
}
