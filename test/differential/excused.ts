/**
 * How much chance excuses: a disagreement that both replays do not show again, and of those one in twenty scenarios
 * (one in any run). More of it is no chance, but a difference that comes and goes. Pure.
 */
import type { PlayResult } from './play.ts';
import { boundsPassed, isDisagreement } from './play-all.ts';

/** How often a scenario that disagreed is played again; all of them must agree. */
export const REPLAYS_COUNT = 2;

const SCENARIOS_FOR_AN_EXCUSE = 20;

/** The result to be judged; `byChance` if it disagreed and all replays agreed. */
export interface ConfirmedResult {
  readonly result: PlayResult;
  readonly byChance: boolean;
}

/** What a run comes to. */
export interface RunJudgement {
  /** What came back, passed a bound, or is beyond what chance excuses. */
  readonly disagreements: readonly PlayResult[];
  /** What chance excuses: never silent. */
  readonly excused: readonly PlayResult[];
}

/** How many disagreements of a run may be chance. */
function excusesMax(scenariosCount: number): number {
  return Math.max(1, Math.floor(scenariosCount / SCENARIOS_FOR_AN_EXCUSE));
}

/** One scenario and its replays; the one that passed a bound is the one to be told. */
export function judgeReplays(result: PlayResult, replays: readonly PlayResult[]): ConfirmedResult {
  const beyond = [result, ...replays].find((it) => boundsPassed(it).length > 0);
  if (beyond !== undefined) return { result: beyond, byChance: false };
  const hasAgreed = replays.length >= REPLAYS_COUNT && !replays.some(isDisagreement);
  return { result, byChance: isDisagreement(result) && hasAgreed };
}

/** The whole run: where there is more chance than is granted, none of it is excused. */
export function judgeRun(confirmed: readonly ConfirmedResult[]): RunJudgement {
  const found = confirmed.filter(({ result }) => isDisagreement(result));
  const byChance = found.filter((it) => it.byChance).map(({ result }) => result);
  if (byChance.length > excusesMax(confirmed.length)) {
    return { disagreements: found.map(({ result }) => result), excused: [] };
  }
  const rest = found.filter((it) => !it.byChance).map(({ result }) => result);
  return { disagreements: rest, excused: byChance };
}
