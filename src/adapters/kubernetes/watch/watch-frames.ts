/**
 * The bytes of a watch into frames: one JSON document per line, parsed once.
 *
 * Lines are cut at byte level, so that a character that spans two chunks stays whole. A line that is no
 * event is `undecodable`, never skipped in silence: what it said is unknown (faults row 36). An ERROR
 * event ends the stream as the HTTP status that it carries would have.
 */
import { isResourceVersion } from '../../../core/model/identifiers.ts';
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { SourceFailure, WatchFrame } from '../../../ports/cluster/watch-source.ts';
import { readStatus, retryAfterOf } from '../transport/api-status.ts';

/** Far above what etcd stores as one object (1.5 MiB by default). */
const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

export class LineSplitter {
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** Complete lines, read before the next chunk comes; undefined when one is longer than any event can be. */
  split(chunk: Buffer): Buffer[] | undefined {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#complete(chunk.subarray(start, end)));
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#pending.push(chunk.subarray(start));
      this.#pendingBytes += chunk.length - start;
    }
    return this.#pendingBytes > FRAME_BYTES_MAX ? undefined : lines;
  }

  #complete(tail: Buffer): Buffer {
    if (this.#pending.length === 0) return tail;
    const line = Buffer.concat([...this.#pending, tail]);
    this.#pending = [];
    this.#pendingBytes = 0;
    return line;
  }
}

/** The names of event types in frames. */
export const CHANGES: ReadonlyMap<string, 'added' | 'modified' | 'deleted'> = new Map([
  ['ADDED', 'added'],
  ['MODIFIED', 'modified'],
  ['DELETED', 'deleted'],
]);

export function parseWatchFrame(line: string): WatchFrame {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    // Reported as a frame; the parser's message would quote the object.
    return { kind: 'undecodable', message: 'a line is no JSON' };
  }
  const object = isJsonObject(event) ? event['object'] : undefined;
  if (!isJsonObject(event) || !isJsonObject(object)) {
    return { kind: 'undecodable', message: 'a line is no event' };
  }
  return frameOf(typeof event['type'] === 'string' ? event['type'] : '', object);
}

function frameOf(type: string, object: JsonObject): WatchFrame {
  if (type === 'ERROR') return { kind: 'failed', failure: errorFailure(object) };
  const metadata = object['metadata'];
  if (!isJsonObject(metadata)) return { kind: 'undecodable', message: 'an object has no metadata' };
  if (type === 'BOOKMARK') return bookmarkFrame(metadata);
  const change = CHANGES.get(type);
  if (change === undefined) return { kind: 'undecodable', message: 'an event has no known type' };
  return { kind: change, object: object as unknown as KubernetesObject }; // metadata was checked
}

function bookmarkFrame(metadata: JsonObject): WatchFrame {
  const version = metadata['resourceVersion'];
  if (!isResourceVersion(version)) {
    return { kind: 'undecodable', message: 'a bookmark has no version' };
  }
  const annotations = metadata['annotations'];
  const isInitialEventsEnd =
    isJsonObject(annotations) && annotations[INITIAL_EVENTS_END] === 'true';
  return { kind: 'bookmark', resourceVersion: version, isInitialEventsEnd };
}

function errorFailure(status: JsonObject): SourceFailure {
  const code = typeof status['code'] === 'number' ? status['code'] : 500;
  const retryAfterMs = retryAfterOf(undefined, status, undefined);
  return watchFailure({ status: code, body: status, ...defined({ retryAfterMs }) });
}

/** A refusal: HTTP status, body, and for how long the server asks to be left alone. */
export interface RefusedRequest {
  readonly status: number;
  readonly body: Json | undefined;
  readonly retryAfterMs?: number;
}

/**
 * The meaning of a refused list, watch, read or write to a watcher: relist, fall back, wait, or just try again. By
 * status, never by message text: the message is for people.
 */
export function watchFailure(refused: RefusedRequest): SourceFailure {
  const status = readStatus(refused.body);
  const reason = status === undefined ? '' : ` ${status.reason}: ${status.message}`;
  return {
    kind: failureKind(refused.status),
    message: `HTTP ${String(refused.status)}${reason}`,
    ...defined({ retryAfterMs: refused.retryAfterMs }),
  };
}

function failureKind(status: number): SourceFailure['kind'] {
  switch (status) {
    case 410:
      return 'expired';
    // The answer to sendInitialEvents where WatchList is off (spec aws-facts 8).
    case 400:
    case 422:
      return 'unsupported';
    case 401:
    case 403:
      return 'unauthorized';
    case 429:
      return 'throttled';
    default:
      return 'unavailable';
  }
}
