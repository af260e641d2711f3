/**
 * metav1.Status, the API server's way of saying no, read into the fields that may decide something.
 *
 * `message` is for people: nothing here or elsewhere decides on its text. Absent or malformed fields
 * are left out; a body of another kind is no Status, whatever its HTTP status says.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, jsonItems, jsonMember, type Json } from '@rollcall/base/json.ts';
import { readRetryAfterMs } from '@rollcall/base/wait.ts';

/** One cause of a Status. */
export interface StatusCause {
  readonly reason?: string;
  readonly field?: string;
  /** For people, as the Status's; it may quote a value of the object. Cut and cleaned as that one. */
  readonly message?: string;
}

/** A Status. */
export interface ApiStatus {
  /** '' when the server gave none; cut to 100 characters, control characters replaced. */
  readonly reason: string;
  /** Cut to 500 characters, control characters replaced. */
  readonly message: string;
  readonly causes: readonly StatusCause[];
  /** Its subject: the resource (or kind) and the name. */
  readonly detailsKind?: string;
  readonly detailsName?: string;
}

const MESSAGE_LENGTH_MAX = 500;
const REASON_LENGTH_MAX = 100;

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readCauses(details: Json | undefined): StatusCause[] {
  return jsonItems(jsonMember(details, 'causes'))
    .filter(isJsonObject)
    .map(({ reason, field, message }) => {
      const said = text(message);
      const plain = said === undefined ? undefined : plainText(said, MESSAGE_LENGTH_MAX);
      return defined({ reason: text(reason), field: text(field), message: plain });
    });
}

/** Text from an API server made fit for a log line: one line, bounded. */
function plainText(value: string, lengthMax: number): string {
  return value.slice(0, lengthMax).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

/** Reads a Status; undefined when the body is none. */
export function readStatus(body: Json | undefined): ApiStatus | undefined {
  if (!isJsonObject(body) || body['kind'] !== 'Status') return undefined;
  const { reason, message, details } = body;
  return {
    reason: plainText(text(reason) ?? '', REASON_LENGTH_MAX),
    message: plainText(text(message) ?? '', MESSAGE_LENGTH_MAX),
    causes: readCauses(details),
    ...defined({
      detailsKind: text(jsonMember(details, 'kind')),
      detailsName: text(jsonMember(details, 'name')),
    }),
  };
}

/** For how long an answer with this header and body asks to be left alone. */
export function retryAfterOf(
  header: string | undefined,
  body: Json | undefined,
  nowMs: number | undefined,
): number | undefined {
  const details = jsonMember(body, 'kind') === 'Status' ? jsonMember(body, 'details') : undefined;
  return readRetryAfterMs(
    { header, statusSeconds: jsonMember(details, 'retryAfterSeconds') },
    nowMs,
  );
}
