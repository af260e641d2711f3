/**
 * From the body of a create or an update to an object of the right kind, with what must be said about unknown fields.
 *
 * Everything that cannot be read is a 400. Names and namespaces are compared with the path here as well, since that too
 * comes before the rules of the resource.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { GroupVersionKind } from '../../schema/schema.ts';
import type { Status } from '../request/api-request.ts';
import { apiVersionOf } from './render.ts';
import type { ResourceCall } from './resource-call.ts';
import { badRequest, isStatus, unsupportedMediaType } from '../request/statuses.ts';
import type { WriteOptions } from '../request/write-options.ts';

/** A body that could be read. */
export interface DecodedBody {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

const MEDIA_TYPES = ['application/json', 'application/yaml'];
const TAKEN_TYPES = new Set(['', 'application/json', 'application/yaml']);

/** 415 unless the body is JSON (or YAML that the server has parsed). */
export function contentTypeRefusal(contentType: string | undefined): Status | undefined {
  const type = mediaTypeOf(contentType);
  return TAKEN_TYPES.has(type) ? undefined : unsupportedMediaType(MEDIA_TYPES);
}

/** The media type without its parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Decodes a body as an object of a kind; kind and apiVersion may be left out. */
export function decodeBody(
  call: ResourceCall,
  kind: GroupVersionKind,
  options: Pick<WriteOptions, 'fieldValidation'>,
): DecodedBody | Status {
  const typed = contentTypeRefusal(call.request.contentType) ?? typedBody(call.request.body, kind);
  if (isStatus(typed)) return typed;
  const outcome = call.services.schema.decode(kind, typed);
  if (outcome.kind === 'malformed') return badRequest(outcome.message);
  const unknown = unknownFieldTexts(outcome.unknownFields);
  if (options.fieldValidation === 'Strict' && unknown.length > 0) {
    return badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: strict decoding error: ${unknown.join(', ')}`,
    );
  }
  return { object: outcome.object, warnings: options.fieldValidation === 'Warn' ? unknown : [] };
}

/** What is said about fields that the types do not have. */
export function unknownFieldTexts(fields: readonly string[]): readonly string[] {
  return fields.length === 0 ? fields : fields.map((field) => `unknown field "${field}"`);
}

/** The body with kind and apiVersion; 400 when it is none or another kind. A null body is an empty object. */
function typedBody(body: Json | undefined, kind: GroupVersionKind): JsonObject | Status {
  const members = body === null ? {} : body;
  if (!isJsonObject(members)) {
    return badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind`,
    );
  }
  const apiVersion = apiVersionOf(kind);
  if (members.kind === kind.kind && members.apiVersion === apiVersion) return members;
  if (isOther(members.kind, kind.kind) || isOther(members.apiVersion, apiVersion)) {
    return badRequest(
      `${JSON.stringify(members.kind ?? kind.kind)} in version ${JSON.stringify(members.apiVersion ?? apiVersion)} cannot be handled as a ${kind.kind}`,
    );
  }
  return { ...members, kind: kind.kind, apiVersion };
}

function isOther(given: Json | undefined, expected: string): boolean {
  return given !== undefined && given !== null && given !== '' && given !== expected;
}

/**
 * The object in the namespace of the request: an absent one is filled in, one that a cluster-scoped resource cannot have
 * is dropped, another one is a 400.
 */
export function inRequestNamespace(call: ResourceCall, object: ApiObject): ApiObject | Status {
  const { namespace: given, ...metadata } = object.metadata;
  const wanted = call.resource.isNamespaced ? call.namespace : undefined;
  if (given === wanted) return object;
  if (wanted === undefined) return { ...object, metadata };
  if (given === undefined || given === '') {
    return { ...object, metadata: { ...object.metadata, namespace: wanted } };
  }
  return badRequest(
    'the namespace of the provided object does not match the namespace sent on the request',
  );
}

/** 400 unless the object names itself as the path does. */
export function nameRefusal(object: ApiObject, name: string): Status | undefined {
  const given: string | undefined = object.metadata.name;
  if (given === undefined || given === '') {
    return badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (given === name) return undefined;
  return badRequest(
    `the name of the object (${given}) does not match the name on the URL (${name})`,
  );
}
