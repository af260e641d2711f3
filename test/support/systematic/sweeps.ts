/** All sweeps. */
import assert from 'node:assert/strict';
import { hiddenSweep } from './hidden-sweep.ts';
import { lagSweep } from './lag-sweep.ts';
import { passageSweep } from './passage-sweep.ts';
import { staleSweep } from './stale-sweep.ts';
import type { Sweep, Trial } from './sweep.ts';
import { CALL_SERIES, callFault, recordCalls } from './call-series.ts';
import type { CallPlan, CallSeries } from './call-series.ts';
import { referenceOf } from './references.ts';
import type { Scene } from './scene.ts';
import { SCENES } from './scenes.ts';
import { assertSameEnd, playTrial } from './trial.ts';

/** The sweep `answers`: its trials are `answers/<scene>/<series>-<order>/<number>`. */
const answerSweep: Sweep = {
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

/** Every sweep, in the order in which the whole set is played. */
export const SWEEPS: readonly Sweep[] = [
  passageSweep('crash', ['kill']),
  passageSweep('freeze', ['nap', 'late', 'overtaken']),
  passageSweep('deadline', ['slow']),
  passageSweep('table', ['lost', 'refused']),
  answerSweep,
  staleSweep,
  hiddenSweep,
  lagSweep,
];

/** The trials whose names begin so. */
export async function trialsNamed(prefix: string): Promise<readonly Trial[]> {
  const [sweepName = '', scene] = prefix.split('/');
  const sweeps = SWEEPS.filter(({ name }) => sweepName === '' || name === sweepName);
  assert.ok(sweeps.length > 0, `no sweep ${sweepName}`);
  const all = await Promise.all(sweeps.map((sweep) => sweep.trials(scene)));
  return all
    .flat()
    .filter(({ name }) => name === prefix || name.startsWith(prefix === '' ? '' : `${prefix}/`));
}
