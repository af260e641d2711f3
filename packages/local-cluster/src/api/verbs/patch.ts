/**
 * PATCH of an object, or of one of its `view` subresources: JSON Patch, merge patch, strategic merge patch.
 *
 * Server-side apply is apply.ts'; where it is not taken: 415 with advice. The patched object goes through decoding, defaults and the
 * same update as a PUT; a resourceVersion that the patch sets is its precondition, a UID is an attempt to change it.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { applyJsonPatch } from '@rollcall/base/patch/json-patch.ts';
import type { PatchOutcome } from '@rollcall/base/patch/patch-outcome.ts';
import { applyStrategicMergePatch } from '@rollcall/base/patch/strategic-merge-patch.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { ApiAnswer, PatchType, Status } from '../request/api-request.ts';
import { answerStatus } from '../request/answers.ts';
import { answerWritten, warningsOf } from '../steps/written-answer.ts';
import {
  inRequestNamespace,
  mediaTypeOf,
  nameRefusal,
  unknownFieldTexts,
} from '../steps/decode-body.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { withSortedRaw } from '../patch/sorted-raw.ts';
import { apiVersionOf } from '../steps/render.ts';
import { storedObject } from '../steps/resource-call.ts';
import type { ObjectCall } from '../steps/resource-call.ts';
import {
  badRequest,
  internal,
  invalid,
  isStatus,
  notFound,
  unprocessable,
  unsupportedPatchType,
} from '../request/statuses.ts';
import { updateObject } from '../steps/update-object.ts';
import type { UpdateRules } from '../steps/update-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import type { WriteOptions } from '../request/write-options.ts';

const PATCH_TYPES: ReadonlyMap<string, PatchType> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);
const TAKEN_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];
/** Custom kinds have no merge keys. */
const CUSTOM_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];
const APPLY_ADVICE =
  '; a local cluster takes no server-side apply of pods, nodes, leases, events and subresources: use client-side apply (kubectl apply without --server-side)';

interface Patched {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/** Answers it: 200. */
export function patchObject(call: ObjectCall, rules: UpdateRules): ApiAnswer {
  const type = PATCH_TYPES.get(mediaTypeOf(call.request.contentType));
  if (type === undefined) return answerStatus(unsupportedPatchType(TAKEN_TYPES));
  if (type === 'apply') return answerStatus(unsupportedPatchType(TAKEN_TYPES, APPLY_ADVICE));
  if (type === 'strategic' && call.resource.custom !== undefined) {
    return answerStatus(unsupportedPatchType(CUSTOM_TYPES));
  }
  const options = parseWriteOptions(call.query, 'PatchOptions');
  if (isStatus(options)) return answerStatus(options);
  const current = storedObject(call);
  if (current === undefined) return answerStatus(notFound(call.resource, call.name));
  const patched = patchedObject(call, { current, type, options });
  if (isStatus(patched)) return answerStatus(patched);
  const { warnings } = patched;
  const placed = inRequestNamespace(call, patched.object);
  if (isStatus(placed)) return answerStatus(placed, warnings);
  const misnamed = nameRefusal(placed, call.name);
  if (misnamed !== undefined) return answerStatus(misnamed, warnings);
  const next = call.resource.rules.applyDefaults(placed);
  const { isDryRun } = options;
  const stored = updateObject(call, { current, next, rules, isDryRun });
  if (isStatus(stored)) return answerStatus(stored, warnings);
  return answerWritten(call, stored, {
    warnings: [...warnings, ...warningsOf(rules, stored, current)],
  });
}

function patchedObject(
  call: ObjectCall,
  input: {
    readonly current: ApiObject;
    readonly type: Exclude<PatchType, 'apply'>;
    readonly options: WriteOptions;
  },
): Patched | Status {
  const { current, type, options } = input;
  const patch = call.request.body;
  if (patch === undefined) return badRequest('error decoding patch: unexpected end of JSON input');
  const outcome = apply(call, { current, type, patch });
  if (isStatus(outcome)) return outcome;
  if (outcome.kind !== 'patched') return refusalOf(outcome);
  const typed = typedValue(call, outcome.value, type);
  if (isStatus(typed)) return typed;
  const decoded = call.services.schema.decode(call.resource, typed);
  if (decoded.kind === 'malformed') return invalidPatch(decoded.message);
  const unknown = [...(outcome.warnings ?? []), ...unknownFieldTexts(decoded.unknownFields)];
  if (unknown.length > 0 && options.fieldValidation === 'Strict') {
    return invalidPatch(`strict decoding error: ${unknown.join(', ')}`);
  }
  return { object: decoded.object, warnings: options.fieldValidation === 'Warn' ? unknown : [] };
}

/** A strategic patch cannot change the kind: the server knows into what it decodes. The others can, and fail by it. */
function typedValue(
  { resource }: ObjectCall,
  value: Json,
  type: Exclude<PatchType, 'apply'>,
): JsonObject | Status {
  const unknownKind = 'no such kind is registered for this version';
  if (!isJsonObject(value)) return invalidPatch(unknownKind);
  const apiVersion = apiVersionOf(resource);
  if (value.kind === resource.kind && value.apiVersion === apiVersion) return value;
  if (type !== 'strategic') {
    const isKind = (value.kind ?? resource.kind) === resource.kind;
    if (!isKind || value.apiVersion !== apiVersion) return invalidPatch(unknownKind);
  }
  if (!isTextOrNothing(value.kind) || !isTextOrNothing(value.apiVersion)) {
    return invalidPatch('kind and apiVersion are strings');
  }
  return { ...value, kind: resource.kind, apiVersion };
}

function isTextOrNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function apply(
  { services, resource }: ObjectCall,
  input: {
    readonly current: ApiObject;
    readonly type: Exclude<PatchType, 'apply'>;
    readonly patch: Json;
  },
): PatchOutcome | Status {
  const { current, type, patch } = input;
  const { schema } = services;
  switch (type) {
    case 'json':
      return applyJsonPatch(current, patch);
    case 'merge':
      if (!isJsonObject(patch)) {
        return badRequest('error decoding patch: the patch is not an object');
      }
      return { kind: 'patched', value: applyMergePatch(current, patch) };
    case 'strategic': {
      const types = { schema, struct: schema.structOf(resource) };
      const outcome = applyStrategicMergePatch(current, patch ?? {}, types);
      return outcome.kind === 'patched' && isJsonObject(outcome.value)
        ? { ...outcome, value: withSortedRaw(outcome.value, types) }
        : outcome;
    }
  }
}

function refusalOf({ kind, message }: Exclude<PatchOutcome, { kind: 'patched' }>): Status {
  switch (kind) {
    case 'malformed':
      return badRequest(message);
    case 'inapplicable':
      return unprocessable(message);
    case 'failed':
      return internal(message);
  }
}

function invalidPatch(message: string): Status {
  return invalid({ group: '', kind: '' }, [
    { field: 'patch', type: 'FieldValueInvalid', detail: message },
  ]);
}
