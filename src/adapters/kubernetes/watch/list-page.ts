/**
 * Reads one page of a list while it arrives, item by item.
 *
 * A page is megabytes of text and more as objects, of which the watcher keeps a line each: whole in memory it
 * would be the largest thing it ever holds. So of the body only the item that is being received is kept. Pods
 * that others own are skimmed (skim-pod.ts). A page that is not laid out as API servers write it, metadata first
 * and compact, is collected and parsed whole. It does not judge what a page lacks: see watch-source.ts.
 */
import { isResourceVersion } from '../../../core/model/identifiers.ts';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../../core/model/projections.ts';
import type { ListPage } from '../../../ports/cluster/watch-source.ts';
import {
  CLOSE_LIST,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  ObjectEnd,
  parseObject,
  readKey,
  skipValue,
  skimObject,
} from './skim-pod.ts';

/** An item that cannot be read: the list is broken, and what it would have named is unknown. */
class ListItemError extends Error {
  override readonly name = 'ListItemError';
}

/** The part before the items is smaller; a page whose items do not begin within it is collected. */
const HEAD_BYTES_MAX = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export class ListPageReader {
  readonly #kind: WatchedKind;
  readonly #onItem: (item: KubernetesObject) => void;
  readonly #objectEnd = new ObjectEnd();
  #state: 'head' | 'between' | 'item' | 'end' | 'whole' = 'head';
  #page: ListPage | undefined;
  /** The head, the item that is being received, or the whole body. */
  #held: Buffer[] = [];

  /** `onItem` is called for each item, in order, within `read` or `end`, which throw what it throws. */
  constructor(kind: WatchedKind, onItem: (item: KubernetesObject) => void) {
    this.#kind = kind;
    this.#onItem = onItem;
  }

  /** Takes the next bytes. Throws when an item cannot be read. */
  read(chunk: Buffer): void {
    if (this.#state === 'whole') this.#held.push(chunk);
    else if (this.#state === 'head') this.#readHead(chunk);
    else this.#readItems(chunk, 0);
  }

  /** After the last bytes: the page without its items; undefined when the body was none. */
  end(): ListPage | undefined {
    if (this.#state === 'head' || this.#state === 'whole') return this.#readWhole();
    if (this.#state !== 'end') throw new ListItemError('the list is cut short');
    return this.#page;
  }

  #readHead(chunk: Buffer): void {
    const head = this.#held.length === 0 ? chunk : Buffer.concat([...this.#held, chunk]);
    const cut = cutList(head);
    if (cut === undefined) {
      this.#held = [head];
      if (head.length > HEAD_BYTES_MAX) this.#state = 'whole';
      return;
    }
    this.#held = [];
    this.#page = readMetadata(cut.metadata);
    this.#state = 'between';
    this.#readItems(head, cut.itemsStart);
  }

  #readItems(chunk: Buffer, from: number): void {
    let at = from;
    while (at < chunk.length && this.#state !== 'end') {
      if (this.#state === 'between') at = this.#readBetween(chunk, at);
      else at = this.#readItem(chunk, at);
    }
  }

  #readBetween(chunk: Buffer, at: number): number {
    const byte = chunk[at];
    if (byte === OPEN_OBJECT) {
      this.#state = 'item';
      return at;
    }
    if (byte === CLOSE_LIST) this.#state = 'end';
    else if (byte !== COMMA) throw new ListItemError('an item is no object');
    return at + 1;
  }

  #readItem(chunk: Buffer, start: number): number {
    const end = this.#objectEnd.find(chunk, start);
    const part = chunk.subarray(start, end);
    if (end === undefined) {
      this.#held.push(part);
      return chunk.length;
    }
    const item = this.#held.length === 0 ? part : Buffer.concat([...this.#held, part]);
    this.#held = [];
    this.#state = 'between';
    // Without a version the page is none, and nothing of it is told.
    if (this.#page !== undefined) this.#onItem(readItem(item, this.#kind));
    return end;
  }

  #readWhole(): ListPage | undefined {
    const [first = NOTHING, ...rest] = this.#held;
    const body = rest.length === 0 ? first : Buffer.concat(this.#held);
    const { metadata, items } = parseObject(body.toString('utf8')) ?? {};
    const page = isJsonObject(metadata) ? readMetadata(metadata) : undefined;
    // A list of nothing may have null items.
    const listed = Array.isArray(items) ? (items as readonly Json[]) : [];
    if (page === undefined || !listed.every(hasMetadata)) return undefined;
    for (const item of listed) this.#onItem(item as unknown as KubernetesObject); // metadata was checked
    return page;
  }
}

function readMetadata(metadata: JsonObject): ListPage | undefined {
  const { resourceVersion: version, continue: continueToken } = metadata;
  if (!isResourceVersion(version)) return undefined;
  const hasMore = typeof continueToken === 'string' && continueToken !== '';
  return { resourceVersion: version, ...(hasMore ? { continueToken } : {}) };
}

/** The list's metadata, and where its items begin; undefined when they do not come in this order, or not yet. */
function cutList(
  body: Buffer,
): { readonly metadata: JsonObject; readonly itemsStart: number } | undefined {
  if (body[0] !== OPEN_OBJECT) return undefined;
  let metadata: JsonObject | undefined;
  let at = 1;
  for (;;) {
    const key = readKey(body, at);
    if (key === undefined) return undefined;
    if (key.key === 'items') {
      if (metadata === undefined || body[key.valueStart] !== OPEN_LIST) return undefined;
      return { metadata, itemsStart: key.valueStart + 1 };
    }
    const end = skipValue(body, key.valueStart);
    if (end === undefined || body[end] !== COMMA) return undefined;
    if (key.key === 'metadata') metadata = parseObject(body.toString('utf8', key.valueStart, end));
    at = end + 1;
  }
}

function readItem(item: Buffer, kind: WatchedKind): KubernetesObject {
  const skimmed = kind === 'Pod' ? skimObject(item, 0) : undefined;
  if (skimmed !== undefined) return skimmed;
  const parsed = parseObject(item.toString('utf8'));
  if (!hasMetadata(parsed)) throw new ListItemError('an item is no object');
  return parsed as unknown as KubernetesObject; // metadata was checked
}

/** True for what may be a Kubernetes object. */
export function hasMetadata(value: Json | undefined): value is JsonObject {
  return isJsonObject(value) && isJsonObject(value['metadata']);
}
