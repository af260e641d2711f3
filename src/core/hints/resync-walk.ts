/**
 * The walk of `resync` through the directory, as it is remembered: one item for the whole fleet (F11).
 *
 *        boundary of cluster c                 boundary of d
 *   ────────────┼──────────────────────────────────┼───────────────▶ time
 *      from ├──────── this walk's ────────┤ until ├──── the next one's
 *
 * A walk owns the time since the walk before it began, so each boundary is met once, however late or often ticks come.
 * A cluster that could not be looked at is owed its time by the next walk. What an invocation did counts once it is
 * written.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterId } from '../model/identifiers.ts';
import { nextBook, type TroubleBook } from './cluster-troubles.ts';

/** A cluster that was not looked at, and since when its boundaries are not met. */
export interface OwedTurn {
  readonly cluster: ClusterId;
  readonly sinceMs: number;
}

/** What is stored of the walk. */
export interface ResyncWalk {
  /** Compare-and-set counter; 0 means: nothing stored yet. */
  readonly version: number;
  /** Boundaries after this moment, and up to `untilMs`, are this walk's. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isOver: boolean;
  /** Where the next invocation goes on; absent: at the beginning of the directory. */
  readonly cursor?: string;
  /** No other invocation walks until then; a holder that died is overtaken. Absent: none walks. */
  readonly heldUntilMs?: number;
  /** Of the walk before. */
  readonly owed: readonly OwedTurn[];
  /** Of this one: owed by the next. */
  readonly failed: readonly OwedTurn[];
  /** Absent: nothing is remembered of any cluster. */
  readonly troubles?: TroubleBook;
}

/** Where a first walk begins: every cluster's due times have their turn, few clusters' hints. */
export const FIRST_WALK_MS = 900_000;
/** A stored moment further ahead than this was written by a clock that was off. */
const AHEAD_MAX_MS = 900_000;
/** Beyond this many, failing clusters wait for their next boundary: the item stays small. */
export const OWED_MAX = 4_000;

/** Whether an invocation may walk, and the walk that it has to store first. */
export type WalkBegin =
  { readonly kind: 'begun'; readonly walk: ResyncWalk } | { readonly kind: 'held' };

/** Takes the walk for an invocation: goes on with the one that is not over, or begins the next one. */
export function beginWalk(
  stored: ResyncWalk | undefined,
  at: { readonly nowMs: number; readonly holdMs: number },
): WalkBegin {
  const heldUntilMs = at.nowMs + at.holdMs;
  const version = stored?.version ?? 0;
  if (stored === undefined || stored.untilMs > at.nowMs + AHEAD_MAX_MS) {
    const fromMs = at.nowMs - FIRST_WALK_MS;
    const fresh = { fromMs, untilMs: at.nowMs, isOver: false, owed: [], failed: [] };
    return { kind: 'begun', walk: { version, heldUntilMs, ...fresh } };
  }
  const { heldUntilMs: formerMs } = stored;
  const isHeld =
    formerMs !== undefined && formerMs > at.nowMs && formerMs - at.nowMs <= AHEAD_MAX_MS;
  if (isHeld) return { kind: 'held' };
  if (!stored.isOver) return { kind: 'begun', walk: { ...stored, heldUntilMs } };
  const { untilMs, failed: owed } = stored;
  const next = { fromMs: untilMs, untilMs: Math.max(untilMs, at.nowMs), owed, failed: [] };
  const troubles = stored.troubles && nextBook(stored.troubles);
  const walk = { version, heldUntilMs, isOver: false, ...next, ...defined({ troubles }) };
  return { kind: 'begun', walk };
}

export interface WalkProgress {
  /** Where the next one goes on; absent: this was the end of the directory. */
  readonly cursor?: string;
  readonly failed: readonly OwedTurn[];
  readonly troubles?: TroubleBook;
}

/** The walk as an invocation leaves it: to be stored over the one that `beginWalk` gave. */
export function pauseWalk(walk: ResyncWalk, progress: WalkProgress): ResyncWalk {
  const { heldUntilMs: _released, cursor: _former, ...rest } = walk;
  const { cursor, troubles } = progress;
  const failed = [...walk.failed, ...progress.failed].slice(0, OWED_MAX);
  return { ...rest, isOver: cursor === undefined, failed, ...defined({ cursor, troubles }) };
}

/** Whose boundary is asked for: clusters are spread over an interval by a number of their own. */
export interface TurnOf {
  readonly spread: number;
  /** Boundaries after this … */
  readonly fromMs: number;
  /** … and up to this count. */
  readonly untilMs: number;
}

/**
 * The number of the interval that began within that time, the last of them; undefined when none did. It
 * is the same for each invocation, so a hint that is sent twice for it has the same id.
 */
export function turnWithin(everyMs: number, turn: TurnOf): number | undefined {
  const phaseMs = turn.spread % everyMs;
  const intervalOf = (timeMs: number): number => Math.floor((timeMs + phaseMs) / everyMs);
  const last = intervalOf(turn.untilMs);
  return last > intervalOf(turn.fromMs) ? last : undefined;
}
