/**
 * Which rollout somebody waits for: what is told may still be of the one before an edit, until the watcher has told of it.
 *
 * `metadata.generation` is exact, and whoever edits knows it; kubectl compares it with what it reads of the cluster, which these
 * commands do not ask. Without it an end counts once the watcher was heard of since, or after the seconds that an event takes at most
 * where nothing is wrong. Pure.
 */
import type { RolloutStatus } from './rollout-status.ts';

/** From an edit to the view it takes two seconds; milliseconds. */
const EVENT_MS = 10_000;

/** What an end has to be of. */
export type Awaited =
  /** This generation, or a later one. */
  | { readonly kind: 'generation'; readonly generation: number }
  /** What stands in the cluster when one begins to look. */
  | { readonly kind: 'latest' }
  /** Whatever is told: an order is of what its giver saw. */
  | { readonly kind: 'any' };

/** The status as it is of that rollout: one of an earlier generation goes on, whatever it says. */
export function statusOfAwaited(status: RolloutStatus, awaited: Awaited): RolloutStatus {
  if (awaited.kind !== 'generation' || status.generation >= awaited.generation) return status;
  const { generation, notes } = status;
  const summary = `waits until the watcher tells of generation ${String(awaited.generation)}`;
  const note = `What is told here is of generation ${String(generation)}.`;
  const phase = status.phase === 'Stopped' ? status.phase : 'Progressing';
  return { ...status, phase, summary, notes: [...notes, note] };
}

/** Says of each look, in their order and by one monotonic clock, whether an end that it tells would be that of the rollout that is meant. */
export function meantBy(
  awaited: Awaited,
): (status: Pick<RolloutStatus, 'lastSentAtMs'>, nowMs: number) => boolean {
  let first: { readonly lastSentAtMs: number; readonly atMs: number } | undefined;
  return ({ lastSentAtMs }, nowMs) => {
    if (awaited.kind !== 'latest') return true;
    first ??= { lastSentAtMs, atMs: nowMs };
    return lastSentAtMs > first.lastSentAtMs || nowMs - first.atMs >= EVENT_MS;
  };
}
