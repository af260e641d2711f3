/** Every request, live read, send and Lease write of every scene, with each thing that can befall it. */
import { CALL_SERIES, callFault, recordCalls } from './call-series.ts';
import type { CallPlan, CallSeries } from './call-series.ts';
import { referenceOf } from './references.ts';
import type { Scene } from './scene.ts';
import { SCENES } from './scenes.ts';
import type { Sweep, Trial } from './sweep.ts';
import { assertSameEnd, playTrial } from './trial.ts';

/** The sweep `answers`: its trials are `answers/<scene>/<series>-<order>/<number>`. */
export const answerSweep: Sweep = {
  name: 'answers',
  trials: async (only) => {
    const trials: Trial[] = [];
    for (const scene of SCENES) {
      if (only !== undefined && scene.name !== only) continue;
      for (const series of CALL_SERIES) {
        trials.push(...(await trialsOf(scene, series)));
      }
    }
    return trials;
  },
};

async function trialsOf(scene: Scene, series: CallSeries): Promise<readonly Trial[]> {
  const texts: string[] = [];
  await playTrial(scene, recordCalls(series, texts));
  return texts.flatMap((text, place) =>
    series
      .ordersFor(text)
      .map((order) => trialOf(scene, { series, order, index: place + 1, text })),
  );
}

function trialOf(scene: Scene, plan: CallPlan): Trial {
  return {
    name: `answers/${scene.name}/${plan.series.name}-${plan.order}/${plan.index}`,
    what: plan.text,
    play: async () => {
      const { end: reference } = await referenceOf(scene);
      const { end: trial } = await playTrial(scene, callFault(plan));
      assertSameEnd(scene, { reference, trial });
    },
  };
}
