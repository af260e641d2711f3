/**
 * When a fleet is looked at next, and whether a step changed anything: so that a fleet that is done costs nothing (issue 18).
 *
 * While clusters roll each turn of the schedule steps; a fleet that waits for time is looked at when that is, one that waits for a
 * person every minute; one that is done when its ring is due, or the next look for drift. Orders, applies and registry changes wake it sooner:
 * the schedule sees them by itself.
 */
import { canonicalJson } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { FleetRecord } from './fleet-record.ts';

const ROLLING_MS = 15_000;
const WAITING_MS = 60_000;
/** An object that an operator has to repair, or a freeze. */
const HELD_MS = 600_000;

/** When the next step is needed at the latest. */
export function whenDue(record: FleetRecord, nowMs: number): number {
  const { ring, ringDueAtMs, driftDueAtMs } = record;
  const isDone = record.gate.kind === 'done';
  const atMs = isDone ? Math.max(driftDueAtMs, nowMs + ROLLING_MS) : nowMs + waitOf(record, nowMs);
  return ring.count > 0 ? Math.min(atMs, Math.max(ringDueAtMs, nowMs + ROLLING_MS)) : atMs;
}

function waitOf({ gate }: FleetRecord, nowMs: number): number {
  switch (gate.kind) {
    case 'rolling':
    case 'returning':
    case 'next':
      return ROLLING_MS;
    case 'soaking':
      // What turns bad meanwhile is seen before the soak is over.
      return Math.max(ROLLING_MS, Math.min(gate.untilMs - nowMs, WAITING_MS));
    case 'window':
      return Math.max(ROLLING_MS, Math.min((gate.opensAtMs ?? Infinity) - nowMs, HELD_MS));
    case 'approval':
    case 'no-evidence':
    case 'paused':
      return WAITING_MS;
    case 'breach':
    case 'returned':
    case 'frozen':
    case 'invalid':
      return HELD_MS;
    case 'done':
      return HELD_MS;
  }
}

/** True if two records differ in nothing but when they are due. */
export function isSameRecord(left: FleetRecord, right: FleetRecord): boolean {
  return textOf(left) === textOf(right);
}

function textOf({ dueAtMs: _due, progressedAtMs: _progressed, ...rest }: FleetRecord): string {
  // A record is JSON.
  return canonicalJson(rest as unknown as Json);
}
