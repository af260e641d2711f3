/** What a worker says of one seed, small enough to be sent between threads. */
import type { PlayResult } from '../../support/simulation/play-plan.ts';

export interface SeedOrder {
  readonly seed: number;
  readonly profile: string;
  readonly stepsCount: number;
  readonly isTwice: boolean;
  readonly isTracing: boolean;
}

export interface SeedReport {
  readonly seed: number;
  readonly profile: string;
  readonly hash: string;
  readonly virtualMs: number;
  readonly realMs: number;
  readonly judged: number;
  readonly happened: Readonly<Record<string, number>>;
  readonly trace?: readonly string[];
  /** Absent when every promise held. */
  readonly broken?: { readonly rule: string; readonly text: string };
}

/** The report of a play that took `realMs`. */
export function reportOf(result: PlayResult, realMs: number): SeedReport {
  const { plan, hash, virtualMs, judged, happened } = result;
  return {
    seed: plan.seed,
    profile: plan.profile,
    hash,
    virtualMs,
    realMs,
    judged,
    happened: Object.fromEntries(happened),
  };
}
