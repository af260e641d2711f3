/**
 * Plays again what disagreed, alone. The original's order is random and steps are played in a hurry, so now and
 * then the two clusters part by chance (order-dependent.ts leaves out what is known to); a real difference comes
 * back. Only a disagreement that no replay shows again is chance. A bound that Rollcall passed never is: it counts
 * at once, and is not played again. How much chance a run is granted: excused.ts.
 */
import { judgeReplays, REPLAYS_COUNT, type ConfirmedResult } from './excused.ts';
import type { Pair } from './pair.ts';
import type { PlayResult } from './play.ts';
import { boundsPassed, isDisagreement, playAll } from './play-all.ts';

/** Plays disagreeing scenarios again; results are in the order of those given. */
export async function playDisagreementsAgain(
  pair: Pair,
  results: readonly PlayResult[],
  placePrefix: string,
): Promise<readonly ConfirmedResult[]> {
  const confirmed: ConfirmedResult[] = [];
  for (const [index, result] of results.entries()) {
    confirmed.push(await confirm(pair, result, `${placePrefix}${index}r`));
  }
  return confirmed;
}

async function confirm(
  pair: Pair,
  result: PlayResult,
  placePrefix: string,
): Promise<ConfirmedResult> {
  const replays: PlayResult[] = [];
  if (!isDisagreement(result) || boundsPassed(result).length > 0) {
    return judgeReplays(result, replays);
  }
  // One that disagrees again has settled it.
  while (replays.length < REPLAYS_COUNT && !replays.some(isDisagreement)) {
    const again = await playAll(pair, {
      scenarios: [result.scenario],
      atOnceMax: 1,
      placePrefix: `${placePrefix}${replays.length}`,
    });
    replays.push(...again);
  }
  return judgeReplays(result, replays);
}
