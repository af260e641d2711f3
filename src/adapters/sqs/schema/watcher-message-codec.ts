/**
 * Codec of events.fifo: a readable JSON header around a payload that is compressed when it pays.
 *
 * The header stays plain, so that a dead letter can be read and its cluster's view be marked broken
 * (protocol 22). The payload starts with its format: `j` JSON, `z` base64 of zstd of JSON. Parsing
 * never throws: every byte of it may come from a captured watcher (faults 67). Who sent a message is
 * not judged here; until its sender was, no field of it may be believed (S6).
 */
import * as v from 'valibot';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import {
  MESSAGE_SCHEMA,
  type WatcherHeader,
  type WatcherMessage,
  AFFECTED_KEYS_MAX,
} from '../../../core/model/watcher-message.ts';
import { refusedField, type MessageRefusalCode, type RefusedBody } from './refused-body.ts';
import {
  clusterIdSchema,
  countSchema,
  namespaceSchema,
  objectNameSchema,
  textSchema,
  timeSchema,
  tokenSchema,
  uidSchema,
  versionSchema,
} from './field-schemas.ts';
import { projectionSchema, watchedKindSchema } from './projection-schema.ts';

/** The limit of SQS. */
export const BODY_LENGTH_MAX = 1024 * 1024;

const HASH_MAX = 2 ** 48 - 1;
/** A stamp has room for it. */
const SEQ_MAX = 999_999_999_999;
const ITEMS_MAX = 50_000;
const SLICE_INDEX_MAX = 9_999;
const RULES_MAX = 999_999_999;

const hashSchema = countSchema({ min: 0, max: HASH_MAX });

const setSchema = v.pipe(
  v.string(),
  v.regex(/^(nodes|daemonsets|(pods|revisions)\/[A-Za-z0-9._:-]{1,128})$/),
);

const membershipsSchema = v.pipe(
  v.array(v.strictObject({ set: setSchema, hash: hashSchema })),
  v.maxLength(ITEMS_MAX),
);

const deltaSchema = v.strictObject({
  of: watchedKindSchema,
  uid: uidSchema,
  name: objectNameSchema,
  namespace: v.optional(namespaceSchema),
  object: v.nullable(projectionSchema),
  sets: membershipsSchema,
  formerSets: membershipsSchema,
});

function perKind<const Field extends v.GenericSchema>(
  field: Field,
): Record<'Node' | 'Pod' | 'DaemonSet' | 'ControllerRevision', Field> {
  return { Node: field, Pod: field, DaemonSet: field, ControllerRevision: field };
}

const cutSchema = v.strictObject({
  marks: v.strictObject(perKind(v.optional(versionSchema))),
  hashes: v.strictObject(perKind(hashSchema)),
  silentMs: v.strictObject(perKind(v.optional(timeSchema))),
});

const sliceCountSchema = v.picklist([1, 4, 16]);

const announcementSchema = v.strictObject({
  kind: v.literal('announcement'),
  sliceCount: sliceCountSchema,
  reason: v.picklist(['start', 'periodic', 'requested', 'threshold', 'restored', 'refused-body']),
  requestId: v.optional(tokenSchema),
  standsBy: v.optional(textSchema(/^[\x21-\x7e]{1,256}$/)),
});

const keySchema = v.strictObject({ namespace: namespaceSchema, name: objectNameSchema });

const affectedSchema = v.strictObject({
  rules: countSchema({ min: 0, max: RULES_MAX }),
  keys: v.pipe(v.array(keySchema), v.maxLength(AFFECTED_KEYS_MAX)),
});

const changesSchema = v.strictObject({
  kind: v.literal('changes'),
  deltas: v.pipe(v.array(deltaSchema), v.maxLength(ITEMS_MAX)),
  affected: v.optional(affectedSchema),
  begun: v.optional(v.pipe(v.array(setSchema), v.maxLength(ITEMS_MAX))),
  cut: v.optional(cutSchema),
});

/** `<namespace>/<name>`. */
const nameKeySchema = textSchema(/^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9.-]{0,252}$/);

const sliceSchema = v.strictObject({
  set: setSchema,
  index: countSchema({ min: 0, max: SLICE_INDEX_MAX }),
  covers: v.optional(
    v.strictObject({ after: v.optional(nameKeySchema), upTo: v.optional(nameKeySchema) }),
  ),
  objects: v.pipe(
    v.array(v.strictObject({ object: projectionSchema, hash: hashSchema })),
    v.maxLength(ITEMS_MAX),
  ),
});

const slicesSchema = v.strictObject({
  kind: v.literal('slices'),
  slices: v.pipe(v.array(sliceSchema), v.maxLength(ITEMS_MAX)),
});

const manifestSchema = v.strictObject({
  kind: v.literal('manifest'),
  announcedSeq: countSchema({ min: 1, max: SEQ_MAX }),
  sliceCount: sliceCountSchema,
  cut: cutSchema,
});

/** Body of a message, once decompressed (core/model/watcher-message.ts). Closed: an unknown key is of another schema, or an attacker's. */
export const bodySchema = v.variant('kind', [
  changesSchema,
  slicesSchema,
  announcementSchema,
  manifestSchema,
]);

/** Fields of the header, one by one: a refused message still tells what can be told. */
const headerFields = {
  cluster: clusterIdSchema,
  clusterUid: uidSchema,
  epoch: versionSchema,
  incarnation: tokenSchema,
  seq: countSchema({ min: 1, max: SEQ_MAX }),
};

/** The envelope: header and payload. */
const envelopeSchema = v.strictObject({
  schema: v.literal(MESSAGE_SCHEMA),
  ...headerFields,
  payload: v.pipe(v.string(), v.regex(/^[jz]/)),
});

export interface RefusedWatcherMessage extends RefusedBody {
  /** What could be read of the header: unverified, never to be trusted before the sender is. */
  readonly header: Partial<WatcherHeader>;
}

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

/** How much structure a text may have. */
export interface StructureBound {
  /** Values, by the separators between them. */
  readonly separatorsMax: number;
  readonly depthMax: number;
}

/** Of a payload: a full one has half as many values; nothing is accepted that is nested so deeply. */
const PAYLOAD_STRUCTURE: StructureBound = { separatorsMax: 1_000_000, depthMax: 200 };

/** Of a body, whose payload is one string: a handful of fields, and those of releases to come. */
const ENVELOPE_STRUCTURE: StructureBound = { separatorsMax: 1000, depthMax: 10 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/** The index after a string that begins at `start`; the length of the text when it does not end. */
function endOfString(text: Uint8Array, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === BACKSLASH) at += 1;
    else if (text[at] === QUOTE) return at + 1;
  }
  return text.length;
}

/**
 * True for a JSON text (UTF-8) with more values, or deeper nesting, than the bound allows; counted without parsing, which
 * costs by values: one kilobyte, compressed, can unpack to millions of empty objects (L3). Only what stands outside of
 * strings counts; what is no JSON is left to the parser.
 */
export function isTooStructured(text: Uint8Array, bound: StructureBound): boolean {
  let separators = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case QUOTE:
        at = endOfString(text, at) - 1;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth += 1;
        separators += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
        break;
      case COMMA:
      case COLON:
        separators += 1;
        break;
      default:
    }
    if (depth > bound.depthMax || separators > bound.separatorsMax) return true;
  }
  return false;
}
