/**
 * Back-off of failed pods, per node and generation: 1 s doubling to 15 min (spec 2.7).
 *
 * It limits how often failed pods are deleted, survives restarts in the state item and delays one node only (spec
 * faults 44, 45). "In back-off": less than the entry's delay has passed since it was advanced. Swept 2 × cap after
 * that.
 *
 * Differs from upstream: kept with the state, not in memory; holds back surge pods too (#124388, plan-pods.ts).
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { BackoffEntry } from '../model/state.ts';
import { RETRY_TABLE, nextDelayMs } from '../retry/retry-table.ts';

/** First delay, in milliseconds (spec 2.1). */
export const BACKOFF_INITIAL_MS = RETRY_TABLE['failed-pod'].firstMs;
/** Longest delay, in milliseconds (spec 2.1). */
export const BACKOFF_CAP_MS = RETRY_TABLE['failed-pod'].maxMs;

/** Which entry: one node, one generation of the DaemonSet. */
export interface BackoffKey {
  readonly node: NodeName;
  readonly generation: number;
}

/** The generation that back-off counts for: status.observedGeneration (spec 2.7). */
export function backoffGeneration(daemonSet: DaemonSetObject): number {
  return daemonSet.status?.observedGeneration ?? 0;
}

/** The entries of this generation, by node. */
export function indexBackoff(
  entries: readonly BackoffEntry[],
  generation: number,
): ReadonlyMap<NodeName, BackoffEntry> {
  const current = entries.filter((entry) => entry.generation === generation);
  return new Map(current.map((entry) => [entry.node, entry]));
}

/** True while less than the entry's delay has passed since its last advance (spec 2.7). */
export function isInBackoff(entry: BackoffEntry | undefined, nowMs: number): boolean {
  return entry !== undefined && nowMs - entry.advancedAtMs < entry.delayMs;
}

/** When the entry's delay ends. */
export function backoffEndMs(entry: BackoffEntry): number {
  return entry.advancedAtMs + entry.delayMs;
}

/** The entry after one more failure: doubled, or fresh if the last one is longer ago than 2 × cap. */
export function advanceBackoff(
  entry: BackoffEntry | undefined,
  at: BackoffKey & { readonly nowMs: number },
): BackoffEntry {
  const isFresh = entry === undefined || isExpired(entry, at.nowMs);
  const delayMs = nextDelayMs(RETRY_TABLE['failed-pod'], isFresh ? undefined : entry.delayMs);
  return { node: at.node, generation: at.generation, delayMs, advancedAtMs: at.nowMs };
}

/** Replaces the entries of the advanced nodes; sorted by node, one entry per node. */
export function mergeBackoff(
  entries: readonly BackoffEntry[],
  advanced: readonly BackoffEntry[],
): readonly BackoffEntry[] {
  const byNode = new Map<NodeName, BackoffEntry>();
  for (const entry of [...entries, ...advanced]) byNode.set(entry.node, entry);
  return [...byNode.values()].sort((left, right) => compareText(left.node, right.node));
}

/** Without the entries that can delay nothing any more: expired, or of an earlier generation. */
export function sweepBackoff(
  entries: readonly BackoffEntry[],
  at: { readonly generation: number; readonly nowMs: number },
): readonly BackoffEntry[] {
  return entries.filter(
    (entry) => entry.generation >= at.generation && !isExpired(entry, at.nowMs),
  );
}

function isExpired(entry: BackoffEntry, nowMs: number): boolean {
  return nowMs - entry.advancedAtMs > 2 * BACKOFF_CAP_MS;
}
