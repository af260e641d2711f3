/** All sweeps. */
import assert from 'node:assert/strict';
import { answerSweep } from './call-sweep.ts';
import { hiddenSweep } from './hidden-sweep.ts';
import { lagSweep } from './lag-sweep.ts';
import { passageSweep } from './passage-sweep.ts';
import { staleSweep } from './stale-sweep.ts';
import type { Sweep, Trial } from './sweep.ts';

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
