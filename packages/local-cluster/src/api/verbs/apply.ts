/**
 * Server-side apply of an object: PATCH with `application/apply-patch+yaml`; what is not there is created.
 *
 * Order as on the real server: options → what is there (or may be created) → the types → owners and conflicts → decoding and
 * defaults → the same update or create as otherwise, with UID and version of the configuration as preconditions. A version is one
 * only where there is an object.
 * Differs from Kubernetes: texts about fields that the types do not know name items by number, not by key.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import { applyConfiguration } from '../owners/apply-configuration.ts';
import type { OwnerConflict } from '../owners/apply-configuration.ts';
import type { ApiAnswer, Status } from '../request/api-request.ts';
import { answerStatus } from '../request/answers.ts';
import { resourceSubject } from '../request/status-subject.ts';
import { badRequest, conflict, failure, invalidOptions, isStatus } from '../request/statuses.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import type { WriteOptions } from '../request/write-options.ts';
import { createObject } from '../steps/create-object.ts';
import { inRequestNamespace, nameRefusal } from '../steps/decode-body.ts';
import { namespaceRefusal } from '../steps/namespace-lifecycle.ts';
import { apiVersionOf } from '../steps/render.ts';
import { storedObject } from '../steps/resource-call.ts';
import type { ObjectCall } from '../steps/resource-call.ts';
import { updateObject } from '../steps/update-object.ts';
import { answerWritten, warningsOf } from '../steps/written-answer.ts';

/** Asked before an apply creates: the user must be allowed to. */
export interface Apply {
  readonly createRefusal: () => Status | undefined;
}

interface ApplyOptions extends WriteOptions {
  readonly manager: string;
  readonly isForced: boolean;
}

/** Answers it: 200, or 201 when it created. */
export function applyObject(call: ObjectCall, { createRefusal }: Apply): ApiAnswer {
  const options = parseOptions(call);
  if (isStatus(options)) return answerStatus(options);
  const configuration = readConfiguration(call);
  if (isStatus(configuration)) return answerStatus(configuration);
  const current = storedObject(call);
  if (current === undefined) {
    const refusal = createRefusal() ?? namespaceRefusal(call, call.name);
    if (refusal !== undefined) return answerStatus(refusal);
  }
  const applied = appliedObject(call, { current, configuration, options });
  if (isStatus(applied)) return answerStatus(applied);
  const { object, managedFields } = applied;
  const { isDryRun } = options;
  const { rules } = call.resource;
  if (current === undefined) {
    const created = createObject(call, object, { isDryRun, managedFields });
    if (isStatus(created)) return answerStatus(created);
    return answerWritten(call, created, { status: 201, warnings: warningsOf(rules, created) });
  }
  const next = rules.applyDefaults(object);
  const stored = updateObject(call, { current, next, rules, isDryRun, managedFields });
  if (isStatus(stored)) return answerStatus(stored);
  return answerWritten(call, stored, { warnings: warningsOf(rules, stored, current) });
}

function parseOptions({ query }: ObjectCall): ApplyOptions | Status {
  const plain = new URLSearchParams(query);
  plain.delete('force');
  const options = parseWriteOptions(plain, 'PatchOptions');
  if (isStatus(options)) return options;
  const manager = query.get('fieldManager') ?? '';
  if (manager === '') {
    const detail = 'is required for apply patch';
    return invalidOptions('PatchOptions', [
      { field: 'fieldManager', type: 'FieldValueRequired', detail },
    ]);
  }
  return { ...options, manager, isForced: query.get('force') === 'true' };
}

/** The body as a configuration of this object, or what is wrong with its identity. */
function readConfiguration(call: ObjectCall): ApiObject | Status {
  const { resource, name } = call;
  const { body } = call.request;
  if (!isJsonObject(body)) return badRequest('error decoding YAML: the patch is no object');
  const { metadata, apiVersion, kind } = body;
  if (kind !== resource.kind || apiVersion !== apiVersionOf(resource)) {
    return badRequest('the configuration has another kind or apiVersion than the request');
  }
  const named = {
    ...body,
    metadata: isJsonObject(metadata) ? metadata : {},
  } as unknown as ApiObject; // checked next
  const misnamed = nameRefusal(named, name);
  if (misnamed !== undefined) return misnamed;
  if (named.metadata['managedFields'] !== undefined) {
    return badRequest('metadata.managedFields must be nil');
  }
  return inRequestNamespace(call, named);
}

