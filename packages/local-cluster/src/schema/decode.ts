/**
 * Decoding as a Go round trip (JSON to typed struct to JSON), compiled from the table into closures.
 *
 * What is unknown is dropped and listed; null is absence; what Go omits when empty is omitted, and what it always writes
 * is written. Invariant: a value that a round trip would not change comes back as the very same object, so that
 * decoding in-process writes costs no copies. Keys are matched exactly, as the API server's decoder does.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { failType, pathText } from './decode-context.ts';
import type { DecodeContext, Decoder } from './decode-context.ts';
import { STRUCTS } from './field-table.ts';
import type { FieldDefinition, GoType } from './field-table.ts';
import { SCALARS } from './scalars.ts';

/** A type, compiled. */
interface CompiledType {
  readonly decode: Decoder;
  /** What null and absence are written as, where they are written. */
  readonly zero: () => Json;
  readonly isEmpty: (value: Json) => boolean;
}

/** A field, compiled: undefined stands for "not written". */
interface CompiledField {
  readonly name: string;
  readonly decode: (value: Json, context: DecodeContext) => Json | undefined;
}

interface CompiledStruct extends CompiledType {
  readonly decodeObject: (value: JsonObject, context: DecodeContext) => JsonObject;
}

const compiledStructs = new Map<string, CompiledStruct>();

/** The decoder of a struct of the table; asserts that it exists. */
export function structDecoder(
  struct: string,
): (value: JsonObject, context: DecodeContext) => JsonObject {
  return compileStruct(struct).decodeObject;
}

function compileType(type: GoType): CompiledType {
  switch (type.kind) {
    case 'scalar': {
      const scalar = SCALARS[type.scalar];
      return { ...scalar, zero: () => scalar.zero };
    }
    case 'struct':
      return compileStruct(type.struct);
    case 'pointer': {
      const to = compileType(type.to);
      return { decode: to.decode, zero: () => null, isEmpty: (value) => value === null };
    }
    case 'list':
      return compileList(type.of);
    case 'map':
      return compileMap(type.of);
  }
}

function compileList(of: GoType): CompiledType {
  const element = compileType(of);
  const decode: Decoder = (value, context) => {
    if (!Array.isArray(value)) return failType(context, value, `[]${goName(of)}`);
    const list = value as readonly Json[];
    let copy: Json[] | undefined;
    for (const [index, before] of list.entries()) {
      context.path.push(index);
      const after = before === null ? element.zero() : element.decode(before, context);
      context.path.pop();
      if (copy === undefined && after !== before) copy = list.slice(0, index);
      copy?.push(after);
    }
    return copy ?? list;
  };
  // A stored empty list comes back as none: the original stores protobuf, which has no empty lists.
  return { decode, zero: () => null, isEmpty: isEmptyList };
}

function compileMap(of: GoType): CompiledType {
  const element = compileType(of);
  const decode: Decoder = (value, context) => {
    if (!isJsonObject(value)) return failType(context, value, `map[string]${goName(of)}`);
    let changes: Map<string, Json> | undefined;
    for (const key in value) {
      const before = value[key] ?? null;
      // Keys are in no path: values are no structs, and Go does not name them in errors.
      const after = before === null ? element.zero() : element.decode(before, context);
      if (after !== before) (changes ??= new Map()).set(key, after);
    }
    // fromEntries defines own members whatever they are called, `__proto__` included.
    return changes === undefined
      ? value
      : Object.fromEntries(Object.entries(value).map(([k, v]) => [k, changes.get(k) ?? v]));
  };
  return { decode, zero: () => null, isEmpty: isEmptyMap };
}

