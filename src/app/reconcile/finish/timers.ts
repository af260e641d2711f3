/**
 * The one place that schedules looks for a key (protocol 11, 12, L5; ADR 0031): what is on its way and near enough is kept.
 *
 * The expiry of a memo is recorded alone: `resync` finds due times that passed (ADR 0034). A timer counts as on its way until
 * its due time, unless this run's hint may have been that very one, which may come early: then a near one is sent once more.
 */
import { defined } from '@rollcall/base/defined.ts';
import { findPendingLook, pendingLooks, rememberLooks } from '../../../core/hints/looks.ts';
import type { WantedLook } from '../../../core/hints/looks.ts';
import { HINT_SCHEMA } from '../../../core/model/hint.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import { jittered as varied } from '@rollcall/base/ports/random.ts';
import type { RetryClock } from '../../../core/retry/retry.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import type { EndContext, RunContext } from '../run/context.ts';
import { RESEND_WITHIN_MS } from '../read/skip.ts';

/** What waits are computed with; no key comes again while its API server wants to be left alone. */
export function retryClock(
  { dependencies, gate }: Pick<RunContext, 'dependencies' | 'gate'>,
  nowMs: number,
): RetryClock {
  const { random, clock } = dependencies;
  const { askedMs } = gate;
  return {
    nowMs,
    askedMs: askedMs === 0 ? 0 : clock.nowMs() + askedMs - nowMs,
    jittered: (delayMs, share) => varied(random, delayMs, share),
  };
}

/** Members of the state that say when to look again, and which timers say so. */
export type DueTimes = Pick<
  DaemonSetState,
  'dueAtMs' | 'expiryAtMs' | 'dueSentAtMs' | 'timersSentAtMs'
>;

type Scheduled = DueTimes & { readonly dueAtMs: number };

/** Looks after a Retry-After are spread over this long by key, and come on a second: hints want the same moment again. */
const ASKED_SPREAD_MS = 2_000;
const SECOND_MS = 1_000;

/** A kept expiry is at least this share of a memo's life away. */
const EXPIRY_KEPT_SHARE = 1 / 3;
/** Ends of memos' lives that clusters are spread over. */
const EXPIRY_PARTS = 1_000;

/** What sends a key's timers. */
type TimerContext = Pick<EndContext, 'hint' | 'gate' | 'dependencies'>;

/** The state that says which timers are on their way. */
export interface LookInput {
  readonly state: DueTimes;
  readonly nowMs: number;
}

/** Sees to a look at about that time; answers when it will be, and what is to be recorded of it. */
export async function scheduleLook(
  wanted: WantedLook,
  { state, nowMs }: LookInput,
  context: TimerContext,
): Promise<Scheduled> {
  const atMs = Math.ceil(Math.max(wanted.atMs, leftAloneUntilMs(context)));
  const pending = pendingLooks(state, nowMs);
  const kept = findPendingLook(pending, { ...wanted, atMs, nowMs });
  const dueAtMs = kept ?? atMs;
  if (kept === undefined || mayBeGone(context, kept, nowMs)) await sendTimer(context, dueAtMs);
  return { dueAtMs, dueSentAtMs: dueAtMs, ...remembered(rememberLooks(pending, dueAtMs)) };
}

/** The due time after a run that went through, and when its memo expires; `nearAtMs`: the earliest need to look. */
export async function scheduleNext(
  nearAtMs: number | undefined,
  input: LookInput,
  context: TimerContext,
): Promise<Scheduled> {
  const { memoLifeMs } = context.dependencies.options;
  const { state, nowMs } = input;
  const kept = keptExpiry(state, { nowMs, memoLifeMs });
  const expiryAtMs = kept ?? nowMs + Math.round(memoLifeMs * lifeShare(context));
  if (nearAtMs === undefined || nearAtMs >= expiryAtMs) {
    const sent = defined({ dueSentAtMs: state.dueSentAtMs });
    return { dueAtMs: expiryAtMs, expiryAtMs, ...sent, ...remembered(pendingLooks(state, nowMs)) };
  }
  const wanted = { atMs: nearAtMs, waitsFor: 'moment' } as const;
  return { ...(await scheduleLook(wanted, input, context)), expiryAtMs };
}

