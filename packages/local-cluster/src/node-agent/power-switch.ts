/**
 * The agent's clock and client behind one switch: when it is off, no timer fires and nothing is written any more.
 *
 * That is how a machine loses power in the middle of anything: whatever was under way meets refusals and stops. After
 * `stop` only the timers are dead, so that writes which have begun can finish.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Status } from '../api/request/api-request.ts';
import type { ClientOutcome, LocalClient } from '../client/local-client.ts';

/** Clock and client of one agent. */
export interface PowerSwitch {
  readonly clock: Clock;
  readonly client: LocalClient;
  /** Cancels all timers; sleeps end only when they are aborted, later timers never fire. */
  readonly stopTimers: () => void;
  /** Stops timers and refuses every request from now on. */
  readonly cutPower: () => void;
}

const NO_POWER: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'ServiceUnavailable',
  message: 'the machine has no power',
  code: 503,
};

/** Puts clock and client behind a switch that is on. */
export function createPowerSwitch(clock: Clock, client: LocalClient): PowerSwitch {
  const timers = createStoppableClock(clock);
  let isOn = true;
  return {
    clock: timers.clock,
    client: switchedClient(client, () => isOn),
    stopTimers: timers.stop,
    cutPower: () => {
      isOn = false;
      timers.stop();
    },
  };
}

function createStoppableClock(clock: Clock): { readonly clock: Clock; readonly stop: () => void } {
  const cancels = new Set<Cancel>();
  let isStopped = false;
  const after = (delayMs: number, callback: () => void): Cancel => {
    if (isStopped) return () => undefined;
    const cancelTimer = clock.after(delayMs, () => {
      cancels.delete(cancel);
      callback();
    });
    const cancel = (): void => {
      cancels.delete(cancel);
      cancelTimer();
    };
    cancels.add(cancel);
    return cancel;
  };
  const sleep = (delayMs: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const finish = (): void => {
        cancel();
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const cancel = after(delayMs, finish);
      signal?.addEventListener('abort', finish);
    });
  return {
    clock: { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs(), after, sleep },
    stop: () => {
      isStopped = true;
      for (const cancel of [...cancels]) cancel();
    },
  };
}

function switchedClient(client: LocalClient, isOn: () => boolean): LocalClient {
  const unless = (send: () => Promise<ClientOutcome>): Promise<ClientOutcome> =>
    isOn() ? send() : Promise.resolve({ kind: 'refused', status: NO_POWER });
  return {
    get: (ref) => unless(() => client.get(ref)),
    list: (selection) => (isOn() ? client.list(selection) : Promise.resolve([])),
    create: (resource, object) => unless(() => client.create(resource, object)),
    update: (ref, object) => unless(() => client.update(ref, object)),
    updateStatus: (ref, object) => unless(() => client.updateStatus(ref, object)),
    patch: (ref, patch) => unless(() => client.patch(ref, patch)),
    delete: (ref, options) => unless(() => client.delete(ref, options)),
    act: (ref, subresource, body) => unless(() => client.act(ref, subresource, body)),
    observe: (selection, onChange) => client.observe(selection, onChange),
  };
}