function compileStruct(struct: string): CompiledStruct {
  const known = compiledStructs.get(struct);
  if (known !== undefined) return known;
  const definitions = STRUCTS.get(struct);
  if (definitions === undefined) throw new Error(`types.json has no ${struct}`);
  const fields = new Map<string, CompiledField>();
  const always: { readonly name: string; readonly zero: () => Json }[] = [];
  let zero: JsonObject | undefined;
  const decodeObject = createObjectDecoder({ struct, fields, always });
  const compiled: CompiledStruct = {
    decodeObject,
    decode: (value, context) =>
      isJsonObject(value)
        ? decodeObject(value, context)
        : failType(context, value, goName({ kind: 'struct', struct })),
    zero: () =>
      (zero ??= Object.fromEntries(always.map((field) => [field.name, field.zero()] as const))),
    isEmpty: () => false,
  };
  // Before its fields, which may refer back to it.
  compiledStructs.set(struct, compiled);
  for (const definition of definitions.values()) {
    const type = compileType(definition.type);
    fields.set(definition.name, compileField(definition, type));
    if (isAlwaysWritten(definition)) always.push({ name: definition.name, zero: type.zero });
  }
  return compiled;
}

/** omitempty never leaves out what is a struct in Go, whether or not JSON shows it as one. */
function isAlwaysWritten({ type, omission }: FieldDefinition): boolean {
  if (omission === 'always') return true;
  if (omission === 'zero') return false;
  if (type.kind === 'struct') return true;
  return type.kind === 'scalar' && STRUCT_SCALARS.has(type.scalar);
}

const STRUCT_SCALARS: ReadonlySet<string> = new Set([
  'time',
  'microTime',
  'quantity',
  'intOrString',
  'raw',
]);

function compileField(definition: FieldDefinition, type: CompiledType): CompiledField {
  const { name, omission } = definition;
  const { decode, zero, isEmpty } = type;
  if (isAlwaysWritten(definition)) {
    const isList = definition.type.kind === 'list';
    return {
      name,
      decode: (value, context) => {
        const after = value === null ? zero() : decode(value, context);
        return isList && isEmptyList(after) ? null : after;
      },
    };
  }
  const isZero =
    omission === 'zero' ? (value: Json): boolean => isEmpty(value) || value === zero() : isEmpty;
  return {
    name,
    decode: (value, context) => {
      if (value === null) return undefined;
      const after = decode(value, context);
      return isZero(after) ? undefined : after;
    },
  };
}

function createObjectDecoder(parts: {
  readonly struct: string;
  readonly fields: ReadonlyMap<string, CompiledField>;
  readonly always: readonly { readonly name: string; readonly zero: () => Json }[];
}): (value: JsonObject, context: DecodeContext) => JsonObject {
  const { struct, fields, always } = parts;
  const decodeMember = (key: string, before: Json, context: DecodeContext): Json | undefined => {
    const field = fields.get(key);
    context.path.push(key);
    let after: Json | undefined;
    if (field === undefined) context.unknownFields.push(pathText(context.path));
    else after = field.decode(before, context);
    context.path.pop();
    return after;
  };
  return (value, context) => {
    context.structs.push(struct);
    let copy: Record<string, Json> | undefined;
    for (const key in value) {
      const before = value[key];
      const after = before === undefined ? undefined : decodeMember(key, before, context);
      if (copy === undefined && (after !== before || after === undefined)) {
        copy = membersBefore(value, key);
      }
      if (copy !== undefined && after !== undefined) copy[key] = after;
    }
    context.structs.pop();
    return withAlwaysWritten(copy ?? value, always);
  };
}

function withAlwaysWritten(
  value: JsonObject,
  always: readonly { readonly name: string; readonly zero: () => Json }[],
): JsonObject {
  let copy: Record<string, Json | undefined> | undefined;
  for (const { name, zero } of always) {
    if (value[name] === undefined) (copy ??= { ...value })[name] = zero();
  }
  return copy ?? value;
}

function membersBefore(value: JsonObject, end: string): Record<string, Json> {
  const members: Record<string, Json> = {};
  for (const key in value) {
    if (key === end) break;
    const member = value[key];
    if (member !== undefined) members[key] = member;
  }
  return members;
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isEmptyMap(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

/** The type as Go prints it in errors: `v1.Container`, `[]string`. */
function goName(type: GoType): string {
  switch (type.kind) {
    case 'scalar':
      return type.scalar;
    case 'struct':
      return type.struct.split('.').slice(1).join('.');
    case 'pointer':
      return goName(type.to);
    case 'list':
      return `[]${goName(type.of)}`;
    case 'map':
      return `map[string]${goName(type.of)}`;
  }
}
