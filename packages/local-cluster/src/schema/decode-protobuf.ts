/**
 * Bodies in Kubernetes' protobuf, as Go clients with generated types send them (`kubectl drain`, `kubectl auth can-i`).
 *
 * A body becomes the JSON that the same client would have sent; everything after that is the same. The numbers of fields
 * come from the generated table. Answers are JSON: every such client accepts that too. Fields of unknown numbers are
 * skipped, as Go skips them.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { formatMicroTime, formatTime } from '../objects/timestamps.ts';
import { createSchema } from './create-schema.ts';
import { INLINED_STRUCTS, STRUCTS } from './field-table.ts';
import type { FieldDefinition, GoType, ScalarType } from './field-table.ts';
import { readFields, readPacked, WireError } from './wire-reader.ts';
import type { WireField } from './wire-reader.ts';

/** The object of a body, or why it cannot be read (400). */
export type ProtobufOutcome =
  | { readonly kind: 'decoded'; readonly object: JsonObject }
  | { readonly kind: 'malformed'; readonly message: string };

/** `k8s` and a zero byte, before the envelope (runtime.Unknown). */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
/** Numbers of the envelope's fields, and of TypeMeta's in it. */
const ENVELOPE = { typeMeta: 1, raw: 2 };
const TYPE_META = { apiVersion: 1, kind: 2 };

const schema = createSchema();
const utf8 = new TextDecoder();

/** Reads a whole body. */
export function decodeProtobuf(body: Uint8Array): ProtobufOutcome {
  if (!MAGIC.every((byte, index) => body[index] === byte)) {
    return malformed('provided data does not appear to be a protobuf message, expected prefix');
  }
  try {
    return decodeEnvelope(body.subarray(MAGIC.length));
  } catch (error) {
    if (error instanceof WireError || error instanceof SyntaxError) return malformed(error.message);
    throw error;
  }
}

function malformed(message: string): ProtobufOutcome {
  return { kind: 'malformed', message };
}

function decodeEnvelope(bytes: Uint8Array): ProtobufOutcome {
  const envelope = readFields(bytes);
  const typeMeta = readFields(bytesOf(envelope, ENVELOPE.typeMeta));
  const apiVersion = utf8.decode(bytesOf(typeMeta, TYPE_META.apiVersion));
  const kind = utf8.decode(bytesOf(typeMeta, TYPE_META.kind));
  const [left = '', right] = apiVersion.split('/');
  const [group, version] = right === undefined ? ['', left] : [left, right];
  const struct = schema.structOf({ group, version, kind });
  if (struct === undefined) {
    return malformed(`no kind "${kind}" is registered for version "${apiVersion}"`);
  }
  const object = decodeStruct(struct, bytesOf(envelope, ENVELOPE.raw));
  return { kind: 'decoded', object: { apiVersion, kind, ...object } };
}

