/**
 * When a Lease may be taken by somebody who stands by: its holder gave it back, has not renewed it for its duration, or it
 * is allowed at once (`mayTake`). Told by reading it again and again, by this process's own monotonic clock.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { leaseFacts } from './lease-object.ts';
import type { LeaseFacts } from './lease-object.ts';

interface VacancyTerms {
  readonly clock: Clock;
  readonly durationMs: number;
  /** Whether it may be taken as it was read. */
  readonly mayTake: (facts: LeaseFacts) => boolean;
  /** It has stood still for its duration. */
  readonly onStill: (facts: LeaseFacts) => void;
  /** It may not be taken yet. */
  readonly onWaiting: (facts: LeaseFacts) => void;
}

/** Judges one Lease, read after read. */
export class Vacancy {
  readonly #terms: VacancyTerms;
  #pulse: string | undefined;
  #changedMs = 0;

  constructor(terms: VacancyTerms) {
    this.#terms = terms;
  }

  /** True once a Lease was read that may not be taken yet. */
  get isWaiting(): boolean {
    return this.#pulse !== undefined;
  }

  /** Whether the Lease, as it was read now, may be taken. */
  isFree(lease: KubernetesObject | undefined): boolean {
    if (lease === undefined) return true;
    const { clock, durationMs, mayTake, onStill, onWaiting } = this.#terms;
    const facts = leaseFacts(lease);
    if (mayTake(facts)) return true;
    if (facts.pulse !== this.#pulse) {
      this.#pulse = facts.pulse;
      this.#changedMs = clock.monotonicMs();
    }
    if (clock.monotonicMs() - this.#changedMs >= durationMs) {
      onStill(facts);
      return true;
    }
    onWaiting(facts);
    return false;
  }
}
