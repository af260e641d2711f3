/**
 * Makes an episode that shows a difference as short as it gets: steps are removed as long as the difference stays.
 *
 * Each trial plays on the same servers under a new prefix, so that nothing of an earlier one is in its way. Removal goes
 * from large parts to single steps; the number of trials is bounded.
 */
import { classOf, type Difference } from './compare.ts';
import { runEpisode, type Pair } from './run-episode.ts';
import type { ComparedServer } from './server.ts';
import type { Step } from './step.ts';

export interface ShrinkRequest {
  readonly servers: Pair<ComparedServer>;
  readonly difference: Difference;
  /** The episode's steps under another prefix. */
  readonly stepsFor: (prefix: string) => readonly Step[];
}

const TRIALS_MAX = 60;
let trials = 0;

/** Returns the steps that are left; all of them when the difference does not show again. */
export async function shrinkEpisode(request: ShrinkRequest): Promise<readonly Step[]> {
  const { difference, stepsFor } = request;
  const goal = classOf(difference);
  const isShownBy = async (ids: ReadonlySet<number>): Promise<boolean> => {
    trials += 1;
    const steps = stepsFor(`t${trials}`).filter((step) => ids.has(step.id));
    const { differences } = await runEpisode(request.servers, steps);
    return differences.some((one) => one.step.id === difference.step.id && classOf(one) === goal);
  };
  const all = stepsFor('t');
  // Watches are read at the end: what comes after them counts too.
  const last = difference.step.isWatch === true ? all.length : difference.step.id;
  let kept = all.map((step) => step.id).filter((id) => id <= last);
  const trialsAtStart = trials;
  for (
    let size = Math.ceil(kept.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let start = 0; start < kept.length;) {
      const part = new Set(kept.slice(start, start + size));
      const rest = kept.filter((id) => !part.has(id) || id === difference.step.id);
      const isTried = rest.length < kept.length && trials - trialsAtStart < TRIALS_MAX;
      if (isTried && (await isShownBy(new Set(rest)))) kept = rest;
      else start += size;
    }
  }
  const ids = new Set(kept);
  return all.filter((step) => ids.has(step.id));
}
