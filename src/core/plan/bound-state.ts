/**
 * How much a state keeps, so that the one of 15,000 nodes fits its item (300 KB, compressed).
 *
 * Of waits the soonest due are kept: a node whose wait is left out is tried again as if it were the first time, a few a run. Intents are
 * never left out: while so many are open, no more are made. What is refused for its size all the same is halved until it fits.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { BackoffEntry, DaemonSetState, RefusalEntry } from '../model/state.ts';
import { backoffEndMs } from '../pod/backoff.ts';

/** Refusals and back-off, each. */
export const WAITS_MAX = 1000;
/** Creates and deletes that were recorded, and of which no view has told yet. */
const INTENTS_MAX = 2000;

/** How many pods a run may still create, and delete. */
export function burstWithin(
  burstPodsMax: number,
  { intents }: Pick<DaemonSetState, 'intents'>,
): number {
  return Math.max(0, Math.min(burstPodsMax, INTENTS_MAX - intents.length));
}

/** A state, and how many waits it does not hold. */
export interface BoundState {
  readonly state: DaemonSetState;
  readonly leftOut: number;
}

/** The state with so many waits of each kind at most. */
export function boundState(state: DaemonSetState, waitsMax = WAITS_MAX): BoundState {
  const { refusals = [], backoff } = state;
  const isWithin = refusals.length <= waitsMax && backoff.length <= waitsMax;
  if (isWithin) return { state, leftOut: 0 };
  const kept = soonest(refusals, waitsMax, ({ notBeforeMs }: RefusalEntry) => notBeforeMs);
  const held = soonest(backoff, waitsMax, (entry: BackoffEntry) => backoffEndMs(entry));
  const leftOut = refusals.length - kept.length + backoff.length - held.length;
  const { refusals: _all, ...rest } = state;
  const bound = { ...rest, backoff: held, ...(kept.length === 0 ? {} : { refusals: kept }) };
  return { state: bound, leftOut };
}

/** Half of its waits; undefined: it has none. */
export function halvedState({ refusals = [], ...state }: DaemonSetState): BoundState | undefined {
  const waits = Math.max(refusals.length, state.backoff.length);
  return waits === 0 ? undefined : boundState({ ...state, refusals }, Math.floor(waits / 2));
}

function soonest<T extends { readonly node: NodeName }>(
  entries: readonly T[],
  max: number,
  dueAtMs: (entry: T) => number,
): readonly T[] {
  if (entries.length <= max) return entries;
  const kept = entries.toSorted((left, right) => dueAtMs(left) - dueAtMs(right)).slice(0, max);
  return kept.sort((left, right) => compareText(left.node, right.node));
}
