// Receivers that wait: a receive that finds nothing is parked until something can be delivered, or its time is up.
//
//   send, delete, visibility change ──▶ changed(queue) ──▶ the longest-waiting receivers are served, at once
//   visibility or delay ends ─────────▶ one timer per queue, armed only while a receiver waits
//
// Invariants: a receiver is served once or expires once, never both; a receiver whose connection is gone is removed
// before a message can be handed to it; there is no polling. Knows queues and a clock, no HTTP.
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { BrokerQueue } from './broker.ts';

/** A receiver that waits. */
export interface ParkedReceiver {
  /** Tries again; true if it was served and is done. */
  readonly attempt: () => boolean;
  /** Its time is up. */
  readonly expire: () => void;
  readonly waitMs: number;
}

interface Line {
  readonly receivers: Map<ParkedReceiver, Cancel>;
  wakeAtMs: number | undefined;
  cancelWake: Cancel | undefined;
}

/** The waiting receivers of all queues. */
export class LongPolls {
  readonly #clock: Clock;
  readonly #afterWake: () => void;
  readonly #lines = new Map<BrokerQueue, Line>();

  /** `afterWake` runs after receivers were served by a timer, outside of any request. */
  constructor(clock: Clock, afterWake: () => void) {
    this.#clock = clock;
    this.#afterWake = afterWake;
  }

  /** Parks a receiver; the result removes it without a word. */
  park(target: BrokerQueue, receiver: ParkedReceiver): Cancel {
    let line = this.#lines.get(target);
    if (line === undefined) {
      line = { receivers: new Map(), wakeAtMs: undefined, cancelWake: undefined };
      this.#lines.set(target, line);
    }
    const cancelExpiry = this.#clock.after(receiver.waitMs, () => {
      this.#remove(target, receiver);
      receiver.expire();
    });
    line.receivers.set(receiver, cancelExpiry);
    this.#arm(target, line);
    return () => {
      this.#remove(target, receiver);
    };
  }

  /** Serves waiting receivers as long as there is something to deliver. */
  changed(target: BrokerQueue): void {
    const line = this.#lines.get(target);
    if (line === undefined) return;
    for (const receiver of line.receivers.keys()) {
      if (!target.queue.hasVisible(this.#clock.nowMs())) break;
      if (receiver.attempt()) this.#remove(target, receiver);
    }
    if (this.#lines.has(target)) this.#arm(target, line);
  }

  /** Lets every receiver expire at once. */
  stop(): void {
    for (const [target, line] of this.#lines) {
      for (const receiver of line.receivers.keys()) {
        this.#remove(target, receiver);
        receiver.expire();
      }
    }
  }

  #remove(target: BrokerQueue, receiver: ParkedReceiver): void {
    const line = this.#lines.get(target);
    const cancelExpiry = line?.receivers.get(receiver);
    if (line === undefined || cancelExpiry === undefined) return;
    cancelExpiry();
    line.receivers.delete(receiver);
    if (line.receivers.size > 0) return;
    line.cancelWake?.();
    this.#lines.delete(target);
  }

  #arm(target: BrokerQueue, line: Line): void {
    const wakeAtMs = target.queue.nextWakeAtMs();
    if (wakeAtMs === line.wakeAtMs) return;
    line.cancelWake?.();
    line.wakeAtMs = wakeAtMs;
    line.cancelWake = undefined;
    if (wakeAtMs === undefined) return;
    // A timer may fire a moment early by the wall clock; at least a millisecond then passes before the next look.
    const delayMs = Math.max(1, wakeAtMs - this.#clock.nowMs());
    line.cancelWake = this.#clock.after(delayMs, () => {
      line.wakeAtMs = undefined;
      line.cancelWake = undefined;
      this.changed(target);
      this.#afterWake();
    });
  }
}
