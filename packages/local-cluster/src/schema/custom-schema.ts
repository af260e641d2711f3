/**
 * The types of the release, and beside them those of custom kinds: metadata as everywhere, the rest pruned by the schema
 * of their definition.
 *
 * Differs from Kubernetes: to its owners every list of a custom object is one value, also where its schema has keys.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { PatchField } from '@rollcall/base/patch/patch-types.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { DecodeContext } from './decode-context.ts';
import { structDecoder } from './decode.ts';
import type { DecodeOutcome, GroupVersionKind, Schema } from './schema.ts';

const METADATA = 'meta.v1.ObjectMeta';
/** Stand in the place of structs that no Go type has. */
const ROOT = 'custom.Object';
const INNER = 'custom.Value';

/** Adds the custom kinds that `schemaOf` knows now. */
export function withCustomKinds(
  schema: Schema,
  schemaOf: (kind: GroupVersionKind) => JsonObject | undefined,
): Schema {
  return {
    decode: (kind, value) => {
      const custom = schemaOf(kind);
      return custom === undefined ? schema.decode(kind, value) : decode(kind, value, custom);
    },
    structOf: (kind) => (schemaOf(kind) === undefined ? schema.structOf(kind) : ROOT),
    field: (struct, name) =>
      struct === ROOT || struct === INNER ? customField(struct, name) : schema.field(struct, name),
  };
}

function customField(struct: string, name: string): PatchField {
  const isMetadata = struct === ROOT && name === 'metadata';
  return { shape: 'object', patchStrategies: [], struct: isMetadata ? METADATA : INNER };
}

function decode(kind: GroupVersionKind, value: Json, schema: JsonObject): DecodeOutcome {
  if (!isJsonObject(value)) {
    return { kind: 'malformed', message: 'the body is not a JSON object' };
  }
  const apiVersion = `${kind.group}/${kind.version}`;
  const context: DecodeContext = { path: ['metadata'], structs: [ROOT], unknownFields: [] };
  const { metadata = {}, apiVersion: _apiVersion, kind: _kind, ...rest } = value;
  if (!isJsonObject(metadata)) {
    return { kind: 'malformed', message: 'metadata is not a JSON object' };
  }
  const decoded = structDecoder(METADATA)(metadata, context);
  if (context.failure !== undefined) {
    const message = `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${context.failure}`;
    return { kind: 'malformed', message };
  }
  const { unknownFields } = context;
  const pruned = prune(rest, schema, { path: '', unknownFields }) as JsonObject; // of an object an object
  const object = { apiVersion, kind: kind.kind, metadata: decoded, ...pruned };
  return { kind: 'decoded', object: object as object as ApiObject, unknownFields }; // named and with metadata
}

interface Pruning {
  readonly path: string;
  readonly unknownFields: string[];
}

function prune(value: Json, schema: JsonObject, { path, unknownFields }: Pruning): Json {
  if (isJsonObject(value)) return pruneMembers(value, schema, { path, unknownFields });
  const { items } = schema;
  if (!Array.isArray(value) || !isJsonObject(items)) return value;
  return (value as readonly Json[]).map((item, index) =>
    prune(item, items, { path: `${path}[${String(index)}]`, unknownFields }),
  );
}

function pruneMembers(
  value: JsonObject,
  schema: JsonObject,
  { path, unknownFields }: Pruning,
): JsonObject {
  const { properties, additionalProperties } = schema;
  const named = isJsonObject(properties) ? properties : {};
  const keepsUnknown =
    schema['x-kubernetes-preserve-unknown-fields'] === true ||
    schema['x-kubernetes-embedded-resource'] === true ||
    additionalProperties === true;
  const kept: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const memberPath = path === '' ? name : `${path}.${name}`;
    const inner = Object.hasOwn(named, name) ? named[name] : additionalProperties;
    if (isJsonObject(inner)) {
      kept.push([name, prune(member, inner, { path: memberPath, unknownFields })]);
    } else if (keepsUnknown) kept.push([name, member]);
    else unknownFields.push(memberPath);
  }
  return Object.fromEntries(kept);
}
