/**
 * What becomes of a mass removal: it goes, waits some seconds, is held, or was confirmed (ADR 0057).
 *
 *   pods to leave ─▶ over the share? ─▶ held ─▶ confirmed ─▶ so many may go
 *                    └─ not yet: some seconds for more ─▶ go        └─ taken back: ended
 *
 * A hold lasts until it is confirmed, taken back, or for one window so small that it would not begin: nodes that get their
 * label back one by one lose no pod on the way. A confirmation covers what it was asked for and one share more, for an hour
 * at most, and afterwards for as long as removals count as one. Times of another function's clock that lie ahead count as now.
 * Pure; nothing is stored by a run that finds no pod to leave and none that left.
 */
import { hash48 } from '@rollcall/base/hash48.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { RemovalNotice, RemovalRules } from '../model/plan.ts';
import type { HeldRemoval, RemovalRecord } from '../model/state.ts';
import type { Removal } from './count-removal.ts';
import { findCause } from './removal-cause.ts';
import {
  CONFIRM_ANNOTATION,
  REMOVAL_WINDOW_MS,
  isOff,
  isOverShare,
  isStillOver,
  mayBegin,
  shareOf,
} from './removal-rules.ts';

/** How long the first pods that leave wait for others: a watcher tells of nodes within two seconds (ADR 0079). */
export const SETTLE_MS = 5_000;
const ALLOWED_MS = 3_600_000;
const TOKEN_RADIX = 36;

export interface RemovalInput {
  readonly daemonSet: DaemonSetObject;
  readonly rules: RemovalRules;
  readonly removal: Removal;
  /** As stored; absent: no run has looked yet. */
  readonly record: RemovalRecord | undefined;
  /** Hash of the present placement (removal-cause.ts). */
  readonly placement: number;
  readonly nowMs: number;
  /** `watch`: another controller acts, and holding is not in our hands. */
  readonly stance: 'act' | 'watch';
}

export interface RemovalDecision {
  /** `settle`: what was not sent yet waits until `untilMs`. `hold`: nothing that takes a pod away is sent. */
  readonly kind: 'go' | 'settle' | 'hold';
  readonly record: RemovalRecord;
  readonly untilMs?: number;
  readonly notice?: RemovalNotice;
}

/** True if the template's placement is not what it was when no pod was on its way out. */
export function isEdited(record: RemovalRecord | undefined, placement: number): boolean {
  return record !== undefined && record.placement !== placement;
}

export function decideRemoval(input: RemovalInput): RemovalDecision {
  const { removal, rules, daemonSet, placement, record, stance } = input;
  if (removal.pods === 0 || isOff(rules, daemonSet)) return rest(input, { placement });
  if (removal.leaving.length === 0 && stance === 'act') return rest(input, trailing(input));
  if (record?.held !== undefined) return decideHeld(input, record.held);
  const allowed = record?.allowed;
  if (allowed !== undefined && isAllowed(allowed, input)) return go({ ...baseOf(input), allowed });
  return isEdited(record, placement) ? decideEdit(input) : decideNodes(input);
}

/** The DaemonSet's own placement was edited: the whole of it is seen at once. */
function decideEdit(input: RemovalInput): RemovalDecision {
  const { rules, removal } = input;
  if (rules.scope === 'default') {
    return go({ ...baseOf(input), allowed: allow(input, REMOVAL_WINDOW_MS) });
  }
  return isOverShare(rules, removal) ? hold(input) : go(baseOf(input));
}

function decideNodes(input: RemovalInput): RemovalDecision {
  const { rules, removal, stance } = input;
  if (!mayBegin(rules, removal)) return go(baseOf(input));
  if (stance === 'act') return settle(input);
  return isOverShare(rules, removal) ? hold(input) : go(baseOf(input));
}

/** The first that leave wait a little: what is told, and what is held, is then the whole of it. */
function settle(input: RemovalInput): RemovalDecision {
  const { record, nowMs, rules, removal } = input;
  const sinceMs = Math.min(record?.sinceMs ?? nowMs, nowMs);
  const untilMs = sinceMs + SETTLE_MS;
  const next = { ...baseOf(input), sinceMs };
  if (nowMs < untilMs) return { kind: 'settle', record: next, untilMs };
  return isOverShare(rules, removal) ? hold(input) : go(next);
}

