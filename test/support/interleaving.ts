/**
 * Two runs, one step at a time: every call that a run makes through its ports waits for its turn.
 *
 * A schedule says after how many calls to switch. With one preemption of each run (a up to i calls, b
 * up to j, a to its end, b to its end) all pairs (i, j) are few enough to try them all; most races of
 * two actors need no more switches than that.
 */
import type { ReconcileDependencies } from '../../src/app/reconcile/process/dependencies.ts';
import type { ClusterConnector } from '../../src/ports/cluster/cluster-access.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

/** Lets one run's calls through, one by one or all. */
export class Turnstile {
  #allowance = 0;
  #waiting: (() => void)[] = [];
  passed = 0;

  /** Waits for a turn. */
  pass(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#drain();
    });
  }

  /** Lets up to `count` calls through, then waits until the run stands still again. */
  async allow(count: number): Promise<void> {
    this.#allowance += count;
    for (let idle = 0; idle < 3; idle += 1) {
      const before = this.passed;
      this.#drain();
      await settle();
      if (this.passed !== before) idle = -1;
    }
    if (Number.isFinite(count)) this.#allowance = 0;
  }

  #drain(): void {
    while (this.#allowance > 0 && this.#waiting.length > 0) {
      this.#allowance -= 1;
      this.passed += 1;
      this.#waiting.shift()?.();
    }
  }
}

/** The same object, whose methods wait for their turn before they begin. */
function behind<T extends object>(target: T, turnstile: Turnstile): T {
  return new Proxy(target, {
    get: (object, property) => {
      const value: unknown = Reflect.get(object, property, object);
      if (typeof value !== 'function') return value;
      return async (...callArguments: readonly unknown[]) => {
        await turnstile.pass();
        return (value as (...all: readonly unknown[]) => unknown).apply(object, [...callArguments]);
      };
    },
  });
}

/** Dependencies whose stores, queue and cluster wait for their turn. */
export function gate(
  dependencies: ReconcileDependencies,
  turnstile: Turnstile,
): Partial<ReconcileDependencies> {
  const { connector } = dependencies;
  const gated: ClusterConnector = {
    connect: async (registration) => {
      await turnstile.pass();
      const answer = await connector.connect(registration);
      return answer.kind === 'connected'
        ? { kind: 'connected', access: behind(answer.access, turnstile) }
        : answer;
    },
    forget: (id) => {
      connector.forget(id);
    },
  };
  return {
    registry: behind(dependencies.registry, turnstile),
    view: behind(dependencies.view, turnstile),
    queue: behind(dependencies.queue, turnstile),
    connector: gated,
  };
}
