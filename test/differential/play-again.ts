/**
 * Plays again what disagreed, alone. The original's order is random and steps are played in a hurry, so now and
 * then the two clusters part by chance (order-dependent.ts leaves out what is known to); a real difference comes
 * back. A bound that Rollcall passed is never chance: it counts at once, and is not played again.
 */
import type { Pair } from './pair.ts';
import type { PlayResult } from './play.ts';
import { boundsPassed, isDisagreement, playAll } from './play-all.ts';

/** How often a scenario that disagreed is played again. */
const REPLAYS_MAX = 2;

/** The result to be judged; `byChance` if it disagreed and a replay agreed. */
export interface ConfirmedResult {
  readonly result: PlayResult;
  readonly byChance: boolean;
}

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
  for (let replay = 0; replay < REPLAYS_MAX; replay += 1) {
    if (!isDisagreement(result) || boundsPassed(result).length > 0) break;
    const again = await playAll(pair, {
      scenarios: [result.scenario],
      atOnceMax: 1,
      placePrefix: `${placePrefix}${replay}`,
    });
    const [other] = again;
    if (other === undefined) break;
    if (boundsPassed(other).length > 0) return { result: other, byChance: false };
    if (!isDisagreement(other)) return { result, byChance: true };
  }
  return { result, byChance: false };
}
