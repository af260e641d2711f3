/**
 * From the answer of a server-side apply to its outcome (ADR 0066).
 *
 * As for the other writes (status-classifier.ts) reasons, details and causes decide, with one exception: what a schema does not
 * know, or knows otherwise, is a plain 500 with no reason, told from a fault of etcd by its text alone; wrong either way it is
 * repeated, or not. What is told has no value of the manifest in it, since environment variables hold secrets: of a violation
 * field and rule are told, never the text that quotes the value. What came from a proxy is nobody's refusal (S3).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FieldConflict, ManifestOutcome } from '../../../ports/cluster/manifest-access.ts';
import type { TransportAnswer } from '../transport/transport.ts';
import { readStatus } from '../transport/api-status.ts';
import type { ApiStatus, StatusCause } from '../transport/api-status.ts';
import { readAppliedDaemonSet } from './object-reader.ts';
import { unavailableRead } from './status-classifier.ts';

/** What was applied, and whether anything is kept of it. */
export interface AppliedSubject extends FleetKey {
  readonly isDryRun: boolean;
}

const CONFLICTS_MAX = 32;
const FIELD_LENGTH_MAX = 300;
/** Kubernetes' own bound. */
const MANAGER_LENGTH_MAX = 128;
const VIOLATIONS_MAX = 8;
/** How the API server begins when its schema does not take a manifest (apimachinery, managedfields/internal/structuredmerge.go). */
const NOT_TYPED = 'failed to create typed patch object';
/** Answers that say nothing of the manifest: the credential, a gateway that gave up, a wish to be left alone. */
const PASSING: readonly number[] = [401, 408, 410, 425, 429];
const CREATED = 201;

/** What came of an apply. */
export function classifyApply(answer: TransportAnswer, subject: AppliedSubject): ManifestOutcome {
  if (answer.kind !== 'answered') return unavailable(answer);
  const { status: code, body } = answer;
  if (code >= 200 && code < 300) {
    const object = readAppliedDaemonSet(body, subject);
    if (object === undefined) return unavailable(answer);
    return { kind: 'applied', object, isCreated: code === CREATED };
  }
  const status = readStatus(body);
  const refused = status === undefined ? undefined : classifyStatus(code, status, subject);
  return refused ?? unavailable(answer);
}

/** Undefined: nothing is known of the manifest. */
function classifyStatus(
  code: number,
  status: ApiStatus,
  subject: FleetKey,
): ManifestOutcome | undefined {
  if (PASSING.includes(code)) return undefined;
  if (code === 409) return conflictOf(status);
  const isOther = code === 422 && status.causes.some(({ field }) => field === 'metadata.uid');
  if (isOther) return { kind: 'changed' };
  const isNotTyped = code === 500 && status.reason === '' && status.message.startsWith(NOT_TYPED);
  if (isNotTyped) return { kind: 'refused', status: code, message: withoutValues(status.message) };
  if (code >= 500) return undefined;
  return { kind: 'refused', status: code, message: describe(code, status, subject) };
}

function unavailable(answer: TransportAnswer): ManifestOutcome {
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

function describe(code: number, status: ApiStatus, { namespace }: FleetKey): string {
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
