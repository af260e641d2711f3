/**
 * DeleteOptions, from the body of a request or, without one, from its query.
 *
 * What cannot be read is a 400, a policy that does not exist a 422. Unknown members pass unseen, as on the real server.
 * Differs from Kubernetes: `orphanDependents`, the old way to name a policy, is not looked at.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { createSchema } from '../../schema/create-schema.ts';
import type { ApiRequest, Status } from '../request/api-request.ts';
import { contentTypeRefusal } from './decode-body.ts';
import { badRequest, invalidOptions } from '../request/statuses.ts';
import { dryRunErrors } from '../request/write-options.ts';

/** What happens to the objects that an object owns. */
export type Propagation = 'Orphan' | 'Background' | 'Foreground';

/** What a deletion asks for. */
export interface DeletionOptions {
  readonly graceSeconds?: number;
  readonly propagation?: Propagation;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly isDryRun: boolean;
}

const KIND = { group: '', version: 'v1', kind: 'DeleteOptions' };
const PROPAGATIONS: readonly Propagation[] = ['Foreground', 'Background', 'Orphan'];
const schema = createSchema();

/** Reads the options of a request: the body counts when there is one, otherwise the query. */
export function parseDeletionOptions(
  request: ApiRequest,
  query: URLSearchParams,
): DeletionOptions | Status {
  const { body } = request;
  if (body === undefined) return deletionOptionsOf(membersOf(query));
  const refusal = contentTypeRefusal(request.contentType);
  if (refusal !== undefined) return refusal;
  return isJsonObject(body) ? deletionOptionsOf(body) : badRequest('the body is no DeleteOptions');
}

function membersOf(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds');
  const isNumber = grace !== null && /^[+-]?\d+$/.test(grace);
  const propagationPolicy = query.get('propagationPolicy');
  const dryRun = query.getAll('dryRun');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: isNumber ? Number(grace) : grace }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}

/** The members of a decoded DeleteOptions. */
interface Decoded {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

/** Reads a DeleteOptions object, of a request or of an eviction. */
export function deletionOptionsOf(body: JsonObject): DeletionOptions | Status {
  const { kind = '' } = body;
  if (kind !== '' && kind !== KIND.kind) {
    return badRequest(`no kind ${JSON.stringify(kind)} is registered for DeleteOptions`);
  }
  const decoded = schema.decode(KIND, body);
  if (decoded.kind === 'malformed') return badRequest(decoded.message);
  const {
    gracePeriodSeconds,
    propagationPolicy,
    preconditions,
    dryRun = [],
  } = decoded.object as Decoded; // decoded: of its type
  const propagation = PROPAGATIONS.find((policy) => policy === propagationPolicy);
  const errors = [...dryRunErrors(dryRun)];
  if (propagationPolicy !== undefined && propagation === undefined) {
    errors.push({
      field: 'propagationPolicy',
      type: 'FieldValueNotSupported',
      value: propagationPolicy,
      detail: 'supported values: "Foreground", "Background", "Orphan", "nil"',
    });
  }
  if (errors.length > 0) return invalidOptions(KIND.kind, errors);
  return {
    ...preconditions,
    ...(gracePeriodSeconds === undefined ? {} : { graceSeconds: gracePeriodSeconds }),
    ...(propagation === undefined ? {} : { propagation }),
    isDryRun: dryRun.length > 0,
  };
}
