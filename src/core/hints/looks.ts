/**
 * Looks of one key that are on their way, and whether another one is needed (protocol 12, L5). Pure: the caller sends
 * what is missing.
 *
 * A key has one chain of looks: a look that is wanted is served by a timer that is on its way and near enough. While
 * the key waits for others to change something, any earlier timer serves; a look at a known moment is kept to the
 * second.
 */
import type { DaemonSetState } from '../model/state.ts';
import { formatKey, type DaemonSetKey } from '../model/identifiers.ts';
import { RETRY_TABLE } from '../retry/retry-table.ts';
import { hash48 } from '@rollcall/base/hash48.ts';

/** Wanted sooner than this: for something that others do meanwhile, so an earlier look serves as well. */
const NEAR_MS = 5_000;
/** How much later than wanted a look may be: the granularity of the delay queue. */
const LATER_MS = 1_000;
/** Timers of one key that are remembered: the soonest. A forgotten one costs one small read. */
const REMEMBERED_MAX = 16;

export type SentTimers = Pick<DaemonSetState, 'dueSentAtMs' | 'timersSentAtMs'>;

/**
 * Timers that are on their way, soonest first; what is past has arrived, or is late and not counted on. The
 * expiry of a memo is none of them: `resync` looks at it.
 */
export function pendingLooks(state: SentTimers, nowMs: number): readonly number[] {
  const { dueSentAtMs, timersSentAtMs = [] } = state;
  const sent = new Set([dueSentAtMs, ...timersSentAtMs]);
  const pending = [...sent].filter((atMs) => atMs !== undefined && atMs > nowMs) as number[];
  return pending.sort((left, right) => left - right);
}

/** A look that is wanted. */
export interface WantedLook {
  readonly atMs: number;
  /** `moment`: something is due then, and not before. `change`: others do it meanwhile, sooner or later. */
  readonly waitsFor: 'moment' | 'change';
}

/** The pending look that serves the one that is wanted: the latest that is not too late. */
export function findPendingLook(
  pending: readonly number[],
  { atMs: wantedAtMs, waitsFor, nowMs }: WantedLook & { readonly nowMs: number },
): number | undefined {
  const isEarlierGood = waitsFor === 'change' || wantedAtMs - nowMs < NEAR_MS;
  return pending.findLast(
    (atMs) => atMs <= wantedAtMs + LATER_MS && (isEarlierGood || atMs >= wantedAtMs),
  );
}

/** The timers to be remembered once this one was sent as well. */
export function rememberLooks(pending: readonly number[], sentAtMs: number): readonly number[] {
  const all = [...new Set([...pending, sentAtMs])].sort((left, right) => left - right);
  return all.slice(0, REMEMBERED_MAX);
}

/** Letters of one key within this time mean one look. */
const LOOKS_APART_MS = 300_000;

/**
 * When to look again at the key of a hint or timer that was given up (protocol 12, L2). Moments of a key are five
 * minutes apart, so letters that come close to each other mean the same look, under the same id, and the queue merges
 * them. What can never succeed (poison) comes back here: one look in ten minutes at most. Keys are spread, so that a
 * bad deployment does not come back at one moment. No delay is longer than SQS offers: such a timer never hops.
 */
export function lookAfterLostHint(key: DaemonSetKey, nowMs: number): number {
  const phaseMs = hash48(formatKey(key)) % LOOKS_APART_MS;
  const count = Math.ceil((nowMs + RETRY_TABLE['lost-hint'].firstMs - phaseMs) / LOOKS_APART_MS);
  return count * LOOKS_APART_MS + phaseMs;
}
