/**
 * What answers of PutEvents mean: of a whole request, and of each entry. Pure.
 *
 * By code, never by message. A code that is not known to pass counts as a refusal, so that nothing is repeated for ever.
 */
import * as v from 'valibot';
import type { PutOutcome } from '../../ports/event-bus.ts';

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

/** What a code of an entry, or of a whole request, leads to. */
export function outcomeOf(code: string): PutOutcome {
  const isPassing = PASSING.has(code) || code.startsWith('HTTP 5') || code === 'HTTP 429';
  return { kind: isPassing ? 'retry' : 'refused', code };
}

/** One outcome each; undefined: the answer is none to so many entries. */
export function outcomesOf(text: string, count: number): readonly PutOutcome[] | undefined {
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

export function failureCodeOf(error: unknown): string {
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
