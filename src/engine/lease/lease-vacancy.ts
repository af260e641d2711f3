/**
 * Does another Rollcall process look after this cluster? Told by the watcher's Lease (design 2).
 *
 * A holder renews it every few seconds; one that does not for the Lease's own duration is gone. That is
 * judged by watching, with this process's monotonic clock: times in the Lease are another machine's. A
 * Lease that stands still for so long also says for how long nothing was sent.
 */
import type { Transport } from '../../adapters/kubernetes/transport/transport.ts';
import { classifyRead } from '../../adapters/kubernetes/api/status-classifier.ts';
import { readObject } from '../../adapters/kubernetes/api/object-reader.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { LiveRead } from '../../ports/cluster/cluster-access.ts';
import { defined } from '@rollcall/base/defined.ts';
import { WATCHER_LEASE, leaseFacts } from '../../watcher/lease/lease-object.ts';

export interface LeaseHolder {
  readonly holder: string;
  /** Absent: the Lease names none. */
  readonly installation?: string;
  /** In the holder's words. */
  readonly acquiredAt: string;
  readonly renewedAt: string;
  readonly durationMs: number;
}

export type Vacancy =
  | {
      readonly kind: 'vacant';
      readonly quietForMs: number;
      /** Of the Lease as it was judged; absent: there is none. */
      readonly pulse?: string;
    }
  | ({ readonly kind: 'held' } & LeaseHolder)
  | { readonly kind: 'unreadable'; readonly message: string };

export interface VacancyWatch {
  readonly readLease: () => Promise<LiveRead<KubernetesObject>>;
  readonly clock: Clock;
  /** Whose Lease is vacant in any case: its own watcher takes it at once. */
  readonly installation?: string;
  /** Told once when there is a holder to be watched, with the longest that it takes. */
  readonly onWatching?: (limitMs: number) => void;
}

const POLL_MS = 1_000;
const UNKNOWN_TIME = 'an unknown time';
const DURATION_DEFAULT_MS = 40_000;

/** Watches the Lease until it is renewed, or has not been for its duration. */
export async function watchForVacancy(watch: VacancyWatch): Promise<Vacancy> {
  const { readLease, clock, installation, onWatching } = watch;
  const startedMs = clock.monotonicMs();
  let pulse: string | undefined;
  for (;;) {
    const read = await readLease();
    if (read.kind === 'unavailable') return { kind: 'unreadable', message: read.message };
    const quietForMs = clock.monotonicMs() - startedMs;
    if (read.kind === 'missing') return { kind: 'vacant', quietForMs };
    const facts = leaseFacts(read.object);
    const isOwn = installation !== undefined && facts.installation === installation;
    if (facts.holder === undefined || isOwn)
      return { kind: 'vacant', quietForMs, pulse: facts.pulse };
    if (pulse !== undefined && facts.pulse !== pulse) return heldBy(read.object);
    if (pulse === undefined) onWatching?.(durationMsOf(read.object));
    ({ pulse } = facts);
    if (quietForMs >= durationMsOf(read.object)) return { kind: 'vacant', quietForMs, pulse };
    await clock.sleep(POLL_MS);
  }
}

/** Reads the watcher's Lease with a person's credential. */
export async function readWatcherLease(transport: Transport): Promise<LiveRead<KubernetesObject>> {
  const { namespace, name } = WATCHER_LEASE;
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
  const answer = await transport.send({ method: 'GET', path });
  return classifyRead(answer, name, (body) => readObject(body, WATCHER_LEASE));
}

function heldBy(lease: KubernetesObject): Vacancy {
  const { renewTime } = specOf(lease);
  const { holder = '', installation, acquiredAt = UNKNOWN_TIME } = leaseFacts(lease);
  return {
    kind: 'held',
    holder,
    ...defined({ installation }),
    acquiredAt,
    renewedAt: typeof renewTime === 'string' ? renewTime : UNKNOWN_TIME,
    durationMs: durationMsOf(lease),
  };
}

/** Who holds it, since when, and when it would be free: for the person whose order is refused. */
export function describeHolder(held: LeaseHolder): string {
  const { installation, holder, acquiredAt, renewedAt, durationMs } = held;
  const who = installation ?? `one without a name (${holder})`;
  const renewedMs = Date.parse(renewedAt);
  const freeAt = Number.isNaN(renewedMs)
    ? UNKNOWN_TIME
    : new Date(renewedMs + durationMs).toISOString();
  return (
    `another installation of Rollcall, ${who}. It holds the Lease rollcall-system/rollcall-watcher since ` +
    `${acquiredAt} and renewed it at ${renewedAt}; if it stops now, the Lease is free at ${freeAt}.`
  );
}

function durationMsOf(lease: KubernetesObject): number {
  const { leaseDurationSeconds: seconds } = specOf(lease);
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : DURATION_DEFAULT_MS;
}

function specOf(lease: KubernetesObject): Readonly<Record<string, unknown>> {
  const { spec } = lease;
  return typeof spec === 'object' && spec !== null ? (spec as Record<string, unknown>) : {};
}
