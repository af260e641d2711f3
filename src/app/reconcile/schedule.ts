/**
 * When the next look is, and which timers say so (protocol 11, 12).
 *
 * A due time is sent first and recorded then; it is sent whenever it differs from the one recorded
 * as sent, and again when it is near. Every memo expires; one far timer serves several runs, so that
 * a busy key does not fill the delay queue with six-hour timers. Timer ids are unique.
 */
import { HINT_SCHEMA } from '../../core/model/hint.ts';
import { formatKey } from '../../core/model/identifiers.ts';
import type { Timer } from '../../core/model/hint.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import type { RunContext } from './context.ts';
import { RESEND_WITHIN_MS } from './skip.ts';

/** Members of the state that say when to look again. */
export type DueTimes = Required<Pick<DaemonSetState, 'dueAtMs' | 'expiryAtMs'>> &
  Pick<DaemonSetState, 'dueSentAtMs'>;

/** A kept expiry is at least this share of a memo's life away. */
const EXPIRY_KEPT_SHARE = 1 / 3;

/** Due times as they are to be recorded, and the timers to be sent before that. */
export interface Schedule {
  readonly due: DueTimes;
  readonly timersAtMs: readonly number[];
}

/** Decides due times and timers. `nearAtMs`: the earliest need to look, if there is one. */
export function planSchedule(input: {
  readonly state: DaemonSetState;
  readonly nowMs: number;
  readonly nearAtMs: number | undefined;
  readonly memoLifeMs: number;
  /** In [0, 1): spreads expiries. */
  readonly random: number;
}): Schedule {
  const { state, nowMs, memoLifeMs } = input;
  const timersAtMs: number[] = [];
  let { expiryAtMs } = state;
  const soonestExpiryMs = nowMs + memoLifeMs * EXPIRY_KEPT_SHARE;
  if (expiryAtMs === undefined || expiryAtMs < soonestExpiryMs || expiryAtMs > nowMs + memoLifeMs) {
    expiryAtMs = nowMs + Math.round(memoLifeMs * (0.8 + 0.2 * input.random));
    timersAtMs.push(expiryAtMs);
  }
  const near = input.nearAtMs === undefined ? undefined : Math.ceil(input.nearAtMs);
  if (near === undefined || near >= expiryAtMs) {
    const sent = state.dueSentAtMs;
    return {
      due: {
        dueAtMs: expiryAtMs,
        expiryAtMs,
        ...(sent === undefined ? {} : { dueSentAtMs: sent }),
      },
      timersAtMs,
    };
  }
  if (near !== state.dueSentAtMs || near - nowMs <= RESEND_WITHIN_MS) timersAtMs.push(near);
  return { due: { dueAtMs: near, expiryAtMs, dueSentAtMs: near }, timersAtMs };
}

/**
 * Whether a due time that is known to have been sent is to be sent once more now: when it is near, but
 * not by every hint that meets it (resends.ts).
 */
export function shouldRepeat(context: RunContext, dueAtMs: number, nowMs: number): boolean {
  if (dueAtMs - nowMs > RESEND_WITHIN_MS) return false;
  const { warmth, clock } = context.dependencies;
  return warmth.resends.take(formatKey(context.hint.key), dueAtMs, clock.monotonicMs());
}

/** Puts timers for this key on the delay queue; rejects when the queue does not take them. */
export async function sendTimers(
  context: RunContext,
  timersAtMs: readonly number[],
): Promise<void> {
  if (timersAtMs.length === 0) return;
  const { queue, random } = context.dependencies;
  const timers = timersAtMs.map((dueAtMs): Timer => ({
    schema: HINT_SCHEMA,
    hint: { ...context.hint, reason: 'retry' },
    timerId: random.uniqueId(),
    dueAtMs,
    hops: 0,
  }));
  await queue.sendTimers(timers);
}
