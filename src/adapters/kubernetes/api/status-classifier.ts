/**
 * From an answer to an outcome: the one place where HTTP statuses and reasons are judged.
 *
 * By `reason`, `details` and `causes`, never by message text. What is not certain is ambiguous for a
 * write and unavailable for a read. A 404 means "no such object" only in a Status that names the
 * object: a proxy's 404 must never look like a vanished node or pod (S3, S4).
 *
 * What Kubernetes does not tell apart: an exceeded quota has the same reason and details as any
 * refusal of an admission plugin, so both are `admission`. RBAC names no object in the details of a
 * refused create, admission does: that tells `forbidden` from `admission`.
 */
import type { Outcome, RefusalCode } from '../../../core/model/effects.ts';
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { LiveRead, Unavailable } from '../../../ports/cluster/cluster-access.ts';
import { readStatus } from '../transport/api-status.ts';
import type { ApiStatus } from '../transport/api-status.ts';
import type { TransportAnswer } from '../transport/transport.ts';

/** What a write does to an object of this name. */
export interface WriteSubject {
  readonly operation: 'create' | 'delete' | 'patch' | 'update';
  readonly name: string;
}

type Answered = Extract<TransportAnswer, { kind: 'answered' }>;

/** An answer together with its Status, if it has one. */
interface Judged {
  readonly answer: Answered;
  readonly status: ApiStatus | undefined;
  readonly subject: WriteSubject;
}

function isRedirect({ status }: Answered): boolean {
  return status >= 300 && status < 400;
}

function describe(judged: Pick<Judged, 'answer' | 'status'>): string {
  const { answer, status } = judged;
  // Where it points to is the other side's choice, and nobody's business here (S12).
  if (isRedirect(answer)) return `HTTP ${answer.status}: a redirect, which is not followed`;
  const reason = status?.reason ?? '';
  const head = `HTTP ${answer.status}${reason === '' ? '' : ` ${reason}`}`;
  const level = answer.status === 429 ? answer.priorityLevel : undefined;
  const tail = level === undefined ? '' : ` (priority level ${level})`;
  const message = status?.message ?? '';
  return head + tail + (message === '' ? '' : `: ${message}`);
}

/** For logs with the HTTP status, and for Events in the API server's own words, as upstream tells them. */
function tell(judged: Judged): { readonly message: string; readonly said?: string } {
  const said = judged.status?.message ?? '';
  return { message: describe(judged), ...(said === '' ? {} : { said }) };
}

function refuse(judged: Judged, code: RefusalCode): Outcome {
  return { kind: 'refused', code, status: judged.answer.status, ...tell(judged) };
}

/** The longest time that a server can silence us for. */
const RETRY_AFTER_MAX_MS = 60_000;

function retryAfterOf(answer: Answered, status: ApiStatus | undefined): number | undefined {
  const asked = answer.retryAfterMs ?? status?.retryAfterMs;
  return asked === undefined ? undefined : Math.min(asked, RETRY_AFTER_MAX_MS);
}

function unsent(judged: Judged): Outcome {
  const retryAfterMs = retryAfterOf(judged.answer, judged.status);
  return { kind: 'unsent', message: describe(judged), ...defined({ retryAfterMs }) };
}

function classifyNotFound(judged: Judged): Outcome {
  const { status, subject } = judged;
  if (status?.reason !== 'NotFound') return refuse(judged, 'unsupported');
  if (subject.operation === 'create') return refuse(judged, 'namespace-missing');
  const isNamespace = status.detailsKind === 'namespaces';
  if (isNamespace || status.detailsName === subject.name) return { kind: 'gone' };
  return refuse(judged, 'unsupported');
}

function classifyConflict(judged: Judged): Outcome {
  const { status, subject } = judged;
  if (status?.reason === 'AlreadyExists' && subject.operation === 'create')
    return { kind: 'exists' };
  // A create has no precondition of ours: an object of somebody else's was in the way (a quota that
  // changed meanwhile). Certainly not applied, and worth repeating.
  if (subject.operation === 'create') return unsent(judged);
  return { kind: 'conflict', message: describe(judged) };
}

