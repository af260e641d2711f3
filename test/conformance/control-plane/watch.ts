/**
 * Follows one collection: list once, then watch, and go on from the last resourceVersion whenever
 * the stream ends. The API server drops a watcher that is slow for a moment, without an error.
 *
 * After 410 Gone it lists again and reports the difference as events marked `isRelist`: what
 * happened in between is then unknown, and whoever counts transitions must look at that mark.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type ApiClient, type KubernetesObject } from './api.ts';

/** One change of one object. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubernetesObject;
  /** True if it comes from comparing lists, not from the stream. */
  readonly isRelist: boolean;
}

/** What to follow, e.g. `/api/v1/pods`; `onEvent` is called in the order of the events. */
export interface WatchOptions {
  readonly client: ApiClient;
  readonly path: string;
  readonly onEvent: (event: WatchEvent) => void;
}

export interface Watch {
  /** Resolves when the first list has been reported; rejects if the server refuses it. */
  readonly listed: Promise<void>;
  /** How often the stream ended and was taken up again, and how many lists were needed. */
  readonly counts: Readonly<WatchCounts>;
  readonly stop: () => Promise<void>;
}

interface WatchCounts {
  resumes: number;
  lists: number;
}

interface WatchLine {
  readonly type: WatchEvent['type'] | 'BOOKMARK' | 'ERROR';
  readonly object: KubernetesObject & { readonly code?: number };
}

/** What one watch knows: its place in the server's history, and the objects seen there. */
interface Progress {
  /** Undefined: a list is needed. */
  position: string | undefined;
  readonly known: Map<string, KubernetesObject>;
  readonly counts: WatchCounts;
}

/** The server's history no longer reaches back to our resourceVersion. */
class HistoryGoneError extends Error {
  override readonly name = 'HistoryGoneError';
}

const RETRY_DELAY_MS = 100;
const PAGE_SIZE = 1000;

/** Starts to follow a collection. */
export function startWatch(options: WatchOptions): Watch {
  const stopping = new AbortController();
  const counts: WatchCounts = { resumes: 0, lists: 0 };
  const progress: Progress = { position: undefined, known: new Map(), counts };
  const { promise: firstList, resolve: reportFirstList } = Promise.withResolvers<undefined>();

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (progress.position === undefined) await listAgain(options, progress);
        reportFirstList(undefined);
        await follow(options, progress, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (isGone(error)) progress.position = undefined;
        // A server that starts again refuses everyone (403) until it has read its roles: only
        // before the first list is a refusal taken at its word.
        else if (counts.lists === 0 && isRefusal(error)) throw error;
        // Otherwise refused, cut, or dropped: the server is being restarted, or we were slow.
        await delay(RETRY_DELAY_MS, undefined, { ref: false });
      }
      counts.resumes += 1;
    }
  };
  const finished = run();
  const listed = Promise.race([firstList, finished]);
  // A refusal reaches whoever waits for the first list, or stops the watch.
  listed.catch(() => undefined);
  return {
    listed,
    counts,
    stop: async () => {
      stopping.abort();
      await finished;
    },
  };
}

async function listAgain(options: WatchOptions, progress: Progress): Promise<void> {
  const { known, counts } = progress;
  const found = await listAll(options.client, options.path);
  const isRelist = counts.lists > 0;
  const vanished = new Map(known);
  known.clear();
  for (const object of found.items) {
    const uid = object.metadata.uid ?? '';
    const earlier = vanished.get(uid);
    vanished.delete(uid);
    known.set(uid, object);
    if (earlier?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
    options.onEvent({ type: earlier ? 'MODIFIED' : 'ADDED', object, isRelist });
  }
  for (const object of vanished.values()) {
    options.onEvent({ type: 'DELETED', object, isRelist });
  }
  counts.lists += 1;
  progress.position = found.resourceVersion;
}

async function follow(
  options: WatchOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${progress.position ?? ''}`;
  const path = `${options.path}${separatorOf(options.path)}${query}`;
  const stream = await options.client.stream(path, signal);
  for await (const line of readLines(stream)) {
    const { type, object } = JSON.parse(line) as WatchLine;
    if (type === 'ERROR') {
      if (object.code === 410) throw new HistoryGoneError(`watch of ${options.path}`);
      return;
    }
    progress.position = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') continue;
    const uid = object.metadata.uid ?? '';
    if (type === 'DELETED') progress.known.delete(uid);
    else progress.known.set(uid, object);
    options.onEvent({ type, object, isRelist: false });
  }
}

/** Lists a whole collection, page by page, at one resourceVersion. */
export async function listAll(
  client: ApiClient,
  path: string,
): Promise<{ readonly items: readonly KubernetesObject[]; readonly resourceVersion: string }> {
  const items: KubernetesObject[] = [];
  let continuation = '';
  for (;;) {
    const query = `limit=${String(PAGE_SIZE)}&continue=${encodeURIComponent(continuation)}`;
    const page = await client.list(`${path}${separatorOf(path)}${query}`);
    items.push(...page.items);
    continuation = page.metadata.continue ?? '';
    if (continuation === '') return { items, resourceVersion: page.metadata.resourceVersion };
  }
}

function separatorOf(path: string): string {
  return path.includes('?') ? '&' : '?';
}

function isGone(error: unknown): boolean {
  return error instanceof HistoryGoneError || (error instanceof ApiError && error.status === 410);
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status < 429 && error.status !== 410;
}

async function* readLines(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.decode(chunk as Buffer, { stream: true });
    let start = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
      if (end > start) yield rest.slice(start, end);
      start = end + 1;
    }
    rest = rest.slice(start);
  }
}