/**
 * Until when a look would be refused: an API server that answered 429 said when to come again, and that holds for all
 * requests, also for looks that are wanted sooner. Keys are spread over a short time after it.
 */
function leftAloneUntilMs({ gate, hint, dependencies }: TimerContext): number {
  const { clock } = dependencies;
  const { askedMs } = gate;
  if (askedMs === 0) return 0;
  const spreadMs = hash48(formatKey(hint.key)) % ASKED_SPREAD_MS;
  return Math.ceil((clock.nowMs() + askedMs + spreadMs) / SECOND_MS) * SECOND_MS;
}

/**
 * Of a memo's life: clusters are spread over a fifth of it. The keys of one are not, since those that ran together are found
 * together when it is over, and their hints travel together.
 */
function lifeShare({ hint }: TimerContext): number {
  return 0.8 + (0.2 * (hash48(hint.key.cluster) % EXPIRY_PARTS)) / EXPIRY_PARTS;
}

/** The expiry that is recorded, while it is far enough away. */
function keptExpiry(
  { expiryAtMs }: DueTimes,
  { nowMs, memoLifeMs }: { readonly nowMs: number; readonly memoLifeMs: number },
): number | undefined {
  if (expiryAtMs === undefined || expiryAtMs > nowMs + memoLifeMs) return undefined;
  return expiryAtMs < nowMs + memoLifeMs * EXPIRY_KEPT_SHARE ? undefined : expiryAtMs;
}

function remembered(pending: readonly number[]): Pick<DueTimes, 'timersSentAtMs'> {
  return pending.length === 0 ? {} : { timersSentAtMs: pending };
}

/** Once more, if the timer of a look that stands may be gone. */
export async function keepLook(
  dueAtMs: number,
  context: TimerContext,
  nowMs: number,
): Promise<void> {
  if (mayBeGone(context, dueAtMs, nowMs)) await sendTimer(context, dueAtMs);
}

/** A look that nothing can record: only this process knows that one is on its way. Answers when it is. */
export async function scheduleUnrecorded(delayMs: number, context: TimerContext): Promise<number> {
  const { clock, cache } = context.dependencies;
  const key = formatKey(context.hint.key);
  const nowMs = clock.nowMs();
  const monotonicMs = clock.monotonicMs();
  const afterMs = Math.max(delayMs, leftAloneUntilMs(context) - nowMs);
  const waitingMs = cache.resends.unrecordedWithin(key, { monotonicMs, delayMs: afterMs });
  if (waitingMs !== undefined) return nowMs + waitingMs;
  await sendTimer(context, nowMs + afterMs);
  cache.resends.noteUnrecorded(key, monotonicMs + afterMs);
  return nowMs + afterMs;
}

/** Whether the hint of this run may have been the timer of that look. */
function mayBeGone(context: TimerContext, dueAtMs: number, nowMs: number): boolean {
  if (context.hint.reason !== 'due' || dueAtMs - nowMs > RESEND_WITHIN_MS) return false;
  const { cache, clock } = context.dependencies;
  return cache.resends.take(formatKey(context.hint.key), dueAtMs, clock.monotonicMs());
}

/** Puts a timer for this key on the delay queue; rejects when the queue does not take it. */
async function sendTimer({ hint, dependencies }: TimerContext, dueAtMs: number): Promise<void> {
  const { queue, random, cache, clock } = dependencies;
  const timerId = random.uniqueId();
  const again = { ...hint, reason: 'retry' } as const;
  await queue.sendTimers([{ schema: HINT_SCHEMA, hint: again, timerId, dueAtMs, hops: 0 }]);
  cache.resends.note(formatKey(hint.key), dueAtMs, clock.monotonicMs());
}