function classifyForbidden(judged: Judged): Outcome {
  const { status, subject } = judged;
  if (status === undefined) return refuse(judged, 'forbidden');
  if (status.causes.some((cause) => cause.reason === 'NamespaceTerminating')) {
    return refuse(judged, 'namespace-terminating');
  }
  const isNamed = status.detailsName === subject.name;
  return refuse(judged, subject.operation === 'create' && isNamed ? 'admission' : 'forbidden');
}

function classifyInvalid(judged: Judged): Outcome {
  const { status, subject } = judged;
  const fields = (status?.causes ?? []).map((cause) => cause.field);
  // A patch carries its precondition as metadata.uid; another object under the name makes that
  // an attempt to change an immutable field.
  if (subject.operation === 'patch' && fields.includes('metadata.uid')) {
    return { kind: 'conflict', message: describe(judged) };
  }
  const isAdmission = fields.length > 0 && fields.every((field) => field === undefined);
  return refuse(judged, isAdmission ? 'admission' : 'invalid');
}

/** By HTTP status; what is not listed is refused as `other`. */
const JUDGES: Readonly<Record<number, (judged: Judged) => Outcome>> = {
  400: (judged) => refuse(judged, judged.status?.reason === '' ? 'admission' : 'invalid'),
  401: (judged) => refuse(judged, 'unauthorized'),
  403: classifyForbidden,
  404: classifyNotFound,
  405: (judged) => refuse(judged, 'unsupported'),
  406: (judged) => refuse(judged, 'unsupported'),
  // A gateway that gave up: nobody knows how far the request got.
  408: (judged) => ({ kind: 'ambiguous', ...tell(judged) }),
  409: classifyConflict,
  413: (judged) => refuse(judged, 'too-large'),
  415: (judged) => refuse(judged, 'unsupported'),
  422: classifyInvalid,
  429: unsent,
};

/** What came of a write. */
export function classifyWrite(answer: TransportAnswer, subject: WriteSubject): Outcome {
  if (answer.kind !== 'answered') return answer;
  const { body } = answer;
  const judged: Judged = { answer, status: readStatus(body), subject };
  if (answer.status >= 200 && answer.status < 300) {
    if (isJsonObject(body)) {
      return { kind: 'done', object: body, ...defined({ answeredAtMs: answer.atMs }) };
    }
    return { kind: 'ambiguous', message: `${describe(judged)}: unreadable answer` };
  }
  if (answer.status >= 300 && answer.status < 500) {
    return JUDGES[answer.status]?.(judged) ?? refuse(judged, 'other');
  }
  if (answer.status === 503 && retryAfterOf(answer, judged.status) !== undefined) {
    return unsent(judged);
  }
  return { kind: 'ambiguous', ...tell(judged) };
}

function isFinalRefusal(status: number): boolean {
  return status >= 300 && status < 500 && ![408, 410, 425, 429].includes(status);
}

/** Why a read gave nothing that can be trusted. */
export function unavailableRead(
  answer: TransportAnswer,
  problem = 'unreadable answer',
): Unavailable {
  if (answer.kind !== 'answered') {
    return { kind: 'unavailable', message: answer.message, isRefused: false };
  }
  const status = readStatus(answer.body);
  const isSuccess = answer.status < 300;
  return {
    kind: 'unavailable',
    message: describe({ answer, status }) + (isSuccess ? `: ${problem}` : ''),
    isRefused: isFinalRefusal(answer.status),
    ...defined({ retryAfterMs: retryAfterOf(answer, status) }),
  };
}

/**
 * What came of a GET of the object of this name. `read` gives the object, or undefined when the body
 * is not the object that was asked for.
 */
export function classifyRead<T>(
  answer: TransportAnswer,
  name: string,
  read: (body: Json | undefined) => T | undefined,
): LiveRead<T> {
  if (answer.kind === 'answered' && answer.status === 200) {
    const object = read(answer.body);
    if (object !== undefined) {
      return { kind: 'found', object, ...defined({ answeredAtMs: answer.atMs }) };
    }
  }
  if (answer.kind === 'answered' && answer.status === 404) {
    const status = readStatus(answer.body);
    if (status?.reason === 'NotFound' && status.detailsName === name) return { kind: 'missing' };
  }
  return unavailableRead(answer, 'not the object that was asked for');
}
