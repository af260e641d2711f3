/**
 * Writes objects as an API server does in protobuf, by upstream's generated table of fields (types.json): what the adapters read by
 * a table of their own is held to it.
 *
 * Like Go's generated code it writes what is no pointer even where it is empty. Fields that the table does not number stay away.
 */
import { createSchema } from '@rollcall/local-cluster/schema/create-schema.ts';
import { STRUCTS } from '@rollcall/local-cluster/schema/field-table.ts';
import type { GoType, ScalarType } from '@rollcall/local-cluster/schema/field-table.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

const VARINT = 0;
const BYTES = 2;

const schema = createSchema();

/** `k8s`, a zero byte, and the object in its envelope. */
export function encodeObject(apiVersion: string, kind: string, object: JsonObject): Buffer {
  const [left = '', right] = apiVersion.split('/');
  const [group, version] = right === undefined ? ['', left] : [left, right];
  const struct = kind === 'Status' ? 'meta.v1.Status' : schema.structOf({ group, version, kind });
  if (struct === undefined) throw new Error(`no struct for ${apiVersion} ${kind}`);
  const typeMeta = Buffer.concat([bytesField(1, apiVersion), bytesField(2, kind)]);
  const raw = encodeStruct(struct, object);
  const rest = [bytesField(3, ''), bytesField(4, '')];
  return Buffer.concat([
    Buffer.from('k8s\0'),
    bytesField(1, typeMeta),
    bytesField(2, raw),
    ...rest,
  ]);
}

/** An event of a watch, without its length. */
export function encodeEvent(type: string, object: Buffer): Buffer {
  return Buffer.concat([bytesField(1, type), bytesField(2, bytesField(1, object))]);
}

/** The same after its length, as it stands in a stream. */
export function framed(event: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

/** A field of bytes: text, or a message. */
export function bytesField(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(BigInt(number * 8 + BYTES)), varint(BigInt(bytes.length)), bytes]);
}

/** A field of a number. */
export function numberField(number: number, value: bigint): Buffer {
  return Buffer.concat([varint(BigInt(number * 8 + VARINT)), varint(value)]);
}

/** A number as protobuf writes it; negative ones take ten bytes. */
export function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  while (left > 0x7fn) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  return Buffer.from([...bytes, Number(left)]);
}

function encodeStruct(struct: string, object: JsonObject): Buffer {
  const parts: Buffer[] = [];
  for (const [name, { type, protobufNumber }] of STRUCTS.get(struct) ?? []) {
    const isTypeMeta = name === 'kind' || name === 'apiVersion';
    if (protobufNumber === undefined || (isTypeMeta && 'metadata' in object)) continue;
    parts.push(encodeField(protobufNumber, type, object[name] ?? undefined));
  }
  return Buffer.concat(parts);
}

const NOTHING = Buffer.alloc(0);

function encodeField(number: number, type: GoType, value: Json | undefined): Buffer {
  switch (type.kind) {
    case 'pointer':
      return value === undefined ? NOTHING : encodeField(number, type.to, value);
    case 'struct':
      return bytesField(number, encodeStruct(type.struct, isJsonObject(value) ? value : {}));
    case 'list': {
      const items = Array.isArray(value) ? (value as readonly Json[]) : [];
      return Buffer.concat(items.map((item) => encodeField(number, type.of, item)));
    }
    case 'map': {
      const entries = Object.entries(isJsonObject(value) ? value : {});
      return Buffer.concat(
        entries.map(([key, member]) =>
          bytesField(number, Buffer.concat([bytesField(1, key), encodeField(2, type.of, member)])),
        ),
      );
    }
    case 'scalar':
      return encodeScalar(number, type.scalar, value);
  }
}

function encodeScalar(number: number, scalar: ScalarType, value: Json | undefined): Buffer {
  switch (scalar) {
    case 'string':
      return bytesField(number, typeof value === 'string' ? value : '');
    case 'bool':
      return numberField(number, value === true ? 1n : 0n);
    case 'int32':
    case 'int64':
      return numberField(number, BigInt(typeof value === 'number' ? value : 0));
    case 'time':
      return bytesField(number, timeMessage(value));
    default:
      // Bytes, quantities and the like: nobody who reads a pod's events looks at them.
      return value === undefined
        ? NOTHING
        : bytesField(number, bytesField(1, JSON.stringify(value)));
  }
}

function timeMessage(value: Json | undefined): Buffer {
  if (typeof value !== 'string') return NOTHING;
  const seconds = BigInt(Math.floor(Date.parse(value) / 1000));
  return Buffer.concat([numberField(1, seconds), numberField(2, 0n)]);
}
