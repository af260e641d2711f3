/**
 * Performs a plan: the lanes side by side, faults on the same thing one after the other.
 *
 * A fault that throws has not fired; the others go on, so that one run tells as much as it can.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FAULTS, type FaultContext, type FaultResult, type Target } from './faults.ts';
import type { PlannedFault } from './plan.ts';

export interface PerformedFault extends FaultResult {
  readonly planned: PlannedFault;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

/** Performs all; resolves when the last one is healed. */
export async function performPlan(
  plan: readonly PlannedFault[],
  context: FaultContext,
  onPerformed: (fault: PerformedFault) => void,
): Promise<readonly PerformedFault[]> {
  const locks = new Locks();
  const performed: PerformedFault[] = [];
  const lane = async (number: number): Promise<void> => {
    for (const planned of plan.filter((fault) => fault.lane === number)) {
      await delay(planned.gapMs);
      const release = await locks.acquire(FAULTS[planned.kind].targets);
      const beganAtMs = Date.now();
      const result = await performOne(planned, context);
      release();
      const fault = { ...result, planned, beganAtMs, endedAtMs: Date.now() };
      performed.push(fault);
      onPerformed(fault);
    }
  };
  await Promise.all([lane(0), lane(1)]);
  return performed;
}

async function performOne(planned: PlannedFault, context: FaultContext): Promise<FaultResult> {
  try {
    return await FAULTS[planned.kind].perform(context, planned);
  } catch (error) {
    const evidence = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { hasFired: false, evidence };
  }
}

/** All targets at once or none: two lanes cannot wait for each other. */
class Locks {
  readonly #held = new Set<Target>();
  #waiting: (() => void)[] = [];

  async acquire(targets: readonly Target[]): Promise<() => void> {
    while (targets.some((target) => this.#held.has(target))) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    for (const target of targets) this.#held.add(target);
    return () => {
      for (const target of targets) this.#held.delete(target);
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    };
  }
}
