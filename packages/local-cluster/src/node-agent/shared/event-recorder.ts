/**
 * Writes core/v1 Events, as client-go's recorder does: the same thing again within ten minutes counts up the Event that
 * is there. Recording never fails and never waits: what cannot be written is dropped with a log line.
 * Differs from Kubernetes: similar events with different messages are not combined, and no source is held back.
 */
import { hash48 } from '@rollcall/base/hash48.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { LocalClient } from '../../client/local-client.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';

/** Writes an Event about a pod or the node; never fails, never waits. */
export type EventRecorder = (event: RecordedEvent) => void;

interface RecordedEvent {
  readonly about: ApiObject;
  /** fieldPath of the involved object, e.g. `spec.containers{agent}`. */
  readonly fieldPath?: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What an event recorder needs. */
export interface EventRecorderOptions {
  readonly client: LocalClient;
  /** E.g. `kubelet`, `default-scheduler`. */
  readonly component: string;
  /** The node's name; absent for parts that belong to no node. */
  readonly host?: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface KnownEvent {
  readonly name: string;
  readonly namespace: string;
  readonly count: number;
  readonly seenAtMs: number;
}

/** An Event is counted up for this long after it was last seen. */
const AGGREGATION_MS = 10 * 60_000;
/** Events that are remembered; old ones go first. */
const KNOWN_MAX = 512;
/** Waiting events beyond this are dropped (client-go's queue). */
const QUEUE_MAX = 1000;
const MESSAGE_LENGTH_MAX = 1024;
const NANOSECONDS = 1_000_000n;

/** Makes the recorder of one part of the cluster; its writes go out one after another, in order. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, log } = options;
  const known = new Map<string, KnownEvent>();
  const queue: RecordedEvent[] = [];
  let isDraining = false;
  // Recorders begin at different numbers, as two may write about one object.
  let madeCount = BigInt(hash48(`${options.component} ${options.host ?? ''}`));

  const write = async (event: RecordedEvent): Promise<void> => {
    const key = keyOf(event);
    const nowMs = clock.nowMs();
    const before = known.get(key);
    known.delete(key);
    if (before !== undefined && nowMs - before.seenAtMs < AGGREGATION_MS) {
      const count = before.count + 1;
      const { namespace, name } = before;
      const body = { count, lastTimestamp: formatTime(nowMs) };
      const ref = { resource: 'events', namespace, name } as const;
      const counted = await client.patch(ref, { type: 'strategic', body });
      if (counted.kind === 'ok') known.set(key, { ...before, count, seenAtMs: nowMs });
      if (counted.kind === 'ok') return;
      if (counted.status.reason !== 'NotFound') throw new Error(counted.status.message);
    }
    // Names of Events must differ: the time in nanoseconds, of which a clock has milliseconds.
    madeCount += 1n;
    const nanoseconds = BigInt(nowMs) * NANOSECONDS + (madeCount % NANOSECONDS);
    const made = await client.create('events', eventObject(event, options, nanoseconds));
    if (made.kind === 'refused') throw new Error(made.status.message);
    const { name, namespace = '' } = made.object.metadata;
    known.set(key, { name, namespace, count: 1, seenAtMs: nowMs });
    const [oldest] = known.keys();
    if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  };
  const drain = async (): Promise<void> => {
    isDraining = true;
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      try {
        await write(event);
      } catch (cause) {
        const about = { object: event.about.metadata.name, reason: event.reason };
        log.debug('event dropped', { ...about, because: String(cause) });
      }
    }
    isDraining = false;
  };
  return (event) => {
    if (queue.length >= QUEUE_MAX) return;
    const { about, type, reason, message } = event;
    log.debug('event', { object: about.metadata.name, type, reason, message });
    queue.push(event);
    if (!isDraining) void drain();
  };
}

function keyOf({ about, fieldPath, type, reason, message }: RecordedEvent): string {
  return [about.kind, about.metadata.uid, fieldPath ?? '', type, reason, message].join('\n');
}

function eventObject(
  { about, fieldPath, type, reason, message }: RecordedEvent,
  { component, host, clock }: EventRecorderOptions,
  nanoseconds: bigint,
): JsonObject {
  const { apiVersion, kind, metadata } = about;
  const { name, uid, namespace } = metadata;
  const at = formatTime(clock.nowMs());
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name}.${nanoseconds.toString(16)}`,
      namespace: namespace ?? 'default',
    },
    involvedObject: {
      apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid,
      ...(fieldPath === undefined ? {} : { fieldPath }),
    },
    reason,
    message: message.slice(0, MESSAGE_LENGTH_MAX),
    source: { component, ...(host === undefined ? {} : { host }) },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
    type,
    reportingComponent: component,
    reportingInstance: host ?? '',
  };
}
