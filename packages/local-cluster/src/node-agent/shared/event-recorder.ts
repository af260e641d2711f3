/**
 * Writes core/v1 Events, as client-go's recorder does: the same thing again within ten minutes counts up the Event that
 * is there instead of making a new one, and one object cannot fill the store.
 *
 * Recording never fails and never waits: what cannot be written is dropped with a log line. Writes of one recorder go
 * out one after another, in order. Differs from Kubernetes: similar events with different messages are not combined.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { LocalClient } from '../../client/local-client.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { EventRecorder } from './pod-runtime.ts';

/** What an event recorder needs. */
export interface EventRecorderOptions {
  readonly client: LocalClient;
  /** E.g. `kubelet`, `default-scheduler`. */
  readonly component: string;
  /** The node's name; '' for parts that belong to no node. */
  readonly host: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: Log;
}

type RecordedEvent = Parameters<EventRecorder>[0];

interface KnownEvent {
  readonly name: string;
  readonly namespace: string;
  readonly count: number;
  readonly seenAtMs: number;
}

interface Bucket {
  readonly tokens: number;
  readonly filledAtMs: number;
}

/** An Event is counted up for this long after it was last seen. */
const AGGREGATION_MS = 10 * 60_000;
/** One object may have this many events at once, and one more every five minutes (client-go's spam filter). */
const BURST_EVENTS = 25;
const REFILL_MS = 5 * 60_000;
/** Keys that are remembered; old ones go first. */
const KNOWN_MAX = 512;
/** Waiting events beyond this are dropped (client-go's queue). */
const QUEUE_MAX = 1000;
const MESSAGE_LENGTH_MAX = 1024;

/** Makes the recorder of one part of the cluster. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, log } = options;
  const known = new Map<string, KnownEvent>();
  const buckets = new Map<string, Bucket>();
  const queue: RecordedEvent[] = [];
  let isDraining = false;

  const write = async (event: RecordedEvent): Promise<void> => {
    const key = keyOf(event);
    const nowMs = clock.nowMs();
    const before = known.get(key);
    if (before !== undefined && nowMs - before.seenAtMs < AGGREGATION_MS) {
      const count = before.count + 1;
      const outcome = await client.patch(
        { resource: 'events', namespace: before.namespace, name: before.name },
        { type: 'strategic', body: { count, lastTimestamp: formatTime(nowMs) } },
      );
      if (outcome.kind === 'ok') {
        remember(known, key, { ...before, count, seenAtMs: nowMs });
        return;
      }
      if (outcome.status.reason !== 'NotFound') throw new Error(outcome.status.message);
    }
    const body = buildEvent(event, options);
    const outcome = await client.create('events', body);
    if (outcome.kind === 'refused') throw new Error(outcome.status.message);
    const { name, namespace = '' } = outcome.object.metadata;
    remember(known, key, { name, namespace, count: 1, seenAtMs: nowMs });
  };

  const drain = async (): Promise<void> => {
    isDraining = true;
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      try {
        await write(event);
      } catch (cause) {
        log?.debug('event dropped', { reason: event.reason, because: String(cause) });
      }
    }
    isDraining = false;
  };

  return (event) => {
    if (queue.length >= QUEUE_MAX || !takeToken(buckets, event.about.metadata.uid, clock.nowMs())) {
      log?.debug('event dropped', { reason: event.reason, because: 'too many' });
      return;
    }
    log?.debug('event', {
      object: event.about.metadata.name,
      type: event.type,
      reason: event.reason,
      message: event.message,
    });
    queue.push(event);
    if (!isDraining) void drain();
  };
}

function keyOf({ about, fieldPath, type, reason, message }: RecordedEvent): string {
  return [about.kind, about.metadata.uid, fieldPath ?? '', type, reason, message].join('\n');
}

function remember(known: Map<string, KnownEvent>, key: string, event: KnownEvent): void {
  known.delete(key);
  known.set(key, event);
  if (known.size <= KNOWN_MAX) return;
  const [oldest] = known.keys();
  if (oldest !== undefined) known.delete(oldest);
}

function takeToken(buckets: Map<string, Bucket>, uid: string, nowMs: number): boolean {
  const before = buckets.get(uid) ?? { tokens: BURST_EVENTS, filledAtMs: nowMs };
  const refill = Math.floor((nowMs - before.filledAtMs) / REFILL_MS);
  const tokens = Math.min(BURST_EVENTS, before.tokens + refill);
  buckets.delete(uid);
  buckets.set(uid, {
    tokens: Math.max(0, tokens - 1),
    filledAtMs: before.filledAtMs + refill * REFILL_MS,
  });
  if (buckets.size > KNOWN_MAX) {
    const [oldest] = buckets.keys();
    if (oldest !== undefined) buckets.delete(oldest);
  }
  return tokens > 0;
}

function buildEvent(event: RecordedEvent, options: EventRecorderOptions): JsonObject {
  const { about, fieldPath, type, reason } = event;
  const { metadata } = about;
  const nowMs = options.clock.nowMs();
  const at = formatTime(nowMs);
  const namespace = metadata.namespace ?? 'default';
  const nanoseconds = BigInt(nowMs) * 1_000_000n + BigInt(Math.floor(options.random.next() * 1e6));
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${metadata.name}.${nanoseconds.toString(16)}`, namespace },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      name: metadata.name,
      uid: metadata.uid,
      ...(metadata.resourceVersion === '' ? {} : { resourceVersion: metadata.resourceVersion }),
      ...(fieldPath === undefined ? {} : { fieldPath }),
    },
    reason,
    message: event.message.slice(0, MESSAGE_LENGTH_MAX),
    source: {
      component: options.component,
      ...(options.host === '' ? {} : { host: options.host }),
    },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
    type,
    reportingComponent: options.component,
    reportingInstance: options.host,
  };
}
