/**
 * The gate in front of an invocation's ports: where it can be killed, frozen, and woken again.
 *
 * Every call of a gated port passes twice: before it takes effect and after it did. A killed
 * invocation's calls never return, as those of a process that is gone. A frozen one stands still at
 * its next passage until it is thawed; its own monotonic clock stands still meanwhile, as in a frozen
 * sandbox, so that it believes to have time left (spec faults rows 21, 30).
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** A passage of the gate. */
export interface Passage {
  readonly port: string;
  readonly operation: string;
  /** Counts passages of this invocation from 1. */
  readonly index: number;
  readonly moment: 'before' | 'after';
  readonly input: readonly unknown[];
  /** What the call answered; before it took effect there is nothing. */
  readonly output?: unknown;
}

/** What a test makes of a passage; a promise: the call takes until it is resolved. */
export type GateRule = (passage: Passage) => 'kill' | 'freeze' | Promise<void> | undefined;

export class Gate {
  rule: GateRule | undefined;
  isDead = false;
  #count = 0;
  #frozenSinceMs: number | undefined;
  #frozenMs = 0;
  #thaw: (() => void) | undefined;
  #thawed: Promise<void> = Promise.resolve();
  readonly #clock: Clock;
  readonly #onEnd: (how: 'killed' | 'frozen') => void;

  constructor(clock: Clock, onEnd: (how: 'killed' | 'frozen') => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get isFrozen(): boolean {
    return this.#frozenSinceMs !== undefined;
  }

  /** The process is gone: nothing it waits for will ever come. */
  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#onEnd('killed');
  }

  /** The sandbox stands still. */
  freeze(): void {
    if (this.isFrozen) return;
    this.#frozenSinceMs = this.#clock.monotonicMs();
    this.#thawed = new Promise((resolve) => {
      this.#thaw = resolve;
    });
    this.#onEnd('frozen');
  }

  /** It goes on as if nothing had happened. */
  thaw(): void {
    if (this.#frozenSinceMs === undefined) return;
    this.#frozenMs += this.#clock.monotonicMs() - this.#frozenSinceMs;
    this.#frozenSinceMs = undefined;
    this.#thaw?.();
  }

  /** A time on the clock of this invocation, told on everybody else's. */
  outsideMs(ownMs: number): number {
    return ownMs + this.#frozenMs;
  }

  /** The clock of this invocation: its monotonic part stands still while it is frozen. */
  clock(): Clock {
    const clock = this.#clock;
    const frozenMs = (): number =>
      this.#frozenMs +
      (this.#frozenSinceMs === undefined ? 0 : clock.monotonicMs() - this.#frozenSinceMs);
    return {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs() - frozenMs(),
      after: (delayMs, callback) => clock.after(delayMs, callback),
      sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
    };
  }

  /** A port whose calls pass this gate. */
  around<Port extends object>(name: string, port: Port): Port {
    return new Proxy(port, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property);
        if (typeof member !== 'function') return member;
        return async (...input: unknown[]): Promise<unknown> => {
          const operation = String(property);
          await this.#pass({ port: name, operation, moment: 'before', input });
          const result: unknown = await Reflect.apply(member, target, input);
          await this.#pass({ port: name, operation, moment: 'after', input, output: result });
          return result;
        };
      },
    });
  }

  async #pass(passage: Omit<Passage, 'index'>): Promise<void> {
    if (this.isDead) return new Promise(() => undefined);
    this.#count += 1;
    const order = this.rule?.({ ...passage, index: this.#count });
    if (order === 'kill') this.kill();
    if (order === 'freeze') this.freeze();
    if (order instanceof Promise) await order;
    while (this.isFrozen) await this.#thawed;
    return this.isDead ? new Promise(() => undefined) : undefined;
  }
}
