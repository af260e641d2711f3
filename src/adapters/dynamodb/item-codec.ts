/**
 * The parts of records: keys, attributes, and bodies, which are one format byte and a payload:
 * 0x00 is plain JSON, 0x01 JSON compressed with zstd. A format of a newer release is refused by
 * name, never guessed; a larger body than an item holds is refused before it is sent (protocol 16).
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import * as v from 'valibot';

export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

export type StoredItem = Readonly<Record<string, unknown>>;

/** One kind of record (records.ts): where it stands, and what its attributes hold. */
export interface RecordKind<Name extends readonly unknown[], Read, Written = Read> {
  readonly keyOf: (...name: Name) => ItemKey;
  /** Throws ItemUnreadableError of what does not fit. */
  readonly read: (item: StoredItem, key: ItemKey) => Read;
  /** All that such an item may have; undefined: without it. Throws ItemTooLargeError. */
  readonly attributes: (record: Written, key: ItemKey) => StoredItem;
  /** The whole item; the whole, in company of others (ADR 0048); or these attributes alone. */
  readonly written: 'put' | 'batched' | 'updated';
  /** Attribute of its token, if not `writer`: owners of different attributes keep their own. */
  readonly tokenIn?: string;
}

export interface RecordPlace<Written> {
  readonly key: ItemKey;
  readonly kind: Pick<RecordKind<never, unknown, Written>, 'attributes' | 'written' | 'tokenIn'>;
}

export function at<Name extends readonly unknown[], Written>(
  kind: RecordKind<Name, unknown, Written>,
  ...name: Name
): RecordPlace<Written> {
  return { key: kind.keyOf(...name), kind };
}

export function keyIn({ pk, sk }: StoredItem): ItemKey {
  return { pk: String(pk), sk: String(sk) };
}

export function namesIn(sk: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = sk.split('/', 2);
  return { namespace, name };
}

const FORMAT_JSON = 0x00;
const FORMAT_ZSTD_JSON = 0x01;
/** Below this, compression saves no write unit worth its time. */
const COMPRESS_FROM_BYTES = 1024;
/** Bound of a body in bytes; DynamoDB's own limit for a whole item is 409,600. */
export const ITEM_BODY_BYTES_MAX = 300_000;
/** Bound of a decompressed body: an item cannot make a function run out of memory. */
const DECODED_BYTES_MAX = 64 * 1024 * 1024;
/** Room that is made at a time: a slice of pods has some ten times the size of its body, and most fit at once. */
const USUAL_RATIO = 16;
const DECODED_CHUNK_BYTES_MAX = 1024 * 1024;

class ItemError extends Error {
  readonly item: string;

  constructor(key: ItemKey, detail: string, options?: ErrorOptions) {
    const item = `${key.pk} ${key.sk}`;
    super(`${item}: ${detail}`, options);
    this.item = item;
  }
}

/** Something would not fit an item, as we or the table found. Nothing was written. */
export class ItemTooLargeError extends ItemError {
  override readonly name = 'ItemTooLargeError';
  readonly code = 'item-too-large';
}

/** A stored body cannot be read: written by a newer release, or damaged. */
export class ItemUnreadableError extends ItemError {
  override readonly name = 'ItemUnreadableError';
  readonly code = 'item-unreadable';
}

/** Reads what fits a schema; throws ItemUnreadableError with this detail of anything else, and quotes nothing of it. */
// @__NO_SIDE_EFFECTS__
export function storedAs<T>(
  schema: v.GenericSchema<unknown, T>,
  detail: string,
): (value: unknown, key: ItemKey) => T {
  return (value, key) => {
    const parsed = v.safeParse(schema, value);
    if (parsed.success) return parsed.output;
    throw new ItemUnreadableError(key, detail);
  };
}

/** Encodes a JSON value as a body. Throws ItemTooLargeError beyond ITEM_BODY_BYTES_MAX. */
export function encodeBody(key: ItemKey, value: unknown): Uint8Array {
  return encodeText(key, JSON.stringify(value));
}

/** JSON of the members of a list that was encoded before, as long as a caller holds the list. */
const texts = new WeakMap<object, string>();

/**
 * The same for a list whose members are never changed in place: most of them stood in the list that was encoded before,
 * as `ingest` writes a slice of hundreds anew for a few that changed. `asStored`: the same for members of one type.
 */
export function encodeList<T extends object>(
  key: ItemKey,
  list: readonly T[],
  asStored: (member: T) => unknown = (member) => member,
): Uint8Array {
  const members = list.map((member) => {
    let text = texts.get(member);
    // Stryker disable next-line ConditionalExpression: what is remembered is what would be made again
    if (text === undefined) {
      text = JSON.stringify(asStored(member));
      // Stryker disable next-line CallExpression: what is not remembered is made again
      texts.set(member, text);
    }
    return text;
  });
  return encodeText(key, `[${members.join(',')}]`);
}

/** A body, and nothing else. */
export function bodyAlone(record: unknown, key: ItemKey): StoredItem {
  return { body: encodeBody(key, record) };
}

export function versioned(
  { version, ...body }: { readonly version: number },
  key: ItemKey,
): StoredItem {
  return { version, body: encodeBody(key, body) };
}

/** Encodes JSON that is written already. Throws ItemTooLargeError beyond ITEM_BODY_BYTES_MAX. */
export function encodeText(key: ItemKey, text: string): Uint8Array {
  const json = Buffer.from(text, 'utf8');
  const isSmall = json.byteLength < COMPRESS_FROM_BYTES;
  const payload = isSmall
    ? json
    : zstdCompressSync(json, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  const body = Buffer.allocUnsafe(payload.byteLength + 1);
  body[0] = isSmall ? FORMAT_JSON : FORMAT_ZSTD_JSON;
  payload.copy(body, 1);
  if (body.byteLength > ITEM_BODY_BYTES_MAX) {
    const detail = `body of ${body.byteLength} bytes, at most ${ITEM_BODY_BYTES_MAX} are stored`;
    throw new ItemTooLargeError(key, detail);
  }
  return body;
}

/** Decodes a body. Throws ItemUnreadableError for unknown formats and damaged payloads. */
export function decodeBody(key: ItemKey, body: unknown): unknown {
  return openBody(key, body)();
}

/** The same, decoded when it is asked for; an unknown format is refused at once. */
export function openBody(key: ItemKey, body: unknown): () => unknown {
  if (!(body instanceof Uint8Array)) throw new ItemUnreadableError(key, 'has no binary body');
  const payload = body.subarray(1);
  const format = body[0];
  if (format !== FORMAT_JSON && format !== FORMAT_ZSTD_JSON) {
    const detail = `format ${String(format)} is unknown to this release; a newer one wrote it`;
    throw new ItemUnreadableError(key, detail);
  }
  return () => {
    try {
      const json = format === FORMAT_JSON ? bufferOver(payload) : decompressed(payload);
      return JSON.parse(json.toString('utf8')) as unknown;
    } catch (error) {
      throw new ItemUnreadableError(key, 'cannot be decoded', { cause: error });
    }
  };
}

function decompressed(payload: Uint8Array): Buffer {
  const chunkSize = Math.min(DECODED_CHUNK_BYTES_MAX, payload.byteLength * USUAL_RATIO + 1024);
  return zstdDecompressSync(payload, { maxOutputLength: DECODED_BYTES_MAX, chunkSize });
}

/** The same bytes, not a copy of them. */
function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
