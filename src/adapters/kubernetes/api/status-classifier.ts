/**
 * From an answer to an outcome: the one place where HTTP statuses and reasons are judged, never by message text (but
 * NOT_TYPED).
 *
 * An uncertain answer is ambiguous for a write and unavailable for a read. A 404 means "no such object" only in a
 * Status that names the object: a proxy's must never look like a vanished pod (S3, S4). An exceeded quota looks like
 * any refusal of admission; RBAC names no object in a refused create, admission does: that tells `forbidden` from
 * `admission`.
 */
import type { Outcome, RefusalCode } from '../../../core/model/effects.ts';
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, type Json } from '@rollcall/base/json.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { LiveRead, Unavailable } from '../../../ports/cluster/cluster-access.ts';
import type { FieldConflict, ManifestOutcome } from '../../../ports/cluster/manifest-access.ts';
import { readStatus, type ApiStatus, type StatusCause } from '../transport/api-status.ts';
import type { TransportAnswer } from '../transport/transport.ts';
import { readAppliedDaemonSet } from './object-reader.ts';

export interface WriteSubject {
  readonly operation: 'create' | 'delete' | 'patch' | 'update';
  readonly name: string;
}

type Answered = Extract<TransportAnswer, { kind: 'answered' }>;

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
  // The server chose its target, which must not be followed (S12).
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

function unsent(judged: Judged): Outcome {
  const { retryAfterMs } = judged.answer;
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
  // A create has no precondition of ours: another client's object was in the way (a quota that
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
  // A gateway gave up: how far the request got is unknown.
  408: (judged) => ({ kind: 'ambiguous', ...tell(judged) }),
  409: classifyConflict,
  413: (judged) => refuse(judged, 'too-large'),
  415: (judged) => refuse(judged, 'unsupported'),
  422: classifyInvalid,
  429: unsent,
};

/** The outcome of a write. */
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
  if (answer.status === 503 && answer.retryAfterMs !== undefined) return unsent(judged);
  return { kind: 'ambiguous', ...tell(judged) };
}

/** Answers that say nothing of what was asked: a gateway that gave up, a page that expired, a wish to be left alone. */
const PASSING: readonly number[] = [408, 410, 425, 429];

function isFinalRefusal(status: number): boolean {
  return status >= 300 && status < 500 && !PASSING.includes(status);
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
    ...defined({ retryAfterMs: answer.retryAfterMs }),
  };
}

/**
 * The outcome of a GET of the object of this name. `read` gives the object, or undefined when the body
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

/** What was applied, and whether anything is kept of it. */
interface AppliedSubject extends FleetKey {
  readonly isDryRun: boolean;
}

const CONFLICTS_MAX = 32;
const FIELD_LENGTH_MAX = 300;
/** Kubernetes' own bound. */
const MANAGER_LENGTH_MAX = 128;
const VIOLATIONS_MAX = 8;
/**
 * A field that a schema does not know, or knows otherwise, is a plain 500 with no reason, told from a fault of etcd by its text alone
 * (apimachinery, managedfields/internal/structuredmerge.go). Wrong either way it is repeated, or not.
 */
const NOT_TYPED = 'failed to create typed patch object';
const CREATED = 201;

/**
 * The outcome of a server-side apply (ADR 0066). Its messages have no value of the manifest in it, since environment variables
 * hold secrets: of a violation field and rule are told, never the text that quotes the value. What came from a proxy is
 * nobody's refusal (S3).
 */
export function classifyApply(answer: TransportAnswer, subject: AppliedSubject): ManifestOutcome {
  if (answer.kind !== 'answered') return unavailableApply(answer);
  const { status: code, body } = answer;
  if (code >= 200 && code < 300) {
    const object = readAppliedDaemonSet(body, subject);
    if (object === undefined) return unavailableApply(answer);
    return { kind: 'applied', object, isCreated: code === CREATED };
  }
  const status = readStatus(body);
  const refused = status === undefined ? undefined : judgeApply(code, status, subject);
  return refused ?? unavailableApply(answer);
}

/** Undefined: nothing is known of the manifest. */
function judgeApply(
  code: number,
  status: ApiStatus,
  subject: FleetKey,
): ManifestOutcome | undefined {
  if (code === 401 || PASSING.includes(code)) return undefined;
  if (code === 409) return conflictOf(status);
  const isOther = code === 422 && status.causes.some(({ field }) => field === 'metadata.uid');
  if (isOther) return { kind: 'changed' };
  const isNotTyped = code === 500 && status.reason === '' && status.message.startsWith(NOT_TYPED);
  if (isNotTyped) return { kind: 'refused', status: code, message: withoutValues(status.message) };
  if (code >= 500) return undefined;
  return { kind: 'refused', status: code, message: describeRefused(code, status, subject) };
}

function unavailableApply(answer: TransportAnswer): ManifestOutcome {
  const { kind, message, retryAfterMs, isRefused } = unavailableRead(answer);
  const isAnswered = isRefused || (answer.kind === 'answered' && answer.status === 401);
  return { kind, message, ...defined({ retryAfterMs }), ...(isAnswered ? { isAnswered } : {}) };
}

function conflictOf({ causes }: ApiStatus): ManifestOutcome {
  const [first, ...others] = causes.flatMap(readConflict);
  if (first === undefined) return { kind: 'changed' };
  return { kind: 'conflict', conflicts: [first, ...others.slice(0, CONFLICTS_MAX - 1)] };
}

/** `conflict with "MANAGER" using apps/v1 at TIME`, and the field beside it. */
function readConflict({ reason, message = '', field }: StatusCause): readonly FieldConflict[] {
  if (reason !== 'FieldManagerConflict') return [];
  const quoted = /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1];
  const manager = quoted?.replace(/\\(.)/g, '$1') ?? 'unknown';
  return [
    {
      manager: manager.slice(0, MANAGER_LENGTH_MAX),
      field: (field ?? 'unknown').slice(0, FIELD_LENGTH_MAX),
    },
  ];
}

function describeRefused(code: number, status: ApiStatus, { namespace }: FleetKey): string {
  const { reason, message, causes, detailsKind } = status;
  if (reason === 'NotFound' && detailsKind === 'namespaces') {
    return `the namespace ${namespace} does not exist`;
  }
  if (causes.some((cause) => cause.reason === 'NamespaceTerminating')) {
    return `the namespace ${namespace} is being deleted`;
  }
  if (code === 405 || code === 415) return 'the API server has no server-side apply';
  const violations = causes.filter(({ field }) => field !== undefined).map(describeViolation);
  if (violations.length === 0) return withoutValues(message === '' ? `HTTP ${code}` : message);
  const left = violations.length - VIOLATIONS_MAX;
  const told = violations.slice(0, VIOLATIONS_MAX).join('; ');
  return left > 0 ? `${told}; and ${left} more` : told;
}

/** Field, what is wrong with it, and the rule where it can be told without the value. */
function describeViolation({ field = '', message = '' }: StatusCause): string {
  const [, what = 'refused', rest = ''] = /^([A-Z][a-z ]+):? ?(.*)$/.exec(message) ?? [];
  const isQuoting = what.endsWith(' value') && what !== 'Required value';
  const rule = isQuoting ? /^"(?:[^"\\]|\\.)*": (.*)$/.exec(rest)?.[1] : rest;
  return [field.slice(0, FIELD_LENGTH_MAX), what, rule ?? '']
    .filter((part) => part !== '')
    .join(': ');
}

/** Of a value of another type than the schema's the text quotes the value. */
function withoutValues(message: string): string {
  return message.replace(/, got &value\.[\s\S]*$/, '');
}
