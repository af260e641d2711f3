/**
 * Looks at a rollout of a cluster, or of a fleet, again and again, until it is done, held, or the
 * time is over.
 *
 * Each look is a few small reads; it reports only changes.
 * `Waiting` goes on: a window opens, and an operator may approve. The caller bounds the time,
 * and a look that rejects ends it. What is told may still be of the rollout before an edit, until
 * the watcher has told of it: `Awaited` says which one is meant.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { outageLine } from '../../core/status/outages.ts';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';
import type { RolloutStatus } from './rollout-status.ts';
import type { Watched } from '../../core/status/outages.ts';

/** Between two looks, milliseconds. */
const LOOK_EVERY_MS = 2000;

/** How to watch. */
export interface Watching<Status extends Watched, Refusal extends { readonly kind: 'refused' }> {
  readonly look: () => Promise<Status | Refusal>;
  /** False of a look that is of another rollout than is meant, at a monotonic time (meantBy). Asked at each look; absent: all are. */
  readonly isMeant?: (status: Status, nowMs: number) => boolean;
  readonly onChange: (status: Status) => void;
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly signal: AbortSignal;
}

/** How it ended: with the last look. */
export type WatchEnd<Status, Refusal> =
  | { readonly kind: 'ended' | 'timed-out' | 'interrupted'; readonly status: Status }
  /** What was looked at went meanwhile. */
  | Refusal;

/** Watches. */
export async function watchRollout<
  Status extends Watched,
  Refusal extends { readonly kind: 'refused' },
>(watching: Watching<Status, Refusal>): Promise<WatchEnd<Status, Refusal>> {
  const { look, isMeant = () => true, onChange, timeoutMs, clock, signal } = watching;
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  let told: string | undefined;
  for (;;) {
    const status = await look();
    if ('kind' in status) return status;
    const text = [
      status.phase,
      status.summary,
      ...status.outages.map(outageLine),
      ...status.notes,
    ].join('\n');
    if (text !== told) onChange(status);
    told = text;
    // Asked at each look: it remembers the first one.
    const isIt = isMeant(status, clock.monotonicMs());
    if (ENDS.has(status.phase) && isIt) return { kind: 'ended', status };
    if (signal.aborted) return { kind: 'interrupted', status };
    if (clock.monotonicMs() >= endsAtMs) return { kind: 'timed-out', status };
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

/** Nothing more comes of it by itself. */
const ENDS: ReadonlySet<RolloutPhase> = new Set<RolloutPhase>([
  'Done',
  'Halted',
  'Paused',
  'Returned',
  'Stopped',
  'Frozen',
  'Invalid',
]);

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
  const summary = `waits until the watcher reports generation ${String(awaited.generation)}`;
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
