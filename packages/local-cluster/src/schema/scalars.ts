/**
 * Decoders of the types that hold no other, as the Go types' own JSON methods work.
 *
 * Differs from Kubernetes: a number has passed JSON.parse, so `1.0` counts as an integer, and integers beyond 2^53 are
 * rounded; no field of the API needs either.
 */
import type { Json } from '@rollcall/base/json.ts';
import { formatQuantity, parseQuantity } from '../objects/quantity.ts';
import { canonicalMicroTime, canonicalTime } from '../objects/timestamps.ts';
import { failType, failWith } from './decode-context.ts';
import type { DecodeContext, Decoder } from './decode-context.ts';
import type { ScalarType } from './field-table.ts';

const INT32_MAX = 2 ** 31 - 1;
const REMEMBERED_MAX = 4096;
/** A whole second in UTC of a day that every month has: nothing to do, and by far the commonest. */
const PLAIN_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
/** Six digits, neither more nor fewer: Go's layout demands them. */
const MICRO_FRACTION = /:\d{2}[.,]\d{6}(?:Z|[+-])/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A scalar's decoder, and what its Go zero value is written as. */
export interface Scalar {
  readonly decode: Decoder;
  readonly zero: Json;
  /** True of values that `omitempty` leaves out. */
  readonly isEmpty: (value: Json) => boolean;
}

const never = (): boolean => false;
const isZeroNumber = (value: Json): boolean => value === 0;
const isEmptyText = (value: Json): boolean => value === '';

/** All of them. */
export const SCALARS: Readonly<Record<ScalarType, Scalar>> = {
  string: { decode: decodeString, zero: '', isEmpty: isEmptyText },
  bool: { decode: decodeBool, zero: false, isEmpty: (value) => value === false },
  int32: { decode: decodeInt32, zero: 0, isEmpty: isZeroNumber },
  int64: { decode: decodeInt64, zero: 0, isEmpty: isZeroNumber },
  float64: { decode: decodeFloat, zero: 0, isEmpty: isZeroNumber },
  bytes: { decode: decodeBytes, zero: '', isEmpty: isEmptyText },
  time: { decode: decodeTime, zero: null, isEmpty: never },
  microTime: { decode: decodeMicroTime, zero: null, isEmpty: never },
  quantity: { decode: decodeQuantity, zero: '0', isEmpty: never },
  intOrString: { decode: decodeIntOrString, zero: 0, isEmpty: never },
  raw: { decode: (value) => value, zero: null, isEmpty: never },
};

function decodeString(value: Json, context: DecodeContext): Json {
  return typeof value === 'string' ? value : failType(context, value, 'string');
}

function decodeBool(value: Json, context: DecodeContext): Json {
  return typeof value === 'boolean' ? value : failType(context, value, 'bool');
}

function decodeInt32(value: Json, context: DecodeContext): Json {
  const fits =
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value <= INT32_MAX &&
    value >= -INT32_MAX - 1;
  return fits ? value : failType(context, value, 'int32');
}

function decodeInt64(value: Json, context: DecodeContext): Json {
  const fits = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 63;
  return fits ? value : failType(context, value, 'int64');
}

function decodeFloat(value: Json, context: DecodeContext): Json {
  return typeof value === 'number' ? value : failType(context, value, 'float64');
}

function decodeBytes(value: Json, context: DecodeContext): Json {
  if (typeof value !== 'string') return failType(context, value, '[]uint8');
  const text = value.replace(/[\r\n]/g, '');
  if (text.length % 4 !== 0 || !BASE64.test(text)) {
    return failWith(context, value, 'illegal base64 data at input byte 0');
  }
  // The last character may carry bits that belong to no byte; writing it anew clears them.
  return Buffer.from(text, 'base64').toString('base64');
}

function decodeTime(value: Json, context: DecodeContext): Json {
  if (typeof value !== 'string') return failType(context, value, 'string');
  if (PLAIN_TIME.test(value)) return value;
  return canonicalTime(value) ?? failTime(context, value, '2006-01-02T15:04:05Z07:00');
}

function decodeMicroTime(value: Json, context: DecodeContext): Json {
  if (typeof value !== 'string') return failType(context, value, 'string');
  const canonical = MICRO_FRACTION.test(value) ? canonicalMicroTime(value) : undefined;
  return canonical ?? failTime(context, value, '2006-01-02T15:04:05.000000Z07:00');
}

function failTime(context: DecodeContext, value: string, layout: string): Json {
  const quoted = JSON.stringify(value);
  const message = `parsing time ${quoted} as "${layout}": cannot parse ${quoted} as "2006"`;
  return failWith(context, value, message);
}

const quantityTexts = new Map<string, string>();

function decodeQuantity(value: Json, context: DecodeContext): Json {
  if (typeof value !== 'string' && typeof value !== 'number') return failQuantity(context, value);
  const text = String(value).trim();
  const known = quantityTexts.get(text);
  if (known !== undefined) return known;
  const quantity = parseQuantity(text);
  if (quantity === undefined) return failQuantity(context, value);
  if (quantityTexts.size >= REMEMBERED_MAX) quantityTexts.clear();
  const canonical = formatQuantity(quantity);
  quantityTexts.set(text, canonical);
  return canonical;
}

function failQuantity(context: DecodeContext, value: Json): Json {
  const pattern = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
  return failWith(context, value, `quantities must match the regular expression '${pattern}'`);
}

function decodeIntOrString(value: Json, context: DecodeContext): Json {
  return typeof value === 'string' ? value : decodeInt32(value, context);
}
