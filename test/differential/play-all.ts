/**
 * Plays many scenarios on one pair of control planes, several at once, and hands each result on as it comes.
 */
import type { Pair } from './pair.ts';
import { playScenario, type PlayResult } from './play.ts';
import type { Scenario } from './scenario.ts';

export interface PlayAllOptions {
  readonly scenarios: readonly Scenario[];
  readonly atOnceMax: number;
  /** First part of the ids of places; no two runs on one pair may share it. */
  readonly placePrefix: string;
  readonly onResult?: (result: PlayResult) => void;
  /** Asked before each step; the rest is left out when it answers true. */
  readonly isEnough?: () => boolean;
  /** See PlayOptions. */
  readonly differenceMs?: number;
}

/** How many scenarios share the pair: more of them overlap more waiting, until the machine is the limit. */
export const AT_ONCE_MAX = 8;

/** Plays all; results are in the order of the scenarios. */
export async function playAll(pair: Pair, options: PlayAllOptions): Promise<readonly PlayResult[]> {
  const queue = options.scenarios.entries();
  const results: PlayResult[] = [];
  const work = async (): Promise<void> => {
    for (const [index, scenario] of queue) {
      if (options.isEnough?.() === true) return;
      const placeId = `${options.placePrefix}${index}`;
      const { differenceMs, isEnough } = options;
      const result = await playScenario(pair, scenario, { placeId, differenceMs, isEnough });
      results[index] = result;
      options.onResult?.(result);
    }
  };
  await Promise.all(Array.from({ length: options.atOnceMax }, work));
  return results.filter((it: PlayResult | undefined) => it !== undefined);
}

/** True where the two clusters disagreed, or Rollcall passed a bound. */
export function isDisagreement(result: PlayResult): boolean {
  return result.differences.length > 0 || boundsPassed(result).length > 0;
}

/** Bounds that Rollcall passed; the original's are for information. */
export function boundsPassed({ violations }: PlayResult): readonly string[] {
  return violations.filter((it) => it.side === 'rollcall').map((it) => `${it.bound}: ${it.detail}`);
}
