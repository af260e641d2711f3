/**
 * A sample of a sweep: every so many-th trial, beginning where the commit says, so that another part is played for each
 * commit. A failed trial prints the command that plays it alone; what was sampled is said in any case.
 */
import type { TestContext } from 'node:test';
import { commitSeed } from '../commit.ts';
import { playOne, thin } from './sweep.ts';
import { trialsNamed } from './sweeps.ts';

/** Plays every `stride`-th trial of a sweep; answers how many. */
export async function playSample(
  sweep: string,
  stride: number,
  context: Pick<TestContext, 'diagnostic'>,
): Promise<number> {
  const { seed, source } = commitSeed();
  const offset = seed % stride;
  const all = await trialsNamed(sweep);
  const trials = thin(all, stride, offset);
  const again = `run.ts ${sweep} --stride ${stride} --offset ${offset}`;
  context.diagnostic(`${trials.length} of ${all.length} trials: ${again} (${source})`);
  for (const trial of trials) await playOne(trial);
  return trials.length;
}
