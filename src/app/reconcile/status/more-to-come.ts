/**
 * Whether a status may wait a moment longer, because pods that this key just made are about to change it again (ADR 0053).
 *
 *   run makes pods, leaves the status, sends a look ─▶ pods are seen ─▶ pods are ready ─▶ one status
 *                                         └────────── the look, 2 s later: the status, ready or not
 *
 * Only while that look is on its way, so that no status waits for something that may never happen.
 */
import type { Subject } from '../run/context.ts';

/** True while pods that this key made lately are shown and not ready, and the look after them is still to come. */
export function isMoreToCome({
  state,
  read,
  nowMs,
}: Pick<Subject, 'state' | 'read' | 'nowMs'>): boolean {
  const { statusPostponedSinceMs: sinceMs, dueAtMs, intents } = state;
  // A clock that was ahead wrote it: nobody waits for as long as clocks differ (row 14).
  if (sinceMs === undefined || sinceMs > nowMs) return false;
  if (dueAtMs === undefined || dueAtMs <= nowMs) return false;
  const made = new Set(
    intents.flatMap((intent) => (intent.kind === 'create' ? (intent.answer?.uid ?? []) : [])),
  );
  return read.pods.some((pod) => made.has(pod.uid) && !pod.isReady && !pod.isTerminating);
}