function appliedObject(
  call: ObjectCall,
  input: {
    readonly current: ApiObject | undefined;
    readonly configuration: ApiObject;
    readonly options: ApplyOptions;
  },
): { readonly object: ApiObject; readonly managedFields: ApiObject[string] } | Status {
  const { current, configuration, options } = input;
  const { resource, services } = call;
  const subject = `${call.namespace ?? ''}/${call.name}; ${apiVersionOf(resource)}, Kind=${resource.kind}`;
  const notTyped = (fault: string): Status =>
    failure({ code: 500, message: `failed to create typed patch object (${subject}): ${fault}` });
  const typed = services.schema.decode(resource, configuration);
  if (typed.kind === 'malformed') return notTyped(typed.message);
  const [unknown] = typed.unknownFields;
  if (unknown !== undefined) return notTyped(`.${unknown}: field not declared in schema`);
  const time = formatTime(services.clock.nowMs());
  const { manager, isForced } = options;
  const applied = applyConfiguration(current, configuration, {
    writer: { manager, operation: 'Apply', apiVersion: apiVersionOf(resource), time },
    isForced,
    types: { schema: services.schema, struct: services.schema.structOf(resource) ?? '' },
  });
  switch (applied.kind) {
    case 'faulty':
      return notTyped(applied.fault);
    case 'conflict':
      return conflictStatus(applied.conflicts);
    case 'applied': {
      const fenced = withFence(call, { current, configuration, applied: applied.object });
      if (isStatus(fenced)) return fenced;
      const decoded = services.schema.decode(resource, fenced);
      if (decoded.kind === 'malformed') return notTyped(decoded.message);
      return { object: decoded.object, managedFields: applied.managedFields };
    }
  }
}

/** UID and version of the configuration, as preconditions of the write. */
function withFence(
  call: ObjectCall,
  input: {
    readonly current: ApiObject | undefined;
    readonly configuration: ApiObject;
    readonly applied: JsonObject;
  },
): JsonObject | Status {
  const { current, configuration, applied } = input;
  const { uid, resourceVersion } = configuration.metadata as Partial<Metadata>;
  const metadata = applied['metadata'] as Metadata;
  if (current !== undefined) {
    const asked = resourceVersion ?? current.metadata.resourceVersion;
    const fence = { ...(uid === undefined ? {} : { uid }), resourceVersion: asked };
    return { ...applied, metadata: { ...metadata, ...fence } };
  }
  if (uid !== undefined && uid !== '') {
    return conflict(
      resourceSubject(call.resource, call.name),
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  }
  const { resourceVersion: _version, uid: _uid, ...rest } = metadata;
  return { ...applied, metadata: rest };
}

function conflictStatus(conflicts: readonly OwnerConflict[]): Status {
  const nameOf = ({ owner }: OwnerConflict): string => {
    const { manager, operation, apiVersion } = owner;
    const quoted = JSON.stringify(manager);
    return operation === 'Update' ? `${quoted} using ${apiVersion}` : quoted;
  };
  const [first] = conflicts;
  const many = new Map<string, string[]>();
  for (const each of conflicts) {
    many.set(nameOf(each), [...(many.get(nameOf(each)) ?? []), `- ${each.field}`]);
  }
  const listed = [...many.keys()]
    .sort()
    .flatMap((name) => [`conflicts with ${name}:`, ...(many.get(name) ?? [])]);
  const text =
    conflicts.length === 1 && first !== undefined
      ? `1 conflict: conflict with ${nameOf(first)}: ${first.field}`
      : `${String(conflicts.length)} conflicts: ${listed.join('\n')}`;
  return failure({
    code: 409,
    reason: 'Conflict',
    message: `Apply failed with ${text}`,
    details: {
      causes: conflicts.map((each) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${nameOf(each)}`,
        field: each.field,
      })),
    },
  });
}
