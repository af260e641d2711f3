/**
 * What a watcher of an earlier release does otherwise, beside functions of this one (14 A.8).
 *
 * The watcher's code is the present one; what it says goes through these, which leave out what earlier releases did not know:
 * what travels beside a message (ADR 0032, ADR 0046), and renewals of the Lease that only grow (protocol 15).
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { EventQueue } from '../../../src/ports/queues/queue.ts';
import type { LeaseWrite } from '../../../src/ports/cluster/watch-source.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { SimulatedWatchSource } from './watch-source.ts';
import type { WatchFaults } from './watch-source.ts';

/** Which release a watcher is of. */
export type WatcherRelease = 'present' | 'previous';

/** The same queue; no message tells how old it is. */
export function withoutAges(queue: EventQueue): EventQueue {
  return { freeze: (message) => queue.freeze(message), send: (frozen) => queue.send(frozen) };
}

/** The way to an API server whose Lease is renewed by the wall clock as it stands, put back or not. */
export class PreviousWatchSource extends SimulatedWatchSource {
  readonly #clock: Clock;

  constructor(api: SimulatedApiServer, clock: Clock, faults: WatchFaults) {
    super(api, clock, faults);
    this.#clock = clock;
  }

  override writeLease(lease: KubernetesObject): Promise<LeaseWrite> {
    const spec = lease['spec'] as Readonly<Record<string, unknown>> | undefined;
    if (spec?.['renewTime'] === undefined) return super.writeLease(lease);
    const renewTime = new Date(this.#clock.nowMs()).toISOString().replace('Z', '000Z');
    return super.writeLease({ ...lease, spec: { ...spec, renewTime } });
  }
}
