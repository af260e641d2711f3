/** Which faults a random schedule has, how often they fire, and all other dice of it. */
import { createSeededRandom } from '../../../src/local/aws/event-source-mapping/seeded-random.ts';
import type { Random } from '../../../src/ports/random.ts';

/** Every fault that a random schedule can have. */
export const FAULTS = [
  'drop-event',
  'drop-hint',
  'drop-timer',
  'copy',
  'keep',
  'kill',
  'freeze',
  'lose-answer',
  'stuck',
  'server-error',
  'read-error',
  'ambiguous-send',
  'watch-error',
  'admission',
  'failing-pods',
] as const;

/** One of them. */
export type Fault = (typeof FAULTS)[number];

/** Disturbances of which a schedule has one at most: they would drown each other. */
const RARE = ['restore', 'lose-view', 'dead-kubelet', 'orphans', 'none'] as const;

/** The dice of one schedule: each seed has its own mix of faults. */
export class FaultDice {
  readonly rare: (typeof RARE)[number];
  readonly fired = new Map<string, number>();
  /** True: no fault fires any more. */
  isCalm = false;
  readonly #random: Random;
  readonly #rates = new Map<Fault, number>();

  constructor(seed: number) {
    this.#random = createSeededRandom(seed * 7919 + 1);
    this.rare = this.pick(RARE);
    for (const fault of FAULTS) {
      if (this.chance(0.4)) this.#rates.set(fault, 0.02 + 0.2 * this.draw());
    }
  }

  /** True if the fault is to happen now; counts it. */
  fires(fault: Fault): boolean {
    const rate = this.#rates.get(fault);
    if (rate === undefined || this.isCalm || !this.chance(rate)) return false;
    this.note(fault);
    return true;
  }

  /** Counts something that happened. */
  note(what: string): void {
    this.fired.set(what, (this.fired.get(what) ?? 0) + 1);
  }

  draw(): number {
    return this.#random.next();
  }

  chance(share: number): boolean {
    return this.draw() < share;
  }

  /** A whole number within bounds. */
  between(least: number, most: number): number {
    return Math.round(least + (most - least) * this.draw());
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.draw() * choices.length)] as T; // an index in range
  }
}
