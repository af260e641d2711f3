/**
 * Priority and fairness of a crowded API server: a flow is refused for seconds while others are served.
 *
 * A flow is a client: the functions of a stack, or a watcher. Each refusal says how long the flow is to stay away
 * (429 with Retry-After, in whole seconds), and means it: until then every request of the flow is refused, reads and
 * writes alike.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Fault } from './deeds.ts';
import type { FaultDecider } from './fault-decider.ts';

/** Retry-After of a kube-apiserver grows with what it had to refuse, up to half a minute. */
const REFUSED_MS = [1000, 30_000] as const;

export class Flow {
  readonly #clock: Clock;
  readonly #decider: FaultDecider;
  readonly #fault: Fault;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, decider: FaultDecider, fault: Fault) {
    this.#clock = clock;
    this.#decider = decider;
    this.#fault = fault;
  }

  /** Retry-After of the refusal of a request that arrives now, in milliseconds; undefined: it is served. */
  refusalMs(): number | undefined {
    if (this.#decider.isCalm) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#untilMs) {
      const dice = this.#decider.strike(this.#fault);
      if (dice === undefined) return undefined;
      this.#untilMs = nowMs + dice.between(...REFUSED_MS);
    }
    return Math.ceil((this.#untilMs - nowMs) / 1000) * 1000;
  }
}
