// Values as the wire has them: how large they are, whether two are equal, and which comes first.
//
// As the API reference has it: two types are unequal and in no order; a number is compared by value.
import { isDeepStrictEqual } from 'node:util';
import { compareText } from '@rollcall/base/compare-text.ts';

/** A value: its type, and what it holds. */
export type WireValue = Readonly<Record<string, unknown>>;

/** Values by the name of their attribute. */
export type WireItem = Readonly<Record<string, WireValue>>;

const MODELLED = 'com.amazonaws.dynamodb.v20120810#';

/** An error that the protocol knows. */
export class TableError extends Error {
  override readonly name = 'TableError';
  readonly type: string;
  /** What stands there, where a request with a failed condition asked for it. */
  readonly item: WireItem | undefined;

  constructor(type: string, message: string, item?: WireItem) {
    super(message);
    this.type = type;
    this.item = item;
  }
}

/** One constructor for each error; the name is the SDK's class name, or says what is refused. */
export const tableErrors = {
  validation: (message: string): TableError =>
    new TableError('com.amazon.coral.validate#ValidationException', message),
  unknown: (what: string): TableError =>
    tableErrors.validation(`This local table does not know ${what}.`),
  unknownOperation: (name: string): TableError =>
    new TableError(
      'com.amazon.coral.service#UnknownOperationException',
      `This local table does not know the operation ${name}.`,
    ),
  conditionFailed: (item?: WireItem): TableError =>
    new TableError(
      `${MODELLED}ConditionalCheckFailedException`,
      'The conditional request failed',
      item,
    ),
  notFound: (table: string): TableError =>
    new TableError(
      `${MODELLED}ResourceNotFoundException`,
      `Requested resource not found: Table: ${table} not found`,
    ),
  inUse: (table: string): TableError =>
    new TableError(`${MODELLED}ResourceInUseException`, `Table already exists: ${table}`),
};

const COLLECTION_BYTES = 3;
const SETS = new Set(['SS', 'NS', 'BS']);

/** Bytes of an item as DynamoDB counts them. Throws TableError where a value is none. */
export function sizeOfItem(item: WireItem): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) {
    bytes += Buffer.byteLength(name) + sizeOfValue(value);
  }
  return bytes;
}

function sizeOfValue(value: WireValue): number {
  const [[type, held] = ['', undefined], ...others] = Object.entries(value);
  const bytes = others.length === 0 ? SIZES[type]?.(held, type) : undefined;
  if (bytes !== undefined) return bytes;
  throw tableErrors.validation('An attribute value is of none of the types, or of two');
}

type SizeOf = (held: unknown, type: string) => number | undefined;

/** Of what each type holds; undefined: it cannot hold that. */
const SIZES: Readonly<Record<string, SizeOf>> = {
  S: (held) => (typeof held === 'string' ? Buffer.byteLength(held) : undefined),
  B: (held) => (typeof held === 'string' ? Buffer.byteLength(held, 'base64') : undefined),
  N: (held) => (Number.isNaN(numberOf(held)) ? undefined : digitBytes(String(held))),
  BOOL: (held) => (typeof held === 'boolean' ? 1 : undefined),
  NULL: (held) => (held === true ? 1 : undefined),
  M: (held) => {
    if (typeof held !== 'object' || held === null || Array.isArray(held)) return undefined;
    return sizeOfItem(held as WireItem) + Object.keys(held).length + COLLECTION_BYTES;
  },
  L: (held) => {
    if (!Array.isArray(held)) return undefined;
    const sizes = (held as readonly WireValue[]).map(sizeOfValue);
    return sizes.reduce((sum, size) => sum + size + 1, COLLECTION_BYTES);
  },
  SS: sizeOfSet,
  NS: sizeOfSet,
  BS: sizeOfSet,
};

function digitBytes(text: string): number {
  return Math.ceil(text.length / 2) + 1;
}

function sizeOfSet(held: unknown, type: string): number | undefined {
  if (!Array.isArray(held) || held.length === 0) return undefined;
  const sizes = held.map((member) => sizeOfValue({ [type.charAt(0)]: member as unknown }));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The members of a set, and their type; undefined: it is none. */
export function setOf(
  value: WireValue,
): { readonly type: string; readonly members: readonly string[] } | undefined {
  const [type = '', held] = entryOf(value);
  return SETS.has(type) ? { type, members: held as readonly string[] } : undefined;
}

/** A number of a value. Throws TableError where a double does not hold it. */
export function numberOf(text: unknown): number {
  const number = typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw tableErrors.validation('A number is none');
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    throw tableErrors.unknown(`so large a number as ${String(text)}`);
  }
  return number;
}

/** Whether two are equal; what is missing equals nothing. */
export function isEqual(left: WireValue | undefined, right: WireValue | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const [type, one] = entryOf(left);
  const [otherType, other] = entryOf(right);
  if (type !== otherType) return false;
  if (type === 'N') return numberOf(one) === numberOf(other);
  if (SETS.has(type))
    return isDeepStrictEqual(new Set(one as string[]), new Set(other as string[]));
  return isDeepStrictEqual(one, other);
}

/** Negative, zero or positive as the one comes before, with or after the other; NaN: they are in no order. */
export function compare(left: WireValue | undefined, right: WireValue | undefined): number {
  if (left === undefined || right === undefined) return Number.NaN;
  const [type, one] = entryOf(left);
  const [otherType, other] = entryOf(right);
  if (type !== otherType) return Number.NaN;
  if (type === 'N') return numberOf(one) - numberOf(other);
  if (type === 'S') return compareText(String(one), String(other));
  if (type === 'B') return Buffer.compare(bytesOf(one), bytesOf(other));
  throw tableErrors.validation(`Values of type ${type} have no order`);
}

function entryOf(value: WireValue): readonly [type: string, held: unknown] {
  return Object.entries(value)[0] ?? ['', undefined];
}

function bytesOf(held: unknown): Buffer {
  return Buffer.from(String(held), 'base64');
}
