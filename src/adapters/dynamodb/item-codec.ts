/**
 * Bodies of items: one format byte, then the payload.
 *
 * 0x00 is plain JSON (small bodies), 0x01 is JSON compressed with zstd. A newer release may add
 * formats; this one refuses what it does not know with an error that names it, and never guesses.
 * Items stay far below DynamoDB's 400 KB: a body beyond 300 KB is refused before it is sent
 * (protocol 16: the watcher announces more slices first).
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ItemKey } from './item-keys.ts';

const FORMAT_JSON = 0x00;
const FORMAT_ZSTD_JSON = 0x01;
/** Below this, compression saves no write unit worth its time. */
const COMPRESS_FROM_BYTES = 1024;
/** Bound of a body in bytes; DynamoDB's own limit for a whole item is 409,600. */
export const ITEM_BODY_BYTES_MAX = 300_000;
/** Bound of a decompressed body: an item cannot make a function run out of memory. */
const DECODED_BYTES_MAX = 64 * 1024 * 1024;

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

/** Encodes a JSON value as a body. Throws ItemTooLargeError beyond ITEM_BODY_BYTES_MAX. */
export function encodeBody(key: ItemKey, value: unknown): Uint8Array {
  const json = Buffer.from(JSON.stringify(value), 'utf8');
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
  if (!(body instanceof Uint8Array)) throw new ItemUnreadableError(key, 'has no binary body');
  const payload = body.subarray(1);
  const format = body[0];
  if (format !== FORMAT_JSON && format !== FORMAT_ZSTD_JSON) {
    const detail = `format ${String(format)} is unknown to this release; a newer one wrote it`;
    throw new ItemUnreadableError(key, detail);
  }
  try {
    const json =
      format === FORMAT_JSON
        ? payload
        : zstdDecompressSync(payload, { maxOutputLength: DECODED_BYTES_MAX });
    return JSON.parse(Buffer.from(json).toString('utf8'));
  } catch (error) {
    throw new ItemUnreadableError(key, 'cannot be decoded', { cause: error });
  }
}
