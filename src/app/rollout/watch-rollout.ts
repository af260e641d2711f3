/**
 * Looks at a rollout of a cluster, or of a fleet, again and again, until it is done, held, or the time is over.
 *
 * Each look is a few small reads; somebody is told only when what there is to say has changed. `Waiting` goes on: a window
 * opens, and somebody may approve. The time is bounded by the caller, and a look that rejects ends it.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { outageLine } from '../../core/status/outages.ts';
import type { Outage } from '../../core/status/outages.ts';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';

/** Between two looks, milliseconds. */
const LOOK_EVERY_MS = 2000;

/** What is looked at. */
export interface Watched {
  /** Those of one cluster are among them. */
  readonly phase: RolloutPhase;
  readonly summary: string;
  readonly outages: readonly Outage[];
  readonly notes: readonly string[];
}

/** How to watch. */
export interface Watching<Status extends Watched, Refusal extends { readonly kind: 'refused' }> {
  readonly look: () => Promise<Status | Refusal>;
  /** False of a look that is of another rollout than is meant, at a monotonic time (await-rollout.ts). Asked at each look; absent: all are. */
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
    if (isOver(status) && isIt) return { kind: 'ended', status };
    if (signal.aborted) return { kind: 'interrupted', status };
    if (clock.monotonicMs() >= endsAtMs) return { kind: 'timed-out', status };
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

const ENDS: readonly RolloutPhase[] = [
  ...(['Done', 'Halted', 'Paused', 'Returned', 'Stopped', 'Frozen', 'Invalid'] as const),
];

/** Nothing more comes of it by itself. */
function isOver({ phase }: Watched): boolean {
  return ENDS.includes(phase);
}
