/**
 * Bytes of a watch of pods in protobuf into frames: each event after its length, in four bytes.
 *
 * An event (meta/v1 WatchEvent) holds its object in an envelope (runtime.Unknown) that says what kind it is. Of a pod that
 * something else than a DaemonSet controls identity and owners are read, of others what protobuf/forms.ts names. As with JSON, what is
 * no event is `undecodable`, never skipped in silence (faults row 36). Never throws.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { WatchFrame } from '../../../ports/cluster/watch-source.ts';
import { hasForeignController } from './skim-pod.ts';
import { FRAME_BYTES_MAX, frameOf } from './watch-frames.ts';
import { API_STATUS, BOOKMARK, IDENTITY_AND_OWNERS, POD } from '../protobuf/forms.ts';
import { WireError, readBytes, readMessage } from '../protobuf/message.ts';

/** `k8s` and a zero byte, before each envelope. */
const MAGIC = Buffer.from('k8s\0', 'latin1');
const LENGTH_BYTES = 4;
const NOTHING = Buffer.alloc(0);

/** Numbers of fields: of an event, of the extension that its object is, of the envelope and of the type in it, of a pod. */
const EVENT = { type: 1, object: 2 };
const EXTENSION = { raw: 1 };
const ENVELOPE = { type: 1, raw: 2 };
const TYPE = { kind: 2 };
const METADATA = 1;

/** Cuts chunks into events. */
export class LengthSplitter {
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** Complete events, read before the next chunk comes; undefined when one is longer than any event can be. */
  split(chunk: Buffer): Buffer[] | undefined {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    const events: Buffer[] = [];
    for (let length = this.#length(); length !== undefined; length = this.#length()) {
      if (length > FRAME_BYTES_MAX) return undefined;
      if (this.#pendingBytes < LENGTH_BYTES + length) break;
      const bytes = this.#joined();
      events.push(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
      this.#keep(bytes.subarray(LENGTH_BYTES + length));
    }
    return events;
  }

  /** Of the next event; undefined until it came. */
  #length(): number | undefined {
    if (this.#pendingBytes < LENGTH_BYTES) return undefined;
    const [first = NOTHING] = this.#pending;
    return (first.length < LENGTH_BYTES ? this.#joined() : first).readUInt32BE(0);
  }

  #joined(): Buffer {
    const [first = NOTHING] = this.#pending;
    if (this.#pending.length === 1) return first;
    const bytes = Buffer.concat(this.#pending, this.#pendingBytes);
    this.#keep(bytes);
    return bytes;
  }

  #keep(bytes: Buffer): void {
    this.#pending = bytes.length === 0 ? [] : [bytes];
    this.#pendingBytes = bytes.length;
  }
}

/** One event as a frame. */
export function readEvent(event: Buffer): WatchFrame {
  try {
    const type = readBytes(event, EVENT.type)?.toString('latin1') ?? '';
    const extension = readBytes(event, EVENT.object);
    const enveloped = extension === undefined ? undefined : readBytes(extension, EXTENSION.raw);
    const object = enveloped === undefined ? undefined : readEnveloped(enveloped, type);
    if (object === undefined) return { kind: 'undecodable', message: 'an event has no object' };
    return frameOf(type, object);
  } catch (cause) {
    if (cause instanceof WireError) return { kind: 'undecodable', message: cause.message };
    throw cause;
  }
}

/** The body of a refusal, as JSON would have it; empty when it is no Status. */
export function refusalText(body: Buffer): string {
  try {
    return JSON.stringify(readEnveloped(body, 'ERROR') ?? '');
  } catch (cause) {
    // As a page of a proxy: it is judged by its status alone.
    if (cause instanceof WireError) return '';
    throw cause;
  }
}

/** The object of an event of this type; undefined when there is none, or one of another kind than such events have. */
function readEnveloped(bytes: Buffer, type: string): JsonObject | undefined {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const envelope = bytes.subarray(MAGIC.length);
  const kind = readBytes(readBytes(envelope, ENVELOPE.type) ?? NOTHING, TYPE.kind)?.toString();
  const raw = readBytes(envelope, ENVELOPE.raw) ?? NOTHING;
  if (type === 'ERROR')
    return kind === 'Status' ? { kind, ...readMessage(API_STATUS, raw) } : undefined;
  if (kind !== 'Pod') return undefined;
  return type === 'BOOKMARK' ? readMessage(BOOKMARK, raw) : readPod(raw);
}

function readPod(raw: Buffer): JsonObject {
  const metadata = readMessage(IDENTITY_AND_OWNERS, readBytes(raw, METADATA) ?? NOTHING);
  return hasForeignController(metadata['ownerReferences']) ? { metadata } : readMessage(POD, raw);
}
