/**
 * Looks at a rollout again and again, until it is done, held, or the time is over.
 *
 * Each look is a few small reads; somebody is told only when what there is to say has changed. `Waiting` goes on: a window
 * opens, and somebody may approve. The time is bounded by the caller, and a look that rejects ends it.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPhase } from '../../core/rollout/gate.ts';
import type { RolloutRefusal } from './refusals.ts';
import type { RolloutStatus } from './rollout-status.ts';

/** Between two looks, milliseconds. */
const LOOK_EVERY_MS = 2000;

/** How to watch. */
export interface Watching {
  readonly look: () => Promise<RolloutStatus | RolloutRefusal>;
  readonly onChange: (status: RolloutStatus) => void;
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly signal: AbortSignal;
}

/** How it ended: with the last look. */
export type WatchEnd =
  | { readonly kind: 'ended' | 'timed-out' | 'interrupted'; readonly status: RolloutStatus }
  /** The DaemonSet or its cluster went meanwhile. */
  | RolloutRefusal;

/** Watches. */
export async function watchRollout(watching: Watching): Promise<WatchEnd> {
  const { look, onChange, timeoutMs, clock, signal } = watching;
  const endsAtMs = clock.monotonicMs() + timeoutMs;
  let told: string | undefined;
  for (;;) {
    const status = await look();
    if ('kind' in status) return status;
    const text = [status.phase, status.summary, ...status.notes].join('\n');
    if (text !== told) onChange(status);
    told = text;
    if (isOver(status)) return { kind: 'ended', status };
    if (signal.aborted) return { kind: 'interrupted', status };
    if (clock.monotonicMs() >= endsAtMs) return { kind: 'timed-out', status };
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}

const ENDS: readonly RolloutPhase[] = ['Done', 'Halted', 'Paused', 'Returned'];

/** Nothing more comes of it by itself. */
function isOver({ phase }: RolloutStatus): boolean {
  return ENDS.includes(phase);
}
