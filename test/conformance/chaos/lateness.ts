/**
 * How late the judge lets something be, for each kind of lateness by what docs/promise.md grants, and no more.
 *
 * An effect follows a live read of DaemonSet, node and pod; its request is dead twice its time-out later, and a process
 * or an API server may have been frozen in between. The other pods that a budget counts may be known by word that is
 * 90 s old, which is never needed in full while a watcher that died is replaced sooner. How old a template, a node or a
 * DaemonSet may be is therefore no question of the watcher. Pure.
 */
import { stretched } from '../../support/machine-pace.ts';

/** How late something may be, and why. */
export interface Lateness {
  /** From a live read to what it led to. */
  readonly effectMs: number;
  /** How long ago a pod may have been lost to others without counting in a budget. */
  readonly viewMs: number;
}

/** Twice the time-out of a request (docs/promise.md). */
const REQUEST_LIFE_MS = 20_000;
/** *Fresh*, for an availability budget (docs/promise.md). */
const FRESH_MS = 90_000;
/** The Lease of a watcher that died is nobody's before that; then its successor sets to work. */
const LEASE_MS = 40_000;
const TO_WORK_MS = 20_000;

export interface Disturbance {
  /** For how long one was frozen at most. */
  readonly freezeMsMax: number;
  /** How much slower than a quiet machine this one was, by the work of others. */
  readonly slowdown: number;
}

/** What may be so late; after a calm day nothing was frozen. */
export function latenessOf({ freezeMsMax, slowdown }: Disturbance): Lateness {
  const unwatchedMs = Math.min(FRESH_MS, LEASE_MS + stretched(TO_WORK_MS, slowdown));
  return { effectMs: REQUEST_LIFE_MS + freezeMsMax, viewMs: unwatchedMs + REQUEST_LIFE_MS };
}
