/**
 * The schema of the local API server: the generated table behind the interface of schema.ts.
 *
 * Compiling is lazy and shared by all schemas of a process; a schema itself has no state.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { PatchField } from '@rollcall/base/patch/patch-types.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { DecodeContext } from './decode-context.ts';
import { structDecoder } from './decode.ts';
import { KINDS, STRUCTS } from './field-table.ts';
import type { FieldDefinition, GoType } from './field-table.ts';
import type { DecodeOutcome, GroupVersionKind, Schema } from './schema.ts';

/** The types of the release in types.json. */
export function createSchema(): Schema {
  return { decode, structOf, field };
}

function decode(kind: GroupVersionKind, value: Json): DecodeOutcome {
  const struct = structOf(kind);
  if (struct === undefined) {
    return malformed(`no kind "${kind.kind}" is registered for version "${apiVersionOf(kind)}"`);
  }
  if (!isJsonObject(value)) {
    return malformed("couldn't get version/kind; json parse error: the body is not a JSON object");
  }
  const context: DecodeContext = { path: [], structs: [], unknownFields: [] };
  const object = structDecoder(struct)(value, context);
  if (context.failure !== undefined) {
    const { version, kind: name } = kind;
    return malformed(
      `${name} in version "${version}" cannot be handled as a ${name}: ${context.failure}`,
    );
  }
  return {
    kind: 'decoded',
    object: named(object, kind),
    unknownFields: context.unknownFields,
  };
}

/** The object with apiVersion and kind: the API server fills in those of the request's resource. */
function named(object: JsonObject, kind: GroupVersionKind): ApiObject {
  if (object['apiVersion'] !== undefined && object['kind'] !== undefined) return asApi(object);
  return asApi({ kind: kind.kind, apiVersion: apiVersionOf(kind), ...object });
}

/** Decoded kinds have metadata; the few that have none (DeleteOptions, Status) are read as plain objects. */
function asApi(object: JsonObject): ApiObject {
  return object as ApiObject;
}

function malformed(message: string): DecodeOutcome {
  return { kind: 'malformed', message };
}

function structOf(kind: GroupVersionKind): string | undefined {
  const apiVersion = apiVersionOf(kind);
  // DeleteOptions and Status belong to every group and version.
  return (
    KINDS.get(apiVersion)?.get(kind.kind) ??
    (META_KINDS.has(kind.kind) ? KINDS.get('v1')?.get(kind.kind) : undefined)
  );
}

const META_KINDS: ReadonlySet<string> = new Set(['DeleteOptions', 'Status']);

function apiVersionOf({ group, version }: GroupVersionKind): string {
  return group === '' ? version : `${group}/${version}`;
}

const fieldTypes = new Map<string, PatchField>();

function field(struct: string, name: string): PatchField | undefined {
  const definition = STRUCTS.get(struct)?.get(name);
  if (definition === undefined) return undefined;
  const key = `${struct} ${name}`;
  const known = fieldTypes.get(key);
  if (known !== undefined) return known;
  const type = fieldTypeOf(definition);
  fieldTypes.set(key, type);
  return type;
}

function fieldTypeOf({ type, patchStrategies, patchMergeKey }: FieldDefinition): PatchField {
  const bare = withoutPointer(type);
  const inner = bare.kind === 'list' || bare.kind === 'map' ? withoutPointer(bare.of) : bare;
  return {
    shape: shapeOf(bare),
    patchStrategies,
    ...(inner.kind === 'struct' ? { struct: inner.struct } : {}),
    ...(patchMergeKey === undefined ? {} : { patchMergeKey }),
  };
}

function withoutPointer(type: GoType): GoType {
  return type.kind === 'pointer' ? withoutPointer(type.to) : type;
}

function shapeOf(type: GoType): PatchField['shape'] {
  switch (type.kind) {
    case 'struct':
      return 'object';
    case 'list':
    case 'map':
      return type.kind;
    case 'pointer':
      return shapeOf(type.to);
    case 'scalar':
      return type.scalar === 'raw' ? 'raw' : 'scalar';
  }
}
