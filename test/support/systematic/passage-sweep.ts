/** Every passage of every scene, with each order that means anything there. */
import { passageFault, suits, type Order, type PassagePlan } from './passage-faults.ts';
import { referenceOf } from './references.ts';
import type { Scene } from './scene.ts';
import { SCENES } from './scenes.ts';
import type { Sweep, Trial } from './sweep.ts';
import { assertSameEnd, playTrial } from './trial.ts';

export function passageSweep(name: string, orders: readonly Order[]): Sweep {
  return {
    name,
    trials: async (only) => {
      const trials: Trial[] = [];
      for (const scene of SCENES) {
        if (only !== undefined && scene.name !== only) continue;
        const { passages } = await referenceOf(scene);
        for (const order of orders) {
          for (const passage of passages) {
            if (!suits(order, passage)) continue;
            const { index, text } = passage;
            trials.push(trialOf(name, scene, { order, index, text }));
          }
        }
      }
      return trials;
    },
  };
}

function trialOf(sweep: string, scene: Scene, plan: PassagePlan): Trial {
  return {
    name: `${sweep}/${scene.name}/${plan.order}/${plan.index}`,
    what: plan.text,
    play: async () => {
      const options = { isOvertaken: plan.order === 'overtaken' };
      const { end: reference } = await referenceOf(scene, options);
      const { end: trial } = await playTrial(scene, passageFault(plan), options);
      const keepsCounts = scene.keepsCounts && !options.isOvertaken;
      assertSameEnd(scene, { reference, trial, keepsCounts });
    },
  };
}
