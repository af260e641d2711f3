/**
 * Is a key left alone once nothing happens (L5)? Runs, timers and requests, counted from outside.
 *
 * Two measures. At any time: runs of one key that a timer caused in one minute, because looks are one chain of at most
 * one a second, whoever else makes the key look. And over a stretch in which the world is quiet: runs and requests of
 * each key, and timers that are left at its end. It knows nothing of how looks are scheduled.
 */
import type { HintReason } from '../../../src/core/model/hint.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** One chain of looks in a minute, one a second, with some to spare for copies and for moments that are known. */
const TIMED_RUNS_PER_MINUTE_MAX = 75;
const MINUTE_MS = 60_000;

/** Retry-After has whole seconds: a look may come so much earlier than what it says. */
const ASKED_EARLY_MS = 2000;

/** What one key may have in a quiet stretch of ten minutes: the heartbeat makes no key look, a late timer may. */
export const QUIET_STRETCH_MS = 600_000;
const QUIET_RUNS_MAX = 10;
const QUIET_REQUESTS_MAX = 4;
/** Timers that are left, for each key: the expiry of its memo, and what lost its record. */
const QUIET_TIMERS_MAX = 12;

/** Counts as they stand. */
export interface ActivityCounts {
  readonly runs: ReadonlyMap<string, number>;
  readonly requests: ReadonlyMap<string, number>;
}

/** Counts runs and requests by key. */
export class StabilityAudit {
  /** The most runs of one key that timers caused in one minute. */
  busiest = 0;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #runs = new Map<string, number>();
  readonly #requests = new Map<string, number>();
  /** When timers made a key run, within the last minute. */
  readonly #timed = new Map<string, number[]>();

  /** Until when a run was asked to stay away; monotonic. Each run has its own object of its key. */
  readonly #askedUntilMs = new WeakMap<object, number>();
  /** Due times of timers, by key: one that is sent again is the same look. */
  readonly #timers = new Map<string, Set<number>>();

  constructor(clock: Clock, report: (text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** A run of a key begins. A snapshot makes every key look: that is the heartbeat of some worlds. */
  noteRun(key: string, reason: HintReason): void {
    if (reason !== 'snapshot') raise(this.#runs, key);
    if (reason !== 'due') return;
    const nowMs = this.#clock.monotonicMs();
    const recent = (this.#timed.get(key) ?? []).filter((atMs) => nowMs - atMs < MINUTE_MS);
    recent.push(nowMs);
    this.#timed.set(key, recent);
    this.busiest = Math.max(this.busiest, recent.length);
    if (recent.length <= TIMED_RUNS_PER_MINUTE_MAX) return;
    this.#report(
      `L5: timers made ${key} run more than ${TIMED_RUNS_PER_MINUTE_MAX} times in a minute`,
    );
  }

  /** A request to the API server on behalf of a key. */
  noteRequest(key: string): void {
    raise(this.#requests, key);
  }

  /** The API server refused a request of the run of this key, and asks it to stay away for so long (429). */
  noteAsked(run: object, retryAfterMs: number): void {
    this.#askedUntilMs.set(run, this.#clock.monotonicMs() + retryAfterMs);
  }

  /** A run sends a timer: no look of its key is worth it before the API server wants to be asked again. */
  noteTimer(run: { readonly name: string }, dueAtMs: number): void {
    const key = run.name;
    const sent = this.#timers.get(key) ?? new Set();
    this.#timers.set(key, sent);
    const untilMs = this.#askedUntilMs.get(run);
    if (sent.has(dueAtMs)) return;
    sent.add(dueAtMs);
    if (untilMs === undefined) return;
    const inMs = Math.max(0, dueAtMs - this.#clock.nowMs());
    const earlyMs = untilMs - this.#clock.monotonicMs() - inMs;
    if (earlyMs <= ASKED_EARLY_MS) return;
    this.#report(`L5: a look of ${key} is due ${earlyMs} ms before the API server asked for it`);
  }

  /** Where the counts stand now. */
  get counts(): ActivityCounts {
    return { runs: new Map(this.#runs), requests: new Map(this.#requests) };
  }

  /** What was too much since then, in a stretch in which nothing happened; empty if the promise holds. */
  findUnrest(since: ActivityCounts, timers: number): readonly string[] {
    const runs = without(this.#runs, since.runs);
    const requests = without(this.#requests, since.requests);
    return unrestOf({ runs, requests }, { timers, keys: this.#runs.size });
  }
}

/** What was too much in a stretch in which nothing happened, by what was counted in it, and the timers left for all keys. */
export function unrestOf(
  { runs, requests }: ActivityCounts,
  left: { readonly timers: number; readonly keys: number },
): readonly string[] {
  const found: string[] = [];
  for (const [key, count] of runs) {
    if (count > QUIET_RUNS_MAX) found.push(`${count} runs of ${key}`);
  }
  for (const [key, count] of requests) {
    if (count > QUIET_REQUESTS_MAX) found.push(`${count} requests for ${key}`);
  }
  if (left.timers > QUIET_TIMERS_MAX * Math.max(1, left.keys)) {
    found.push(`${left.timers} timers are left`);
  }
  return found;
}

function without(
  counts: ReadonlyMap<string, number>,
  since: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  return new Map([...counts].map(([key, count]) => [key, count - (since.get(key) ?? 0)]));
}

function raise(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
