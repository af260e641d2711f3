/**
 * DeleteOptions, from the body of a request or, without one, from its query.
 *
 * What cannot be read is a 400, what contradicts itself or does not exist a 422. Unknown members pass unseen, as on the
 * real server.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../../resources/shared/resource.ts';
import type { ApiRequest, Status } from '../request/api-request.ts';
import { contentTypeRefusal } from './decode-body.ts';
import { integerOf } from '../request/list-options.ts';
import { isTrue } from '../request/parse-target.ts';
import { badRequest, invalidOptions, isStatus } from '../request/statuses.ts';
import { dryRunErrors } from '../request/write-options.ts';

/** What happens to the objects that an object owns. */
export type Propagation = 'Orphan' | 'Background' | 'Foreground';

/** What a deletion asks for. */
export interface DeletionOptions {
  readonly graceSeconds?: number;
  readonly propagation?: Propagation;
  /** The old way to say Orphan (true) or not (false); excludes `propagation`. */
  readonly orphansDependents?: boolean;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly isDryRun: boolean;
}

const NO_OPTIONS: DeletionOptions = { isDryRun: false };
const PROPAGATIONS: readonly Propagation[] = ['Foreground', 'Background', 'Orphan'];

/** Reads the options of a request: the body counts when there is one, otherwise the query. */
export function parseDeletionOptions(
  request: ApiRequest,
  query: URLSearchParams,
): DeletionOptions | Status {
  const { body } = request;
  if (body === undefined) return query.size === 0 ? NO_OPTIONS : optionsOfQuery(query);
  const refusal = contentTypeRefusal(request.contentType);
  if (refusal !== undefined) return refusal;
  if (!isJsonObject(body)) return badRequest('the body is no DeleteOptions');
  return deletionOptionsOf(body);
}

/** Reads a DeleteOptions object, of a request or of an eviction. */
export function deletionOptionsOf(body: JsonObject): DeletionOptions | Status {
  const { kind, gracePeriodSeconds, propagationPolicy, orphanDependents, dryRun } = body;
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    return badRequest(`no kind "${JSON.stringify(kind)}" is registered for DeleteOptions`);
  }
  const preconditions = body.preconditions ?? {};
  if (!isJsonObject(preconditions)) return wrongType('preconditions');
  const { uid, resourceVersion } = preconditions;
  const wrong = firstWrong([
    ['gracePeriodSeconds', gracePeriodSeconds, Number.isInteger],
    ['propagationPolicy', propagationPolicy, isText],
    ['orphanDependents', orphanDependents, isBoolean],
    ['preconditions.uid', uid, isText],
    ['preconditions.resourceVersion', resourceVersion, isText],
    ['dryRun', dryRun, isTextList],
  ]);
  if (wrong !== undefined) return wrongType(wrong);
  return checked({
    ...member('graceSeconds', gracePeriodSeconds),
    ...member('propagation', propagationPolicy),
    ...member('orphansDependents', orphanDependents),
    ...member('uid', uid),
    ...member('resourceVersion', resourceVersion),
    dryRun: isTextList(dryRun) ? dryRun : [],
  });
}

/** The member, unless it is absent or null; its type has been checked. */
function member(
  name: Exclude<keyof RawOptions, 'dryRun'>,
  value: Json | undefined,
): Partial<RawOptions> {
  return value === undefined || value === null ? {} : { [name]: value };
}

function optionsOfQuery(query: URLSearchParams): DeletionOptions | Status {
  const graceSeconds = integerOf(query, 'gracePeriodSeconds');
  if (typeof graceSeconds === 'object' && isStatus(graceSeconds)) return graceSeconds;
  const propagation = query.get('propagationPolicy');
  return checked({
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
    ...(propagation === null ? {} : { propagation }),
    ...(query.has('orphanDependents')
      ? { orphansDependents: isTrue(query.get('orphanDependents')) }
      : {}),
    dryRun: query.getAll('dryRun'),
  });
}

interface RawOptions {
  readonly graceSeconds?: number;
  readonly propagation?: string;
  readonly orphansDependents?: boolean;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly dryRun: readonly string[];
}

function checked({ propagation, dryRun, ...rest }: RawOptions): DeletionOptions | Status {
  const errors: FieldError[] = [];
  const known = PROPAGATIONS.find((policy) => policy === propagation);
  if (propagation !== undefined && rest.orphansDependents !== undefined) {
    errors.push({
      field: 'propagationPolicy',
      type: 'FieldValueInvalid',
      value: propagation,
      detail: 'orphanDependents and deletionPropagation cannot be both set',
    });
  }
  if (propagation !== undefined && known === undefined) {
    errors.push({
      field: 'propagationPolicy',
      type: 'FieldValueNotSupported',
      value: propagation,
      detail: 'supported values: "Foreground", "Background", "Orphan", "nil"',
    });
  }
  errors.push(...dryRunErrors(dryRun));
  if (errors.length > 0) return invalidOptions('DeleteOptions', errors);
  return {
    ...rest,
    ...(known === undefined ? {} : { propagation: known }),
    isDryRun: dryRun.length > 0,
  };
}

type Check = readonly [field: string, value: Json | undefined, isRight: (value: Json) => boolean];

function firstWrong(checks: readonly Check[]): string | undefined {
  return checks.find(
    ([, value, isRight]) => value !== undefined && value !== null && !isRight(value),
  )?.[0];
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

function isBoolean(value: Json): value is boolean {
  return typeof value === 'boolean';
}

function isTextList(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function wrongType(field: string): Status {
  return badRequest(`json: cannot unmarshal DeleteOptions.${field}: wrong type`);
}
