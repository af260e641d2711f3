/**
 * Figures of a watcher as they stand, for `/metrics`; docs/reference/metrics.md lists them.
 *
 * Counts on the way (sends, bytes, heartbeats, stream ends) come from the Metrics port instead.
 */
import { WATCHED_KINDS } from '../../core/model/projections.ts';
import type { Reading } from '../../ports/process.ts';
import type { Health } from './health.ts';
import type { VitalSigns } from './vitals.ts';
import type { WatcherStatus } from '../session/watcher.ts';

const STATES = ['starting', 'standby', 'running', 'stopped'] as const;

/** Reads a watcher; `nowMs` is monotonic. What is not known has no reading. */
export function watcherReadings(
  watcher: {
    readonly signs: VitalSigns;
    readonly status: WatcherStatus;
    readonly health: Health;
  },
  nowMs: number,
): readonly Reading[] {
  const { signs, status, health } = watcher;
  const ageOf = (atMs: number | undefined): number | undefined =>
    atMs === undefined ? undefined : (nowMs - atMs) / 1000;
  // Resource versions are decimal; beyond 2^53 the gauge is rounded, and still grows.
  const epoch = status.epoch === undefined ? undefined : Number(status.epoch);
  const [leaseAge, acceptedAge] = [ageOf(signs.leaseMs), ageOf(signs.acceptedMs)];
  return [
    ...gauge('live', 'Nothing is wrong that a restart could mend (/livez).', one(health.notLive)),
    ...gauge('ready', 'It watches and sends, or stands by (/readyz).', one(health.notReady)),
    ...STATES.flatMap((state) =>
      gauge('state', 'What it does; standby: another watcher holds the Lease.', {
        value: status.state === state ? 1 : 0,
        labels: { state },
      }),
    ),
    ...gauge('epoch', 'Its epoch: the version with which it took the Lease.', epoch),
    ...gauge('lease_age_seconds', 'Since the Lease was last read or written.', leaseAge),
    ...gauge('accepted_age_seconds', 'Since the queue last took a message.', acceptedAge),
    ...gauge(
      'sends_failing_seconds',
      'For how long every send has failed; 0 if the last one did not.',
      ageOf(signs.refusedSends?.sinceMs) ?? 0,
    ),
    ...sessionReadings(status),
    ...WATCHED_KINDS.flatMap((kind) => {
      const stream = signs.streams[kind];
      const labels = { kind };
      return [
        ...gauge('stream_age_seconds', 'Since bytes of this kind last came.', {
          value: ageOf(stream?.heardMs),
          labels,
        }),
        {
          name: 'rollcall_watcher_lists_total',
          help: 'Lists begun, paged or as initial events.',
          type: 'counter' as const,
          value: stream?.listCount ?? 0,
          labels,
        },
      ];
    }),
  ];
}

function sessionReadings({ session }: WatcherStatus): readonly Reading[] {
  if (session === undefined) return [];
  return [
    ...gauge('sequence', 'Number of the last message of this epoch.', session.seq),
    ...gauge('outbox_objects', 'Objects whose newest state was not sent yet.', session.waiting),
    ...gauge('slices', 'Slices of each set in the last snapshot.', session.sliceCount),
    ...WATCHED_KINDS.flatMap((kind) =>
      gauge('objects', 'Objects that are kept.', {
        value: session.objects[kind],
        labels: { kind },
      }),
    ),
  ];
}

type Value =
  | number
  | undefined
  | { readonly value: number | undefined; readonly labels: Readonly<Record<string, string>> };

function gauge(name: string, help: string, given: Value): readonly Reading[] {
  const { value, labels } = typeof given === 'object' ? given : { value: given, labels: undefined };
  if (value === undefined) return [];
  const base = { name: `rollcall_watcher_${name}`, help, type: 'gauge' as const, value };
  return [labels === undefined ? base : { ...base, labels }];
}

function one(problems: readonly string[]): number {
  return problems.length === 0 ? 1 : 0;
}
