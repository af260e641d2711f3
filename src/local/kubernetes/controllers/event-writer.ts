/**
 * Writes Events of controllers and the scheduler, as client-go's recorder does: repeated ones are counted, not repeated.
 *
 * Nobody waits for an event and none is a reason to fail; a refused one is logged. An event about the same object with
 * the same reason and message within the memory's span raises `count` and `lastTimestamp` of the first one.
 * Differs from upstream: the scheduler writes events.k8s.io/v1 events; here all are in the older style, which kubectl
 * shows in the same way. Similar events with different messages are not aggregated, and there is no rate limit.
 */
import type { JsonObject } from '../../../core/model/json.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { LocalClient } from '../client/local-client.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** What happened to an object. */
export interface EventNote {
  readonly about: ApiObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Writes an event; returns at once and never throws. */
export type WriteEvent = (note: EventNote) => void;

/** Settings. */
export interface EventWriterOptions {
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly log: Log;
  /** source.component, e.g. `default-scheduler`. */
  readonly component: string;
}

interface Known {
  readonly namespace: string;
  readonly name: string;
  count: number;
}

/** Repeated events remembered at a time; the oldest are forgotten first. */
const MEMORY_MAX = 4096;

/** Makes a writer. */
export function createEventWriter(options: EventWriterOptions): WriteEvent {
  const memory = new Map<string, Known>();
  let writtenCount = 0;
  const send = async (note: EventNote, known: Known): Promise<void> => {
    const { client, clock, log, component } = options;
    const outcome =
      known.count === 1
        ? await client.create('events', eventBody({ note, known, component, clock }))
        : await client.patch(
            { resource: 'events', namespace: known.namespace, name: known.name },
            { type: 'merge', body: { count: known.count, lastTimestamp: timeText(clock) } },
          );
    if (outcome.kind === 'ok') return;
    memory.delete(memoryKey(note));
    log.debug('an event was refused', {
      event: note.reason,
      message: outcome.status.message ?? outcome.status.reason,
    });
  };
  return (note) => {
    const key = memoryKey(note);
    const { namespace = 'default', name } = note.about.metadata;
    let known = memory.get(key);
    if (known === undefined) {
      writtenCount += 1;
      const suffix = `${options.clock.nowMs().toString(16)}${writtenCount.toString(16).padStart(5, '0')}`;
      known = { namespace, name: `${name}.${suffix}`, count: 0 };
    }
    known.count += 1;
    memory.delete(key);
    memory.set(key, known);
    forgetOldest(memory);
    void send(note, known).catch((error: unknown) => {
      options.log.error('an event could not be written', { event: note.reason }, error);
    });
  };
}

function memoryKey({ about, type, reason, message }: EventNote): string {
  return [about.metadata.uid, type, reason, message].join('\n');
}

function forgetOldest(memory: Map<string, Known>): void {
  if (memory.size <= MEMORY_MAX) return;
  for (const key of memory.keys()) {
    memory.delete(key);
    return;
  }
}

function timeText(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString().replace(/\.\d+Z$/, 'Z');
}

function eventBody(of: {
  readonly note: EventNote;
  readonly known: Known;
  readonly component: string;
  readonly clock: Clock;
}): JsonObject {
  const { about, type, reason, message } = of.note;
  const { namespace, name, uid, resourceVersion } = about.metadata;
  const nowText = timeText(of.clock);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: of.known.name, namespace: of.known.namespace },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid,
      // client-go names the version of namespaced objects only where the recorder was given the whole object.
      ...(namespace === undefined ? {} : { resourceVersion }),
    },
    reason,
    message,
    type,
    count: 1,
    firstTimestamp: nowText,
    lastTimestamp: nowText,
    source: { component: of.component },
    reportingComponent: of.component,
    reportingInstance: '',
    eventTime: null,
  };
}
