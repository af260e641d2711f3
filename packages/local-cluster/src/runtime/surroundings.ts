/**
 * What a simulated container does to its surroundings while it runs: it kills the machine under it, or makes the API
 * server of its cluster slower (docs/try-it.md).
 *
 * What it loads ends with the container, however it ends, the machine's power included. The machine's owner cuts the power:
 * a runtime cannot. Times are on the machine's timers, so nothing comes from a machine that is off.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { isAffected } from './container-life.ts';
import type { ContainerRecord } from './container-life.ts';
import type { MachineTimers } from './machine-timers.ts';

/** How much later the API server of a cluster answers, as its containers ask. One for a cluster. */
export interface ApiLoad {
  /** Adds so much; the answer takes it away again, once. */
  readonly add: (delayMs: number) => Cancel;
  /** All that is asked for now. */
  readonly delayMs: () => number;
}

/** Makes one without load. */
export function createApiLoad(): ApiLoad {
  let totalMs = 0;
  return {
    add: (delayMs) => {
      let askedMs = delayMs;
      totalMs += askedMs;
      return () => {
        totalMs -= askedMs;
        askedMs = 0;
      };
    },
    delayMs: () => totalMs,
  };
}

/** Around a machine. */
export interface Surroundings {
  /** Version of the machine's kernel. */
  readonly kernel: string;
  readonly apiLoad?: ApiLoad;
  /** Its kernel panicked. Called once at most; must not throw. */
  readonly onPanic?: () => void;
}

/** A container that has just started does what it asked for. */
export function touchSurroundings(
  record: ContainerRecord,
  { kernel, apiLoad, onPanic }: Surroundings,
  timers: MachineTimers,
): void {
  const { simulation, snapshot, onEnd } = record;
  if (snapshot.state !== 'running' || !isAffected(record)) return;
  const { panic, apiLoadMs } = simulation;
  if (apiLoadMs !== undefined && apiLoad !== undefined) onEnd.push(apiLoad.add(apiLoadMs));
  if (panic === undefined || onPanic === undefined) return;
  if (kernel !== panic.kernel && !kernel.startsWith(`${panic.kernel}.`)) return;
  record.timers.add(timers.after(panic.afterMs, onPanic));
}
