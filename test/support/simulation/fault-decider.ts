/**
 * Decides at each opportunity of a fault whether it fires, as the plan says, and counts both.
 *
 * A decision depends on seed, fault and the number of the opportunity only: no fault shifts another one's dice. What
 * fired where is kept, so that a run can be repeated with exact opportunities instead of rates. A demanded fault that
 * did not fire by itself fires at its next opportunity once it is provoked (M1).
 */
import type { Deed, Fault } from './deeds.ts';
import { Dice, mixSeed } from './dice.ts';
import type { SimulationPlan } from './plan.ts';

export class FaultDecider {
  /** How often each deed happened. */
  readonly happened = new Map<Deed, number>();
  /** The opportunities at which each fault fired. */
  readonly firedAt = new Map<Fault, number[]>();
  /** True: faults are over. */
  isCalm = false;
  /** Demanded faults that fire as soon as they can. */
  readonly provoked = new Set<Deed>();
  readonly #plan: Pick<SimulationPlan, 'seed' | 'faults'>;
  readonly #note: (text: string) => void;
  readonly #opportunities = new Map<Fault, number>();

  constructor(plan: Pick<SimulationPlan, 'seed' | 'faults'>, note: (text: string) => void) {
    this.#plan = plan;
    this.#note = note;
  }

  /** True if the fault is to happen now. */
  fires(fault: Fault): boolean {
    return this.strike(fault) !== undefined;
  }

  /** Dice for the particulars of the fault if it is to happen now. */
  strike(fault: Fault): Dice | undefined {
    const rule = this.#plan.faults[fault];
    if (this.isCalm || (rule === undefined && !this.provoked.has(fault))) return undefined;
    const opportunity = (this.#opportunities.get(fault) ?? 0) + 1;
    this.#opportunities.set(fault, opportunity);
    const dice = new Dice(mixSeed(this.#plan.seed, fault, opportunity));
    const share = dice.draw();
    const isDue =
      rule !== undefined && ('at' in rule ? rule.at.includes(opportunity) : share < rule.rate);
    if (!isDue && !this.provoked.has(fault)) return undefined;
    this.provoked.delete(fault);
    this.firedAt.set(fault, [...(this.firedAt.get(fault) ?? []), opportunity]);
    this.#note(`fault ${fault} at opportunity ${opportunity}`);
    this.note(fault);
    return dice;
  }

  /** Counts something that happened. */
  note(deed: Deed): void {
    this.provoked.delete(deed);
    this.happened.set(deed, (this.happened.get(deed) ?? 0) + 1);
  }
}