function go(record: RemovalRecord): RemovalDecision {
  return { kind: 'go', record };
}

function baseOf({ record, placement }: RemovalInput): Pick<RemovalRecord, 'placement'> {
  return { placement: record?.placement ?? placement };
}

/** Nothing is to leave: whatever was held was taken back. */
function rest({ record }: RemovalInput, next: RemovalRecord): RemovalDecision {
  const held = record?.held;
  return {
    kind: 'go',
    record: next,
    ...(held === undefined ? {} : { notice: { kind: 'ended', held } }),
  };
}

/** All are on their way: what was allowed counts for one more window, so that these are not held against the next. */
function trailing({ record, placement, nowMs }: RemovalInput): RemovalRecord {
  const allowed = record?.allowed;
  if (allowed === undefined || nowMs >= allowed.untilMs) return { placement };
  const untilMs = Math.min(allowed.untilMs, nowMs + REMOVAL_WINDOW_MS);
  return { placement, allowed: { ...allowed, untilMs } };
}

function isAllowed(
  { pods, untilMs }: NonNullable<RemovalRecord['allowed']>,
  { removal, nowMs }: RemovalInput,
): boolean {
  return nowMs < untilMs && untilMs - nowMs <= ALLOWED_MS && removal.pods <= pods;
}

function allow(
  { removal, rules, nowMs }: RemovalInput,
  forMs: number,
): NonNullable<RemovalRecord['allowed']> {
  return { pods: removal.pods + shareOf(rules, removal), untilMs: nowMs + forMs };
}

function decideHeld(input: RemovalInput, former: HeldRemoval): RemovalDecision {
  const { removal, rules, nowMs, daemonSet, stance } = input;
  const base = baseOf(input);
  const { annotations = {} } = daemonSet.metadata;
  const tokens = [annotations[CONFIRM_ANNOTATION], input.record?.order?.token];
  if (tokens.includes(former.token)) {
    const record = { ...base, allowed: allow(input, ALLOWED_MS) };
    return { kind: 'go', record, notice: { kind: 'confirmed', held: former } };
  }
  const { calmSinceMs, ...hard } = former;
  const counted = { ...hard, pods: removal.pods, basePods: removal.basePods };
  if (isStillOver(rules, removal)) return { kind: 'hold', record: { ...base, held: counted } };
  const sinceMs = Math.min(calmSinceMs ?? nowMs, nowMs);
  const untilMs = sinceMs + REMOVAL_WINDOW_MS;
  if (nowMs >= untilMs || stance === 'watch') return rest(input, base);
  return { kind: 'hold', record: { ...base, held: { ...counted, calmSinceMs: sinceMs } }, untilMs };
}

function hold(input: RemovalInput): RemovalDecision {
  const { removal, record, placement, nowMs, stance } = input;
  const cause = findCause(removal, isEdited(record, placement));
  const { pods, basePods } = removal;
  const held: HeldRemoval = {
    token: tokenOf(input),
    heldAtMs: nowMs,
    pods,
    basePods,
    cause: cause.text,
  };
  const kind = stance === 'act' ? 'held' : 'alarmed';
  return {
    kind: 'hold',
    record: { ...baseOf(input), held },
    notice: { kind, held, suspect: cause.suspect },
  };
}

/**
 * The same again in a run whose write was lost, so that what was told stays true; another one for another removal, and for
 * what goes beyond a confirmation.
 */
function tokenOf({ daemonSet, record, placement, nowMs }: RemovalInput): string {
  const { uid, generation = 0 } = daemonSet.metadata;
  const episode = isEdited(record, placement)
    ? `edit ${generation} ${placement}`
    : `nodes ${record?.sinceMs ?? nowMs}`;
  return hash48(`${uid} ${episode} ${record?.allowed?.pods ?? 0}`).toString(TOKEN_RADIX);
}
