/**
 * When the outbox is flushed (ADR 0079): urgent changes at once, others together, a heartbeat when nothing changes.
 *
 *   urgent      after 5 ms, for one of four tokens; a token comes back in two intervals
 *   awaited     after 5 ms, and a tenth of what the flush before would make others wait: nodes start up
 *   all others  once they waited as long as their priority says, and an interval after the flush before
 *   nothing     a heartbeat each 30 s while a rollout runs, because its deletes need a cluster heard of lately; else each 13 minutes
 *
 * A flush takes along whatever waits. Urgent changes without a token go like all others. What each rule is worth, on 1,000 nodes: tokens
 * make a join beside a rollout 25 % faster, calm waits halve the write units of a create, intervals that follow what was written save
 * two thirds of those of three rollouts at once (ADR 0079). Pure; times are monotonic.
 */
import type { ChangePriority } from './change-priority.ts';

/** Bounds of the schedule. */
export interface FlushOptions {
  /** How long a change waits for others that go with it. */
  readonly waitMs: Readonly<Record<ChangePriority, number>>;
  /** Between two flushes, at least: longer after one that makes `ingest` write much anew. */
  readonly intervalMs: number;
  readonly intervalMsMax: number;
  readonly intervalMsPerSlice: number;
  readonly intervalMsPerObject: number;
  readonly urgentTokensMax: number;
}

/** How long nothing may be heard of a watcher. */
export interface HeartbeatOptions {
  readonly rolloutMs: number;
  readonly idleMs: number;
}

/** Slices and objects that a flush makes `ingest` write anew: it packs each slice that a change touches as a whole. */
export interface FlushWidth {
  readonly slices: number;
  /** That stand in these slices. */
  readonly objects: number;
}

/** Intervals in which one urgent flush more is allowed. */
const INTERVALS_PER_TOKEN = 2;

/**
 * An awaited change goes so many times as often. A flush of ten DaemonSets on 1,000 nodes keeps `ingest` busy for a 23rd of the work
 * that its interval counts (1,024 MB, docs/scale.md): it keeps up.
 */
const AWAITED_FACTOR = 10;

/** The schedule of one epoch. */
export class FlushSchedule {
  readonly #flush: FlushOptions;
  readonly #heartbeat: HeartbeatOptions;
  /** When the first change that waits came, by priority. */
  readonly #sinceMs = new Map<ChangePriority, number>();
  #cutMs: number;
  #flushedMs = Number.NEGATIVE_INFINITY;
  #intervalMs: number;
  #awaitedIntervalMs: number;
  /** Tokens left at the last flush; fractions come back with time. */
  #tokens: number;

  constructor(
    options: { readonly flush: FlushOptions; readonly heartbeat: HeartbeatOptions },
    nowMs: number,
  ) {
    this.#flush = options.flush;
    this.#heartbeat = options.heartbeat;
    this.#cutMs = nowMs;
    this.#intervalMs = options.flush.intervalMs;
    this.#awaitedIntervalMs = options.flush.intervalMs;
    this.#tokens = options.flush.urgentTokensMax;
  }

  /** A change waits. True if the flush is due earlier now. */
  note(priority: ChangePriority, nowMs: number): boolean {
    if (this.#sinceMs.has(priority)) return false;
    const beforeMs = this.#changesDueMs();
    this.#sinceMs.set(priority, nowMs);
    return this.#changesDueMs() < beforeMs;
  }

  /** When the next flush is due. */
  dueMs(hasRollout: boolean): number {
    const { rolloutMs, idleMs } = this.#heartbeat;
    return Math.min(this.#changesDueMs(), this.#cutMs + (hasRollout ? rolloutMs : idleMs));
  }

  /** All waiting changes are being sent, with marks as they stand now; without changes it touches nothing. */
  noteFlush(nowMs: number, { slices, objects }: FlushWidth): void {
    const { intervalMsPerSlice, intervalMsPerObject } = this.#flush;
    const isUrgent = this.#sinceMs.has('urgent');
    this.#sinceMs.clear();
    this.#cutMs = nowMs;
    if (slices === 0) return;
    this.#tokens = Math.max(0, this.#tokensAt(nowMs) - (isUrgent ? 1 : 0));
    this.#flushedMs = nowMs;
    const workMs = slices * intervalMsPerSlice + objects * intervalMsPerObject;
    this.#intervalMs = this.#bounded(workMs);
    this.#awaitedIntervalMs = this.#bounded(workMs / AWAITED_FACTOR);
  }

  #bounded(workMs: number): number {
    const { intervalMs, intervalMsMax } = this.#flush;
    return Math.min(intervalMsMax, Math.max(intervalMs, workMs));
  }

  #changesDueMs(): number {
    let waitedMs = Infinity;
    for (const [priority, sinceMs] of this.#sinceMs) {
      waitedMs = Math.min(waitedMs, sinceMs + this.#flush.waitMs[priority]);
    }
    return Math.min(
      this.#urgentDueMs(),
      this.#awaitedDueMs(),
      Math.max(waitedMs, this.#flushedMs + this.#intervalMs),
    );
  }

  #awaitedDueMs(): number {
    const sinceMs = this.#sinceMs.get('awaited');
    if (sinceMs === undefined) return Infinity;
    const { waitMs } = this.#flush;
    return Math.max(sinceMs + waitMs.awaited, this.#flushedMs + this.#awaitedIntervalMs);
  }

  #urgentDueMs(): number {
    const sinceMs = this.#sinceMs.get('urgent');
    if (sinceMs === undefined) return Infinity;
    const missing = Math.max(0, 1 - this.#tokens);
    const tokenMs = missing === 0 ? sinceMs : this.#flushedMs + missing * this.#tokenEveryMs;
    return Math.max(sinceMs + this.#flush.waitMs.urgent, tokenMs);
  }

  #tokensAt(nowMs: number): number {
    const back = (nowMs - this.#flushedMs) / this.#tokenEveryMs;
    return Math.min(this.#flush.urgentTokensMax, this.#tokens + back);
  }

  get #tokenEveryMs(): number {
    return INTERVALS_PER_TOKEN * this.#intervalMs;
  }
}
