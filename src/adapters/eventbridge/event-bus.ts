/**
 * A bus of Amazon EventBridge: PutEvents (ADR 0066).
 *
 * Ten events a request, as the service takes them; of each its own outcome. What certainly never succeeds is told apart from what may:
 * a lost answer may have been taken, and is put again under the same id. Retries are the caller's. No body and no credential is in an
 * outcome, only codes.
 */
import type { BusEntry, EventBus, PutOutcome } from '../../ports/event-bus.ts';
import { errorCodeOf, failureCodeOf, outcomeOf, outcomesOf } from './put-answer.ts';
import { sendToEvents, type EventsOptions } from './signed-request.ts';

/** What rules choose events of Rollcall by. */
const EVENT_SOURCE = 'dev.rollcall';

/** Entries of one request. */
export const ENTRIES_MAX = 10;
/** Bytes of one request, with room for what is around the details. */
const CHUNK_BYTES_MAX = 240_000;
/** Of an entry beside its detail: source, type, time, name of the bus. */
const AROUND_BYTES = 1024;

/** Which bus, and as whom. */
export interface EventBridgeOptions extends EventsOptions {
  readonly busName: string;
}

/** A bus of EventBridge. */
export function createEventBridgeBus(options: EventBridgeOptions): EventBus {
  return {
    put: async (entries) => {
      const outcomes: PutOutcome[] = [];
      for (const chunk of chunksOf(entries)) outcomes.push(...(await putChunk(chunk, options)));
      return outcomes;
    },
  };
}

async function putChunk(
  chunk: readonly BusEntry[],
  options: EventBridgeOptions,
): Promise<readonly PutOutcome[]> {
  const all = (outcome: PutOutcome): readonly PutOutcome[] => chunk.map(() => outcome);
  try {
    const { status, text } = await sendToEvents(
      'PutEvents',
      bodyOf(chunk, options.busName),
      options,
    );
    if (status !== 200) return all(outcomeOf(errorCodeOf(text, status)));
    return outcomesOf(text, chunk.length) ?? all({ kind: 'retry', code: 'unreadable-answer' });
  } catch (error) {
    // Whatever it was: no answer was read.
    return all({ kind: 'retry', code: failureCodeOf(error) });
  }
}

function bodyOf(chunk: readonly BusEntry[], busName: string): string {
  const Entries = chunk.map(({ type, atMs, detail }) => ({
    Source: EVENT_SOURCE,
    DetailType: type,
    Detail: detail,
    EventBusName: busName,
    Time: Math.floor(atMs / 1000),
  }));
  return JSON.stringify({ Entries });
}

/** In their order; an event that is larger by itself goes alone, and is refused by the service. */
export function chunksOf(entries: readonly BusEntry[]): readonly (readonly BusEntry[])[] {
  const chunks: BusEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.detail) + AROUND_BYTES;
    const last = chunks.at(-1);
    if (last === undefined || last.length === ENTRIES_MAX || bytes + size > CHUNK_BYTES_MAX) {
      chunks.push([entry]);
      bytes = size;
    } else {
      last.push(entry);
      bytes += size;
    }
  }
  return chunks;
}
