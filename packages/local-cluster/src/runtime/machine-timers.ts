/**
 * The timers of one machine: they all end when the power goes.
 *
 * A wait that the power cuts short rejects with `Unavailable`, so that no caller waits for a machine that is off.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import { RuntimeError } from './cri.ts';

/** Timers of a machine. */
export interface MachineTimers {
  /** Calls back once, unless cancelled or the power goes. */
  after(delayMs: number, callback: () => void): Cancel;
  /** Resolves after the delay; rejects with RuntimeError `Unavailable` when the power goes. */
  wait(delayMs: number): Promise<void>;
  /** Ends them all, for good. */
  powerOff(): void;
  readonly isOff: () => boolean;
}

/** Makes the timers of a machine that has just been switched on. */
export function createMachineTimers(clock: Clock): MachineTimers {
  const pending = new Set<{ readonly cancel: Cancel; readonly cutShort?: () => void }>();
  let isOff = false;

  const start = (delayMs: number, callback: () => void, cutShort?: () => void): Cancel => {
    const cancelTimer = clock.after(delayMs, () => {
      pending.delete(timer);
      callback();
    });
    const timer = {
      cancel: cancelTimer,
      ...(cutShort === undefined ? {} : { cutShort }),
    };
    pending.add(timer);
    return () => {
      pending.delete(timer);
      cancelTimer();
    };
  };

  return {
    after: (delayMs, callback) => (isOff ? () => undefined : start(delayMs, callback)),
    wait: (delayMs) => {
      if (isOff) return Promise.reject(poweredOff());
      if (delayMs <= 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        start(delayMs, resolve, () => {
          reject(poweredOff());
        });
      });
    },
    powerOff: () => {
      isOff = true;
      const cut = [...pending];
      pending.clear();
      for (const { cancel, cutShort } of cut) {
        cancel();
        cutShort?.();
      }
    },
    isOff: () => isOff,
  };
}

/** What every verb of a machine without power answers. */
export function poweredOff(): RuntimeError {
  return new RuntimeError('Unavailable', 'rpc error: code = Unavailable desc = the machine is off');
}
