/**
 * Makes a scenario that shows a disagreement shorter: steps are dropped as long as one of the same comparisons
 * still finds it. Large parts go first, then single steps; several trials play at once; time is bounded.
 */
import type { Pair } from './pair.ts';
import type { PlayResult } from './play.ts';
import { isDisagreement, playAll } from './play-all.ts';
import { causesOf } from './report.ts';
import type { Scenario, Step } from './scenario.ts';

/** What to shrink, and for how long. */
export interface ShrinkOptions {
  readonly result: PlayResult;
  readonly placePrefix: string;
  readonly atOnceMax: number;
  readonly deadlineMs: number;
}

/** Shorter than in the run, so that more trials fit; what was only late may then not show again. */
const SHRINK_DIFFERENCE_MS = 22_000;

/** The shortest scenario found; the given one (up to its failed step) where it does not show again. */
export async function shrinkScenario(pair: Pair, options: ShrinkOptions): Promise<Scenario> {
  const { result } = options;
  const endsAtMs = performance.now() + options.deadlineMs;
  const goal = new Set(causesOf(result));
  const last = result.failedStep ?? result.scenario.steps.length - 1;
  let kept: readonly Step[] = result.scenario.steps.slice(0, last + 1);
  let round = 0;
  const firstThatShows = async (
    candidates: readonly (readonly Step[])[],
  ): Promise<readonly Step[] | undefined> => {
    round += 1;
    const results = await playAll(pair, {
      scenarios: candidates.map((steps) => ({ title: result.scenario.title, steps })),
      atOnceMax: options.atOnceMax,
      differenceMs: SHRINK_DIFFERENCE_MS,
      placePrefix: `${options.placePrefix}r${round}x`,
      isEnough: () => performance.now() > endsAtMs,
    });
    const found = results.find(
      (it) => isDisagreement(it) && causesOf(it).some((cause) => goal.has(cause)),
    );
    return found?.scenario.steps.slice(0, (found.failedStep ?? Infinity) + 1);
  };
  let size = Math.ceil(kept.length / 2);
  while (size >= 1 && performance.now() < endsAtMs) {
    const shorter = await firstThatShows(withoutParts(kept, size));
    if (shorter !== undefined) kept = shorter;
    else size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return { title: `${result.scenario.title}, shrunk`, steps: kept };
}

/** Every way to leave out one run of `size` steps; the last step stays, since it shows the difference. */
function withoutParts(steps: readonly Step[], size: number): readonly (readonly Step[])[] {
  const candidates: (readonly Step[])[] = [];
  for (let start = 0; start < steps.length - 1; start += size) {
    const end = Math.min(start + size, steps.length - 1);
    candidates.push([...steps.slice(0, start), ...steps.slice(end)]);
  }
  return candidates;
}
