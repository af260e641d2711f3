/**
 * When the next message is due although nothing changed (design 2).
 *
 * A cut (any message that carries marks) is what a heartbeat would have said. Within a second when an
 * event of a DaemonSet or of its pods was filtered away: a run may be waiting for the mark to pass its
 * own write (faults row 91). Every 30 s while a rollout runs, because its deletes need a cluster that was
 * heard of lately. Else every 10 minutes. Pure: the caller brings the time.
 */

/** Bounds, in milliseconds. */
export interface HeartbeatOptions {
  readonly filteredMs: number;
  readonly rolloutMs: number;
  readonly idleMs: number;
}

/** The schedule of one epoch. */
export class HeartbeatSchedule {
  readonly #options: HeartbeatOptions;
  #lastCutMs: number;
  #filteredMs: number | undefined;

  constructor(options: HeartbeatOptions, nowMs: number) {
    this.#options = options;
    this.#lastCutMs = nowMs;
  }

  /** An event that somebody may wait for moved a mark, and nothing else. True if it is the first one. */
  noteFiltered(nowMs: number): boolean {
    if (this.#filteredMs !== undefined) return false;
    this.#filteredMs = nowMs;
    return true;
  }

  /** Marks as they stand now are being sent. */
  noteCut(nowMs: number): void {
    this.#lastCutMs = nowMs;
    this.#filteredMs = undefined;
  }

  /** Monotonic time at which a heartbeat is due. */
  dueMs(hasRollout: boolean): number {
    const { filteredMs, rolloutMs, idleMs } = this.#options;
    const regularMs = this.#lastCutMs + (hasRollout ? rolloutMs : idleMs);
    if (this.#filteredMs === undefined) return regularMs;
    return Math.min(regularMs, this.#filteredMs + filteredMs);
  }
}