function bytesOf(fields: readonly WireField[], number: number): Uint8Array {
  const value = fields.findLast((field) => field.number === number)?.value;
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function decodeStruct(struct: string, bytes: Uint8Array): JsonObject {
  const members: Record<string, Json> = {};
  const byNumber = fieldsByNumber(struct);
  const inlined = INLINED_STRUCTS.get(struct);
  for (const { number, value } of readFields(bytes)) {
    const inlinedStruct = inlined?.get(number);
    if (inlinedStruct !== undefined) {
      Object.assign(members, decodeStruct(inlinedStruct, expectBytes(value)));
      continue;
    }
    const field = byNumber.get(number);
    if (field !== undefined) {
      members[field.name] = decodeField(field.type, value, members[field.name]);
    }
  }
  return members;
}

const TYPE_META_FIELDS: ReadonlySet<string> = new Set(['kind', 'apiVersion']);

const numberedFields = new Map<string, ReadonlyMap<number, FieldDefinition>>();

function fieldsByNumber(struct: string): ReadonlyMap<number, FieldDefinition> {
  const known = numberedFields.get(struct);
  if (known !== undefined) return known;
  const fields = new Map<number, FieldDefinition>();
  for (const field of fieldsInside(struct)) {
    if (field.protobufNumber !== undefined) fields.set(field.protobufNumber, field);
  }
  numberedFields.set(struct, fields);
  return fields;
}

/**
 * The fields that a message can hold. An embedded TypeMeta has numbers of its own and is never written inside: the
 * envelope names the kind.
 */
function fieldsInside(struct: string): readonly FieldDefinition[] {
  const declared = STRUCTS.get(struct);
  const fields = [...(declared?.values() ?? [])];
  const hasTypeMeta =
    declared?.get('kind')?.protobufNumber === 1 && declared.get('apiVersion')?.protobufNumber === 2;
  return hasTypeMeta ? fields.filter(({ name }) => !TYPE_META_FIELDS.has(name)) : fields;
}

/** One occurrence of a field: lists and maps grow with each. */
function decodeField(type: GoType, value: bigint | Uint8Array, before: Json | undefined): Json {
  switch (type.kind) {
    case 'pointer':
      return decodeField(type.to, value, before);
    case 'struct':
      return decodeStruct(type.struct, expectBytes(value));
    case 'list':
      return [...((before ?? []) as readonly Json[]), ...decodeElements(type.of, value)];
    case 'map':
      return { ...((before ?? {}) as JsonObject), ...decodeEntry(type.of, expectBytes(value)) };
    case 'scalar':
      return decodeScalar(type.scalar, value);
  }
}

function decodeElements(of: GoType, value: bigint | Uint8Array): readonly Json[] {
  const isNumber = of.kind === 'scalar' && (of.scalar === 'int32' || of.scalar === 'int64');
  return isNumber && value instanceof Uint8Array
    ? readPacked(value).map(Number)
    : [decodeField(of, value, undefined)];
}

function decodeEntry(of: GoType, bytes: Uint8Array): JsonObject {
  const fields = readFields(bytes);
  const key = utf8.decode(bytesOf(fields, 1));
  const value = bytesOf(fields, 2);
  // The values that are lists (ExtraValue) are messages with the list as their first field.
  const decoded =
    of.kind === 'list'
      ? readFields(value).flatMap((item) => decodeElements(of.of, item.value))
      : decodeField(of, value, undefined);
  return { [key]: decoded };
}

function decodeScalar(scalar: ScalarType, value: bigint | Uint8Array): Json {
  switch (scalar) {
    case 'bool':
      return expectNumber(value) !== 0;
    case 'int32':
    case 'int64':
      return expectNumber(value);
    case 'float64': {
      const { buffer, byteOffset, byteLength } = expectBytes(value);
      if (byteLength !== 8) throw new WireError('unexpected EOF');
      return new DataView(buffer, byteOffset).getFloat64(0, true);
    }
    case 'string':
      return utf8.decode(expectBytes(value));
    case 'bytes':
      return Buffer.from(expectBytes(value)).toString('base64');
    default:
      return decodeWrapped(scalar, readFields(expectBytes(value)));
  }
}

/** Scalars of JSON that are messages in protobuf. */
function decodeWrapped(
  scalar: 'time' | 'microTime' | 'quantity' | 'intOrString' | 'raw',
  fields: readonly WireField[],
): Json {
  switch (scalar) {
    case 'time':
    case 'microTime': {
      if (fields.length === 0) return null;
      const timeMs = numberOf(fields, 1) * 1000 + numberOf(fields, 2) / 1e6;
      return scalar === 'time' ? formatTime(timeMs) : formatMicroTime(timeMs);
    }
    case 'quantity':
      return utf8.decode(bytesOf(fields, 1));
    case 'intOrString':
      return numberOf(fields, 1) === 0 ? numberOf(fields, 2) : utf8.decode(bytesOf(fields, 3));
    case 'raw': {
      const text = utf8.decode(bytesOf(fields, 1));
      return text === '' ? null : (JSON.parse(text) as Json);
    }
  }
}

function numberOf(fields: readonly WireField[], number: number): number {
  const value = fields.findLast((field) => field.number === number)?.value;
  return typeof value === 'bigint' ? Number(value) : 0;
}

function expectBytes(value: bigint | Uint8Array): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new WireError('proto: wrong wireType = 0');
}

function expectNumber(value: bigint | Uint8Array): number {
  if (typeof value === 'bigint') return Number(value);
  throw new WireError('proto: wrong wireType = 2');
}
