/**
 * A bus of Amazon EventBridge: PutEvents, ten events a request, and what its answers mean, by code (ADR 0066).
 *
 * It tells entries that never succeed from those that may: a lost answer may have been taken, and is put again under
 * the same id. A code that is not known to pass counts as a refusal, so that nothing is repeated for ever. Retries are
 * the caller's. No body and no credential is in an outcome, only codes.
 */
import * as v from 'valibot';
import type { BusEntry, EventBus, PutOutcome } from '../../ports/fleet-notifier.ts';
import { sendToEvents, type EventsOptions } from './signed-request.ts';

/** Rules choose events of Rollcall by it. */
const EVENT_SOURCE = 'dev.rollcall';

/** Entries of one request. */
export const ENTRIES_MAX = 10;
/** Bytes of one request, with room for what is around the details. */
const CHUNK_BYTES_MAX = 240_000;
/** Of an entry beside its detail: source, type, time, name of the bus. */
const AROUND_BYTES = 1024;

interface EventBridgeOptions extends EventsOptions {
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
    // No answer was read.
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

/** They pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'RequestThrottled',
  'InternalException',
  'InternalFailure',
  'InternalError',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'RequestTimeout',
  'RequestTimeoutException',
  'ExpiredTokenException',
]);

const CODE_CHARACTERS_MAX = 100;
const HTTP_SERVER_ERROR = 500;

const AnswerSchema = v.object({
  Entries: v.array(
    v.object({
      EventId: v.nullish(v.string()),
      ErrorCode: v.nullish(v.string()),
    }),
  ),
});
const ErrorSchema = v.object({ __type: v.string() });

/** The outcome of a code of an entry, or of a whole request. */
function outcomeOf(code: string): PutOutcome {
  const isPassing = PASSING.has(code) || code.startsWith('HTTP 5') || code === 'HTTP 429';
  return { kind: isPassing ? 'retry' : 'refused', code };
}

/** One outcome each; undefined: the answer is none to so many entries. */
function outcomesOf(text: string, count: number): readonly PutOutcome[] | undefined {
  const answer = v.safeParse(AnswerSchema, parsed(text));
  if (!answer.success || answer.output.Entries.length !== count) return undefined;
  return answer.output.Entries.map(({ EventId, ErrorCode }): PutOutcome => {
    if (typeof ErrorCode === 'string') return outcomeOf(codeOf(ErrorCode));
    return typeof EventId === 'string'
      ? { kind: 'put' }
      : { kind: 'retry', code: 'unreadable-answer' };
  });
}

export function errorCodeOf(text: string, status: number): string {
  const error = v.safeParse(ErrorSchema, parsed(text));
  const http = `HTTP ${String(status)}`;
  if (!error.success || status >= HTTP_SERVER_ERROR) return http;
  return codeOf(error.output.__type.split('#').at(-1) ?? http);
}

function failureCodeOf(error: unknown): string {
  const named = error instanceof Error ? (error.cause ?? error) : undefined;
  if (named instanceof Error && 'code' in named && typeof named.code === 'string') {
    return codeOf(named.code);
  }
  return error instanceof Error ? codeOf(error.name) : 'unknown';
}

/** It goes into logs: letters, and not many. */
function codeOf(text: string): string {
  return text.slice(0, CODE_CHARACTERS_MAX).replace(/[^\w .:-]/g, '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is no answer; what it is not is judged by the schema.
    return undefined;
  }
}
