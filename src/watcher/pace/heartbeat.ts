/**
 * When the next message is due although nothing changed (design 2).
 *
 * A cut (any message that carries marks) is what a heartbeat would have said. Within a second when an
 * event of a DaemonSet or of its pods was filtered away: a run may be waiting for the mark to pass its
 * own write (faults row 91), or when the status of a DaemonSet changed alone. Within five when a change only explains
 * (company.ts): neither starts a flush. What only accompanies sets no time at all. Every 30 s while a rollout runs,
 * because its deletes need a cluster that was heard of lately. Else every 13 minutes. Pure: the caller brings the time.
 */

/** Why something waits for the next cut: a run may be waiting to see it pass; it only explains; it says nothing new. */
export type WaitReason = 'awaited' | 'explains' | 'accompanies';

/** Bounds, in milliseconds. */
export interface HeartbeatOptions {
  readonly awaitedMs: number;
  readonly explainsMs: number;
  readonly rolloutMs: number;
  readonly idleMs: number;
}

/** The schedule of one epoch. */
export class HeartbeatSchedule {
  readonly #options: HeartbeatOptions;
  #lastCutMs: number;
  /** When what waits has waited long enough. */
  #waitingUntilMs: number | undefined;

  constructor(options: HeartbeatOptions, nowMs: number) {
    this.#options = options;
    this.#lastCutMs = nowMs;
  }

  /** Something waits for the next cut. True if that one is due earlier now. */
  noteWaiting(nowMs: number, reason: WaitReason): boolean {
    if (reason === 'accompanies') return false;
    const untilMs = nowMs + this.#options[`${reason}Ms`];
    if (this.#waitingUntilMs !== undefined && this.#waitingUntilMs <= untilMs) return false;
    this.#waitingUntilMs = untilMs;
    return true;
  }

  /** Marks as they stand now are being sent. */
  noteCut(nowMs: number): void {
    this.#lastCutMs = nowMs;
    this.#waitingUntilMs = undefined;
  }

  /** Monotonic time at which a heartbeat is due. */
  dueMs(hasRollout: boolean): number {
    const { rolloutMs, idleMs } = this.#options;
    const regularMs = this.#lastCutMs + (hasRollout ? rolloutMs : idleMs);
    return Math.min(regularMs, this.#waitingUntilMs ?? regularMs);
  }
}
