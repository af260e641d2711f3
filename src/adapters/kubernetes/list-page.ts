/**
 * One page of a list, whose items are parsed one by one as they are asked for.
 *
 * A page of five hundred pods is a megabyte and a half of text and five times that as objects, of which the
 * watcher keeps a line each: parsed at once they would be the largest thing it ever holds. Pods that others
 * own are skimmed (skim-pod.ts). A page that is not laid out as API servers write it is parsed whole.
 */
import { isResourceVersion } from '../../core/model/identifiers.ts';
import { isJsonObject } from '../../core/model/json.ts';
import type { Json, JsonObject } from '../../core/model/json.ts';
import type { KubernetesObject } from '../../core/model/kubernetes.ts';
import type { WatchedKind } from '../../core/model/projections.ts';
import type { ListPage } from '../../ports/watch-source.ts';
import { CLOSE_LIST, COMMA, OPEN_LIST, OPEN_OBJECT, readKey, skipValue } from './json-bytes.ts';
import { skimObject } from './skim-pod.ts';

/** An item that cannot be read: the list is broken, and what it would have named is unknown. */
class ListItemError extends Error {
  override readonly name = 'ListItemError';
}

/** Reads a page; undefined when the body is none. Iterating its items throws when one cannot be read. */
export function readListPage(body: Buffer, kind: WatchedKind): ListPage | undefined {
  const list = cutList(body);
  if (list === undefined) return readWhole(body);
  const { metadata, itemsStart } = list;
  const head = readMetadata(metadata);
  if (head === undefined) return undefined;
  return { ...head, items: { [Symbol.iterator]: () => eachItem(body, itemsStart, kind) } };
}

type PageHead = Omit<ListPage, 'items'>;

function readMetadata(metadata: JsonObject): PageHead | undefined {
  const { resourceVersion: version, continue: continueToken } = metadata;
  if (!isResourceVersion(version)) return undefined;
  const hasMore = typeof continueToken === 'string' && continueToken !== '';
  return { resourceVersion: version, ...(hasMore ? { continueToken } : {}) };
}

/** The list's metadata, and where its items begin; undefined when they do not come in this order. */
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

function* eachItem(body: Buffer, start: number, kind: WatchedKind): Generator<KubernetesObject> {
  let at = start;
  while (body[at] !== CLOSE_LIST) {
    const end = skipValue(body, at);
    if (end === undefined || end === at) throw new ListItemError('the list is cut short');
    yield (kind === 'Pod' ? skimObject(body, at) : undefined) ?? parseItem(body, at, end);
    at = body[end] === COMMA ? end + 1 : end;
  }
}

function parseItem(body: Buffer, start: number, end: number): KubernetesObject {
  const item = parseObject(body.toString('utf8', start, end));
  if (!hasMetadata(item)) throw new ListItemError('an item is no object');
  return item as unknown as KubernetesObject; // metadata was checked
}

function readWhole(body: Buffer): ListPage | undefined {
  const list = parseObject(body.toString('utf8'));
  const { metadata, items } = list ?? {};
  const head = isJsonObject(metadata) ? readMetadata(metadata) : undefined;
  // A list of nothing may have null items.
  const listed = Array.isArray(items) ? (items as readonly Json[]) : [];
  if (head === undefined || !listed.every(hasMetadata)) return undefined;
  return { ...head, items: listed as unknown as readonly KubernetesObject[] }; // metadata was checked
}

function hasMetadata(value: Json | undefined): value is JsonObject {
  return isJsonObject(value) && isJsonObject(value['metadata']);
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // Said by the answer: what is no JSON is no page.
    return undefined;
  }
}
