/**
 * Pods that turn not ready and ready again: seen from one projection after the other, without a history of each pod.
 *
 * A turn is a move of readyChangedAtMs of a pod that had been ready, on a node that is Ready: to not ready, or, between two
 * looks, out and back. The record keeps one entry a pod, TURNS_MAX at most, those that turned first; a pod without one
 * that is found not ready long after its creation had been ready before. Turns count while less than `quietMs` lies
 * between them: after it a soak could have passed. Pods that the caller no longer names are forgotten.
 * A kubelet that restarts turns the pods of its node once, which is less than TURNS_HALT; it is not told apart.
 */
import { CLOCKS_DIFFER_MS } from './trial.ts';
import type { PodProjection } from '../model/projections.ts';
import type { PodTurns } from '../model/rollout-record.ts';
import { defined } from '@rollcall/base/defined.ts';
import { nodeOf } from '../pod/pod-facts.ts';
import { compareText } from '@rollcall/base/compare-text.ts';

/** Entries that a record keeps: 8 KB. */
export const TURNS_MAX = 64;
/** So many turns of one pod are flapping. */
export const TURNS_HALT = 3;
/** A pod that is not ready so long after its creation, and since then, had been ready: two clocks tell, so with their difference. */
const COMES_UP_MS = 120_000 + CLOCKS_DIFFER_MS;
const HOUR_MS = 3_600_000;

/** A pod of the new revision, and whether its node is Ready. */
export interface WatchedPod {
  readonly pod: PodProjection;
  readonly isNodeReady: boolean;
  /** Of its node; absent: not known. */
  readonly boot?: string;
}

/** Turns further apart than this have nothing to do with each other. */
export function quietMsOf(soakMs: number): number {
  return Math.max(soakMs, HOUR_MS);
}

/** The entries after another look; the same array if nothing changed. */
export function advanceTurns(
  known: readonly PodTurns[],
  pods: readonly WatchedPod[],
  at: { readonly nowMs: number; readonly soakMs: number },
): readonly PodTurns[] {
  const byUid = new Map(known.map((entry) => [entry.uid, entry]));
  const entries = pods.flatMap((watched) => {
    const entry = nextEntry(byUid.get(watched.pod.uid), watched, at);
    return entry === undefined ? [] : [entry];
  });
  const kept = entries.sort(compareEntries).slice(0, TURNS_MAX);
  const isSame =
    kept.length === known.length && kept.every((entry) => byUid.get(entry.uid) === entry);
  return isSame ? known : kept;
}

function compareEntries(left: PodTurns, right: PodTurns): number {
  return right.turns - left.turns || compareText(left.uid, right.uid);
}

function nextEntry(
  entry: PodTurns | undefined,
  { pod, isNodeReady, boot }: WatchedPod,
  at: { readonly nowMs: number; readonly soakMs: number },
): PodTurns | undefined {
  const { uid, readyChangedAtMs: changedAtMs, isReady } = pod;
  const node = nodeOf(pod);
  if (node === undefined || changedAtMs === undefined || pod.isTerminating) return entry;
  const known = entry === undefined ? boot : entry.boot;
  const seen = { uid, node, changedAtMs, isReady, ...defined({ boot: known }) };
  if (entry === undefined) return firstEntry(seen, turnedBefore(pod) && isNodeReady, at.nowMs);
  if (entry.changedAtMs === changedAtMs && entry.isReady === isReady) return entry;
  if (!entry.isReady || !isNodeReady) return { ...entry, ...seen };
  return { ...seen, turns: turnsOf(entry, at) + 1, turnedAtMs: at.nowMs };
}

/** One that comes up is worth an entry once it is ready. */
function firstEntry(
  seen: Omit<PodTurns, 'turns' | 'turnedAtMs'>,
  isTurn: boolean,
  nowMs: number,
): PodTurns | undefined {
  if (isTurn) return { ...seen, turns: 1, turnedAtMs: nowMs };
  return seen.isReady ? { ...seen, turns: 0 } : undefined;
}

function turnedBefore({ phase, isReady, readyChangedAtMs, createdAtMs }: PodProjection): boolean {
  if (isReady || phase !== 'Running' || readyChangedAtMs === undefined) return false;
  return readyChangedAtMs - createdAtMs > COMES_UP_MS;
}

/** Turns that are still of one chain. */
export function turnsOf(
  entry: PodTurns,
  at: { readonly nowMs: number; readonly soakMs: number },
): number {
  if (entry.turnedAtMs === undefined) return 0;
  return at.nowMs - entry.turnedAtMs <= quietMsOf(at.soakMs) ? entry.turns : 0;
}

/**
 * When an unwatched pod of the old revision turned last: readiness that changed long after it came up. It may be
 * ready again, or not. A restart turns it as well.
 */
export function lastTurnMs({
  phase,
  readyChangedAtMs,
  createdAtMs,
}: PodProjection): number | undefined {
  if (phase !== 'Running' || readyChangedAtMs === undefined) return undefined;
  return readyChangedAtMs - createdAtMs > HOUR_MS ? readyChangedAtMs : undefined;
}
