/**
 * Codec of events.fifo: a readable JSON header around a payload that is compressed when it pays.
 *
 * The header stays plain, so that a dead letter can be read and its cluster's view be marked broken
 * (protocol 22). The payload starts with its format: `j` JSON, `z` base64 of zstd of JSON. Parsing
 * never throws: every byte of it may come from a captured watcher (faults 67). Who sent a message is
 * not judged here; until its sender was, no field of it may be believed (S6).
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import * as v from 'valibot';
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import { MESSAGE_SCHEMA } from '../../../core/model/watcher-message.ts';
import type { WatcherHeader, WatcherMessage } from '../../../core/model/watcher-message.ts';
import { refusedField, type MessageRefusalCode, type RefusedBody } from './refused-body.ts';
import { ENVELOPE_STRUCTURE, PAYLOAD_STRUCTURE, isTooStructured } from './structure-bound.ts';
import {
  BODY_LENGTH_MAX,
  bodySchema,
  envelopeSchema,
  headerFields,
} from './watcher-message-schema.ts';

export interface RefusedWatcherMessage extends RefusedBody {
  /** What could be read of the header: unverified, never to be trusted before the sender is. */
  readonly header: Partial<WatcherHeader>;
}

/** Result of parsing the body of a message of events.fifo. */
export type ParsedWatcherMessage =
  { readonly kind: 'message'; readonly message: WatcherMessage } | RefusedWatcherMessage;

/** Up to here a payload stays plain: cheaper than compressing, and a person can read it. */
const PLAIN_LENGTH_MAX = 4096;
const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024;
/** Characters that SQS refuses and JSON leaves as they are. */
const UNSENDABLE = /[\ufffe\uffff]/;

/** Encodes a message as the body of an SQS message. */
export function encodeWatcherMessage(message: WatcherMessage): string {
  const { schema, cluster, clusterUid, epoch, incarnation, seq, body } = message;
  const json = JSON.stringify(body);
  const isPlain = json.length <= PLAIN_LENGTH_MAX && !UNSENDABLE.test(json);
  const payload = isPlain ? `j${json}` : `z${zstdCompressSync(json).toString('base64')}`;
  return JSON.stringify({ schema, cluster, clusterUid, epoch, incarnation, seq, payload });
}

type Decoded<T> =
  | { readonly kind: 'decoded'; readonly value: T }
  | { readonly kind: 'refused'; readonly code: 'undecodable' | 'oversized' };

function parseJson(text: string): Decoded<unknown> {
  try {
    return { kind: 'decoded', value: JSON.parse(text) as unknown };
  } catch {
    // Counted as undecodable by the caller; the parser's message would quote the body.
    return { kind: 'refused', code: 'undecodable' };
  }
}

function decompress(base64: string): Decoded<Buffer> {
  try {
    const compressed = Buffer.from(base64, 'base64');
    const plain = zstdDecompressSync(compressed, { maxOutputLength: PAYLOAD_BYTES_MAX });
    return { kind: 'decoded', value: plain };
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return { kind: 'refused', code: isTooLarge ? 'oversized' : 'undecodable' };
  }
}

function decodePayload(payload: string): Decoded<unknown> {
  const text = payload.slice(1);
  const plain: Decoded<Buffer> = payload.startsWith('j')
    ? { kind: 'decoded', value: Buffer.from(text) }
    : decompress(text);
  if (plain.kind === 'refused') return plain;
  if (isTooStructured(plain.value, PAYLOAD_STRUCTURE))
    return { kind: 'refused', code: 'oversized' };
  return parseJson(plain.value.toString('utf8'));
}

const BRIEF = { abortEarly: true } as const;

/** A body whose envelope was read, and whose payload was not unpacked yet. */
export interface OpenedWatcherMessage {
  /** What could be read of the header: unverified, never to be trusted before the sender is. */
  readonly header: Partial<WatcherHeader>;
  /** Unpacks the payload and judges the whole. Never throws. */
  readonly unpack: () => ParsedWatcherMessage;
}

/**
 * Opens a body as far as is needed to ask who may speak for its cluster, before anything is unpacked
 * (S6, L3). Never throws.
 */
export function openWatcherMessage(body: string): OpenedWatcherMessage {
  const refuse = (code: MessageRefusalCode): OpenedWatcherMessage => {
    const refused = { kind: 'refused', code, field: '', header: {} } as const;
    return { header: refused.header, unpack: () => refused };
  };
  if (body.length > BODY_LENGTH_MAX) return refuse('oversized');
  if (isTooStructured(Buffer.from(body), ENVELOPE_STRUCTURE)) return refuse('oversized');
  const outer = parseJson(body);
  if (outer.kind === 'refused') return refuse(outer.code);
  const { value: envelope } = outer;
  if (!isJsonObject(envelope)) return refuse('invalid');
  const header = readableHeader(envelope);
  return { header, unpack: () => unpack(envelope, header) };
}

/** Parses the body of a message of events.fifo. Never throws. */
export function parseWatcherMessage(body: string): ParsedWatcherMessage {
  return openWatcherMessage(body).unpack();
}

/** The fields of a header that are valid by themselves. */
function readableHeader(envelope: JsonObject): Partial<WatcherHeader> {
  const readable = Object.entries(headerFields)
    .filter(([name, schema]) => v.is(schema, envelope[name]))
    .map(([name]) => [name, envelope[name]]);
  return Object.fromEntries(readable) as Partial<WatcherHeader>;
}

function unpack(opened: JsonObject, readable: Partial<WatcherHeader>): ParsedWatcherMessage {
  const refuse = (code: MessageRefusalCode, field: string): RefusedWatcherMessage => ({
    kind: 'refused',
    code,
    field,
    header: readable,
  });
  const { schema } = opened;
  if (typeof schema === 'number' && schema !== MESSAGE_SCHEMA) {
    return refuse('unsupported-schema', 'schema');
  }
  const envelope = v.safeParse(envelopeSchema, opened, BRIEF);
  if (!envelope.success) return refuse('invalid', refusedField(envelope.issues[0]));
  const { payload, ...header } = envelope.output;
  const inner = decodePayload(payload);
  if (inner.kind === 'refused') return refuse(inner.code, 'payload');
  const parsed = v.safeParse(bodySchema, inner.value, BRIEF);
  if (!parsed.success) {
    const path = refusedField(parsed.issues[0]);
    return refuse('invalid', path === '' ? 'payload' : `payload.${path}`);
  }
  // The schemas spell out the model; its brands and template types exist for the compiler only.
  const message = { ...header, body: parsed.output } as unknown as WatcherMessage; // parsed just now
  return { kind: 'message', message };
}
