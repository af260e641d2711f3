/**
 * metav1.Status, the API server's way of saying no, read into the fields that may decide something.
 *
 * `message` is for people: nothing here or elsewhere decides on its text. Absent or malformed fields
 * are left out; a body of another kind is no Status, whatever its HTTP status says.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

/** One cause of a Status. */
export interface StatusCause {
  readonly reason?: string;
  readonly field?: string;
}

/** A Status. */
export interface ApiStatus {
  /** '' when the server gave none; cut to 100 characters, control characters replaced. */
  readonly reason: string;
  /** Cut to 500 characters, control characters replaced. */
  readonly message: string;
  readonly causes: readonly StatusCause[];
  /** What it is about: the resource (or kind) and the name. */
  readonly detailsKind?: string;
  readonly detailsName?: string;
  readonly retryAfterMs?: number;
}

const MESSAGE_LENGTH_MAX = 500;
const REASON_LENGTH_MAX = 100;

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readCauses(details: JsonObject): StatusCause[] {
  const causes = details['causes'];
  if (!Array.isArray(causes)) return [];
  return (causes as readonly Json[]).filter(isJsonObject).map((cause) => {
    const reason = text(cause['reason']);
    const field = text(cause['field']);
    return {
      ...(reason === undefined ? {} : { reason }),
      ...(field === undefined ? {} : { field }),
    };
  });
}

/** Text from an API server made fit for a log line: one line, bounded. */
function plainText(value: string, lengthMax: number): string {
  return value.slice(0, lengthMax).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

/** Reads a Status; undefined when the body is none. */
export function readStatus(body: Json | undefined): ApiStatus | undefined {
  if (!isJsonObject(body) || body['kind'] !== 'Status') return undefined;
  const details = isJsonObject(body['details']) ? body['details'] : {};
  const detailsKind = text(details['kind']);
  const detailsName = text(details['name']);
  const seconds = details['retryAfterSeconds'];
  return {
    reason: plainText(text(body['reason']) ?? '', REASON_LENGTH_MAX),
    message: plainText(text(body['message']) ?? '', MESSAGE_LENGTH_MAX),
    causes: readCauses(details),
    ...(detailsKind === undefined ? {} : { detailsKind }),
    ...(detailsName === undefined ? {} : { detailsName }),
    ...(typeof seconds === 'number' && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}),
  };
}
