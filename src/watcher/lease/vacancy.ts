/**
 * When a Lease may be taken by somebody who stands by, and what it is held by.
 *
 * Its holder gave it back, has not renewed it for its duration, or it is allowed at once (`mayTake`). Told by reading it
 * again and again, by this process's own monotonic clock.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { leaseFacts } from './lease-object.ts';
import type { LeaseFacts } from './lease-object.ts';

/** Bounds of a Lease, in milliseconds. */
export interface LeaseOptions {
  /**
   * What it does at its start while another watcher holds the Lease: takes it if it is of the same installation, stands by,
   * or takes it from whoever holds it.
   */
  readonly start: 'take' | 'stand-by' | 'take-from-any';
  /** Name of the installation that it belongs to, as the Lease tells it; absent: it names none. */
  readonly installation?: string;
  /** Pulse of a Lease that was judged free before the start: it need not stand still once more. */
  readonly free?: string;
  readonly renewMs: number;
  /** A holder that did not renew for so long is gone. */
  readonly durationMs: number;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
}

interface VacancyTerms {
  readonly clock: Clock;
  readonly durationMs: number;
  /** Whether it may be taken as it was read; `isWaiting`: it was read before, and could not be. */
  readonly mayTake: (facts: LeaseFacts, isWaiting: boolean) => boolean;
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

  /** True once a Lease was read that could not be taken. */
  get isWaiting(): boolean {
    return this.#pulse !== undefined;
  }

  /** Whether the Lease, as it was read now, may be taken. */
  isFree(lease: KubernetesObject | undefined): boolean {
    if (lease === undefined) return true;
    const { clock, durationMs, mayTake, onStill, onWaiting } = this.#terms;
    const facts = leaseFacts(lease);
    if (mayTake(facts, this.isWaiting)) return true;
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
