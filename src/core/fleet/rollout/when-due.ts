/**
 * When a fleet is looked at next, and whether a step changed anything: so that a fleet that is done costs nothing (issue 18).
 *
 * While clusters roll each turn of the schedule steps; a fleet that waits for time is looked at when that is, one that waits for a
 * person every minute; one that is done when its ring is due, or the next look for drift. Orders, applies and registry changes wake it sooner:
 * the schedule sees them by itself.
 */
import { canonicalJson, type Json } from '@rollcall/base/json.ts';
import type { FleetGate, FleetRecord } from './fleet-record.ts';

const ROLLING_MS = 15_000;
const WAITING_MS = 60_000;
/** An object that an operator has to repair, or a freeze. */
const HELD_MS = 600_000;

/** When the next step is needed at the latest. */
export function whenDue(record: FleetRecord, nowMs: number): number {
  const soonestMs = nowMs + ROLLING_MS;
  if (record.gate.kind === 'done') {
    return soonest(record, Math.max(record.driftDueAtMs, soonestMs), soonestMs);
  }
  return soonest(record, Math.max(soonestMs, gateDueAt(record, nowMs)), soonestMs);
}

/** With the ring, where clusters of it may be given something. */
function soonest(record: FleetRecord, atMs: number, soonestMs: number): number {
  const { ringDueAtMs, gate } = record;
  if (isCatchUpHeld(record) || gate.kind === 'frozen' || gate.kind === 'returning') return atMs;
  return Math.min(atMs, Math.max(ringDueAtMs, soonestMs));
}

/** True while clusters of the ring are given nothing: the ring is empty, no release is good, or the good one is halted or paused. */
export function isCatchUpHeld({
  ring,
  good: [newest],
  orders,
  breach,
  release,
}: Pick<FleetRecord, 'ring' | 'good' | 'orders' | 'breach' | 'release'>): boolean {
  if (ring.count === 0 || newest === undefined || orders.paused !== undefined) return true;
  // Halted by the word of one cluster, or for want of room there: clusters that have it keep it, and no other is given it.
  return breach !== undefined && newest.id === release.contentHash;
}

const WAITS_MS: Readonly<Record<FleetGate['kind'], number>> = {
  updating: ROLLING_MS,
  returning: ROLLING_MS,
  next: ROLLING_MS,
  // A cluster that turns bad meanwhile is seen before the soak is over.
  soaking: WAITING_MS,
  approval: WAITING_MS,
  'no-evidence': WAITING_MS,
  refused: HELD_MS,
  paused: WAITING_MS,
  window: HELD_MS,
  breach: HELD_MS,
  returned: HELD_MS,
  frozen: HELD_MS,
  invalid: HELD_MS,
  done: HELD_MS,
};

function gateDueAt({ gate, counts }: FleetRecord, nowMs: number): number {
  const atMs = nowMs + WAITS_MS[gate.kind];
  // Those that roll may show what one cluster alone could not (advance-fleet.ts).
  if (gate.kind === 'breach' && counts.rolling > 0) return nowMs + WAITING_MS;
  if (gate.kind === 'soaking') return Math.min(atMs, gate.untilMs);
  if (gate.kind === 'refused') return Math.min(atMs, gate.askAtMs);
  if (gate.kind === 'window') return Math.min(atMs, gate.opensAtMs ?? Infinity);
  return atMs;
}

/** True if two records differ in nothing but when they are due. */
export function isSameRecord(left: FleetRecord, right: FleetRecord): boolean {
  return textOf(left) === textOf(right);
}

function textOf({ dueAtMs: _due, progressedAtMs: _progressed, ...rest }: FleetRecord): string {
  // A record is JSON.
  return canonicalJson(rest as unknown as Json);
}
