/**
 * One invocation of the function `fleet`, which may fail, die or stand still at any call that it makes.
 *
 * Whatever it awaits goes through here: a call may be refused before it has its effect, be unheard after it, or wait. A process that
 * died makes no call any more, and none of its answers arrive.
 */
import type { Dice } from '../simulation/dice.ts';

/** How often what happens, in shares of calls. */
export interface ProcessFaults {
  /** A read or write is refused, and nothing happened. */
  readonly refused: number;
  /** A write has its effect, and its answer is lost. */
  readonly unheard: number;
  readonly dies: number;
  readonly freezes: number;
}

/** None. */
export const NO_FAULTS: ProcessFaults = { refused: 0, unheard: 0, dies: 0, freezes: 0 };

class InjectedError extends Error {
  override readonly name = 'InjectedError';
}

/** Where a process waits, for how long. */
export type Sleeping = (durationMs: number, wake: () => void) => void;

const MINUTE_MS = 60_000;
/** What comes of them is a value. */
const NEVER_REJECTS: ReadonlySet<string> = new Set(['connect', 'getDaemonSet', 'applyDaemonSet']);

export class ModelProcess {
  readonly #dice: Dice;
  readonly #faults: ProcessFaults;
  readonly #sleep: Sleeping;
  /** How long it stood still: a monotonic clock may have stood with it. */
  frozenMs = 0;
  isDead = false;

  constructor(dice: Dice, faults: ProcessFaults, sleep: Sleeping) {
    this.#dice = dice;
    this.#faults = faults;
    this.#sleep = sleep;
  }

  /** The same object, as seen by this process. */
  through<T extends object>(target: T, onResult?: (operation: string, result: unknown) => void): T {
    return new Proxy(target, {
      get: (object, name, receiver): unknown => {
        const member: unknown = Reflect.get(object, name, receiver);
        if (typeof member !== 'function') return member;
        const operation = String(name);
        return (...given: readonly unknown[]): unknown =>
          this.#call(operation, () => Reflect.apply(member, object, given), onResult);
      },
    });
  }

  async #call(
    operation: string,
    apply: () => unknown,
    onResult?: (operation: string, result: unknown) => void,
  ): Promise<unknown> {
    await this.#before(operation);
    const result = await apply();
    onResult?.(operation, result);
    if (/^(write|remove)/.test(operation) && this.#dice.chance(this.#faults.unheard)) {
      throw new InjectedError(`the answer of ${operation} was lost`);
    }
    await this.#stayAlive();
    return result;
  }

  async #before(operation: string): Promise<void> {
    await this.#stayAlive();
    if (this.#dice.chance(this.#faults.freezes)) {
      const durationMs = this.#dice.between(1, 90) * MINUTE_MS;
      this.frozenMs += durationMs;
      await new Promise<void>((wake) => {
        this.#sleep(durationMs, wake);
      });
    }
    if (NEVER_REJECTS.has(operation)) return;
    if (this.#dice.chance(this.#faults.refused))
      throw new InjectedError(`${operation} was throttled`);
  }

  /** Never comes back once it is dead. */
  async #stayAlive(): Promise<void> {
    if (this.#dice.chance(this.#faults.dies)) this.isDead = true;
    if (this.isDead) await new Promise<never>(() => undefined);
  }
}
