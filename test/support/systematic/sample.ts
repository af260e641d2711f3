/**
 * A sample of a sweep: every so many-th trial, beginning where the commit says, so that another part is played for each
 * commit. A failed trial prints the command that plays it alone; what was sampled is said in any case.
 */
import type { TestContext } from 'node:test';
import { commitSeed } from '../commit.ts';
import { playOne, thin } from './sweep.ts';
import { trialsNamed } from './sweeps.ts';

/** Plays at least `trialsMin` trials of a sweep, evenly apart: a stride follows from the sweep's size, which moves with the code. */
export async function playSample(
  sweep: string,
  trialsMin: number,
  context: Pick<TestContext, 'diagnostic'>,
): Promise<void> {
  const { seed, source } = commitSeed();
  const all = await trialsNamed(sweep);
  const stride = Math.floor(all.length / trialsMin);
  if (stride < 1) throw new Error(`${sweep} has ${all.length} trials, ${trialsMin} were asked for`);
  const offset = seed % stride;
  const trials = thin(all, stride, offset);
  const again = `run.ts ${sweep} --stride ${stride} --offset ${offset}`;
  context.diagnostic(`${trials.length} of ${all.length} trials: ${again} (${source})`);
  for (const trial of trials) await playOne(trial);
}
