/**
 * Protobuf's wire format: a message as its fields, in order. Knows no types.
 *
 * Total: bytes that are no message throw WireError, which the decoder turns into a refusal.
 */

/** The bytes are not a protobuf message. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** A field of a message: a whole number, or bytes (text, message, packed numbers, fixed-size numbers). */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;
const VARINT_BYTES_MAX = 10;

/** The fields of a message. */
export function readFields(bytes: Uint8Array): readonly WireField[] {
  const cursor = { bytes, offset: 0 };
  const fields: WireField[] = [];
  while (cursor.offset < bytes.length) {
    const tag = Number(readVarint(cursor));
    fields.push({ number: Math.floor(tag / 8), value: readValue(cursor, tag % 8) });
  }
  return fields;
}

/** The whole numbers of a packed list. */
export function readPacked(bytes: Uint8Array): readonly bigint[] {
  const cursor = { bytes, offset: 0 };
  const numbers: bigint[] = [];
  while (cursor.offset < bytes.length) numbers.push(readVarint(cursor));
  return numbers;
}

interface Cursor {
  readonly bytes: Uint8Array;
  offset: number;
}

function readValue(cursor: Cursor, wireType: number): bigint | Uint8Array {
  switch (wireType) {
    case VARINT:
      return readVarint(cursor);
    case FIXED_64:
      return readBytes(cursor, 8);
    case FIXED_32:
      return readBytes(cursor, 4);
    case LENGTH_DELIMITED:
      return readBytes(cursor, Number(readVarint(cursor)));
    default:
      throw new WireError(`proto: wrong wireType = ${String(wireType)}`);
  }
}

function readBytes(cursor: Cursor, length: number): Uint8Array {
  const start = cursor.offset;
  if (start + length > cursor.bytes.length) throw new WireError('unexpected EOF');
  Object.assign(cursor, { offset: start + length });
  return cursor.bytes.subarray(start, start + length);
}

function readVarint(cursor: Cursor): bigint {
  let value = 0n;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = cursor.bytes[cursor.offset];
    if (byte === undefined) throw new WireError('unexpected EOF');
    Object.assign(cursor, { offset: cursor.offset + 1 });
    value |= BigInt(byte & 0x7f) << BigInt(index * 7);
    if (byte < 0x80) return BigInt.asIntN(64, value);
  }
  throw new WireError('proto: integer overflow');
}
