/**
 * One kind's list-watch: keeps a target up to date with the API server, whatever fails (design 2).
 *
 *   list ──ok──▶ watch from its version ──ended──▶ watch again from the last version
 *    ▲             │ 410, undecodable, handler bug, silent twice            ▲
 *    └─ back-off ──┘            any other failure ──▶ back-off ─────────────┘
 *
 * The list is a WatchList or, where the server has none, a paged LIST; never resourceVersion=0, and a partial list
 * changes nothing. A stream that brings no byte for too long is aborted. Only `run`'s end means that it stopped (spec
 * aws-facts 8).
 */
import { defined } from '@rollcall/base/defined.ts';
import {
  compareResourceVersions,
  isResourceVersion,
  type ResourceVersion,
} from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../core/model/projections.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { SourceFailure, WatchSource } from '../../ports/cluster/watch-source.ts';
import { createBackoff, type Backoff } from '@rollcall/base/wait.ts';
import {
  InitialReader,
  LiveReader,
  type FrameReader,
  type ListWatchTarget,
  type ReaderEvents,
  type StreamEnd,
} from './frame-reader.ts';
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';

/** Bounds of a list-watch. */
export interface ListWatchOptions {
  readonly isWatchListWanted: boolean;
  readonly pageLimit: number;
  /** Server-side time-outs are drawn between these. */
  readonly streamSecondsMin: number;
  readonly streamSecondsMax: number;
  /** A stream, or a page, without a byte for so long is aborted. */
  readonly silenceMsMax: number;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
}

interface ListWatchDependencies<Item> extends ProcessPorts {
  readonly kind: WatchedKind;
  readonly source: WatchSource;
  readonly target: ListWatchTarget<Item>;
  readonly options: ListWatchOptions;
}

/** A stream that lived for so long ended because its time was up, not because it was turned away. */
const STREAM_MS_MIN = 1000;
/** After so many silent streams in a row a list tells whether the position is still good. */
const SILENT_STREAMS_MAX = 2;
/** After so many incomplete WatchLists in a row a paged LIST is tried. */
const WATCH_LIST_TRIES_MAX = 3;

/** Keeps one kind up to date until its signal aborts. */
export class ListWatch<Item> {
  readonly #on: ListWatchDependencies<Item>;
  readonly #signal: AbortSignal;
  readonly #backoff: Backoff;
  readonly #log: Log;
  /** Position of the next watch; undefined: list first. */
  #version: ResourceVersion | undefined;
  #hasWatchList: boolean;
  #watchListTries = 0;
  #silentStreams = 0;
  /** True if the stream that ended last had brought an event or a bookmark, or had lived for a while. */
  #hasProgressed = false;

  constructor(dependencies: ListWatchDependencies<Item>, signal: AbortSignal) {
    const { random, options } = dependencies;
    this.#on = dependencies;
    this.#signal = signal;
    this.#hasWatchList = options.isWatchListWanted;
    this.#log = dependencies.log.with({ kind: dependencies.kind });
    const { backoffBaseMs, backoffCapMs } = options;
    this.#backoff = createBackoff(random, { baseMs: backoffBaseMs, capMs: backoffCapMs });
  }

  /** Resolves after the signal aborted and nothing is left running. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const end = await this.#step();
      if (this.#signal.aborted) return;
      const delayMs = this.#judge(end);
      if (delayMs > 0) await this.#on.clock.sleep(delayMs, this.#signal);
    }
  }

  /** A paged list, or one stream, from its start to its end. */
  async #step(): Promise<StreamEnd> {
    this.#hasProgressed = false;
    if (this.#version !== undefined) return this.#stream(new LiveReader(this.#events()));
    if (!this.#hasWatchList) return this.#list();
    if (this.#watchListTries >= WATCH_LIST_TRIES_MAX) {
      this.#watchListTries = 0;
      return this.#list();
    }
    this.#watchListTries += 1;
    return this.#stream(new InitialReader(this.#events(), this.#on.target));
  }

  /** Judges the end of a stream for the next step; returns how long to wait before it. */
  #judge(end: StreamEnd): number {
    const { metrics } = this.#on;
    if (this.#hasProgressed) this.#backoff.reset();
    metrics.count('WatcherStreamEnds', { outcome: end.kind });
    this.#silentStreams =
      end.kind === 'silent' && !this.#hasProgressed ? this.#silentStreams + 1 : 0;
    switch (end.kind) {
      case 'listed':
        // Not a reset: a list whose watch expires at once must not become a storm of lists.
        return 0;
      case 'ended':
        return this.#hasProgressed ? 0 : this.#backoff.nextMs();
      case 'silent':
        this.#log.warn('stream was silent and is opened again');
        if (this.#silentStreams >= SILENT_STREAMS_MAX) this.#version = undefined;
        return this.#backoff.nextMs();
      case 'broken':
        this.#log.error('stream cannot be used and the kind is listed again', {
          reason: end.message,
        });
        this.#version = undefined;
        return this.#backoff.nextMs();
      case 'no-watch-list':
        this.#log.info('server has no WatchList, pages are listed', { reason: end.message });
        this.#hasWatchList = false;
        return 0;
      case 'failed':
        return this.#judgeFailure(end.failure);
    }
  }

  #judgeFailure(failure: SourceFailure): number {
    const fields = { failure: failure.kind, reason: failure.message };
    if (failure.kind === 'expired') {
      this.#log.info('position expired, the kind is listed again', fields);
      this.#version = undefined;
    } else {
      this.#log.warn('request failed and is repeated', fields);
    }
    return this.#backoff.nextMs(failure.retryAfterMs);
  }

  #events(): ReaderEvents<Item> {
    return {
      replaced: (items, version) => {
        this.#on.target.replace(items, version);
        this.#version = version;
        this.#watchListTries = 0;
      },
      changed: (kind, raw) => {
        this.#on.target.change(kind, raw);
        const version: unknown = raw.metadata.resourceVersion;
        if (isResourceVersion(version)) this.#advance(version);
      },
      bookmarked: (version) => {
        this.#on.target.progress(version);
        this.#advance(version);
      },
    };
  }

  #advance(version: ResourceVersion): void {
    this.#hasProgressed = true;
    if (this.#version === undefined || compareResourceVersions(version, this.#version) > 0) {
      this.#version = version;
    }
  }

  async #stream(reader: FrameReader): Promise<StreamEnd> {
    const { source, kind, clock, random, options, target } = this.#on;
    const watchdog = createWatchdog({ clock, limitMs: options.silenceMsMax, signal: this.#signal });
    const { streamSecondsMin, streamSecondsMax } = options;
    const spanSeconds = (streamSecondsMax - streamSecondsMin) * random.next();
    const startedMs = clock.monotonicMs();
    const heard = (): void => {
      watchdog.feed();
      target.heard();
    };
    try {
      const frames = source.watch(kind, {
        ...defined({ resourceVersion: this.#version }),
        timeoutSeconds: Math.round(streamSecondsMin + spanSeconds),
        sendInitialEvents: this.#version === undefined,
        signal: watchdog.signal,
        onBytes: heard,
      });
      for await (const frame of frames) {
        if (watchdog.signal.aborted) break;
        const end = reader.read(frame);
        if (end !== undefined) return end;
      }
    } catch (cause) {
      if (watchdog.hasFired) return { kind: 'silent' };
      return this.#broken('stream', 'reading a stream failed', cause);
    } finally {
      watchdog.stop();
      const hasLived = clock.monotonicMs() - startedMs >= STREAM_MS_MIN;
      const isListed = this.#version !== undefined;
      if (isListed && hasLived && !watchdog.hasFired) this.#hasProgressed = true;
    }
    return watchdog.hasFired ? { kind: 'silent' } : { kind: 'ended' };
  }

  #broken(outcome: 'stream' | 'list', message: string, cause: unknown): StreamEnd {
    this.#on.metrics.count('WatcherBugs', { outcome });
    this.#log.error(message, {}, cause);
    return { kind: 'broken', message: cause instanceof Error ? cause.message : 'unknown' };
  }

  /** All pages, or nothing: a partial list must never look like deletions (faults row 35, #14528). */
  async #list(): Promise<StreamEnd> {
    const { target } = this.#on;
    const items: Item[] = [];
    let version: ResourceVersion | undefined;
    let continueToken: string | undefined;
    try {
      do {
        const answer = await this.#page(continueToken, (raw) => {
          const item = target.project(raw);
          if (item !== undefined) items.push(item);
        });
        if (this.#signal.aborted) return { kind: 'ended' };
        if (answer.kind !== 'ok') return answer;
        target.heard();
        version ??= answer.value.resourceVersion;
        continueToken = answer.value.continueToken;
      } while (continueToken !== undefined && continueToken !== '');
      target.replace(items, version);
      this.#version = version;
      return { kind: 'listed' };
    } catch (cause) {
      return this.#broken('list', 'listing failed', cause);
    }
  }

  async #page(
    continueToken: string | undefined,
    onItem: (raw: KubernetesObject) => void,
  ): ReturnType<WatchSource['listPage']> {
    const { source, kind, clock, options } = this.#on;
    const watchdog = createWatchdog({ clock, limitMs: options.silenceMsMax, signal: this.#signal });
    try {
      return await source.listPage(kind, {
        limit: options.pageLimit,
        ...defined({ continueToken }),
        signal: watchdog.signal,
        onItem,
      });
    } finally {
      watchdog.stop();
    }
  }
}

interface Watchdog {
  /** Aborts when the outer signal does, or after too long a silence. */
  readonly signal: AbortSignal;
  readonly hasFired: boolean;
  feed(): void;
  /** The request is over. Ends it if it is not, so that no stream outlives its reader. */
  stop(): void;
}

/** Starts watching; `stop` must be called. */
function createWatchdog(options: {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}): Watchdog {
  const { clock, limitMs, signal } = options;
  const controller = new AbortController();
  let lastMs = clock.monotonicMs();
  let hasFired = false;
  let cancel: Cancel;

  const check = (): void => {
    const leftMs = lastMs + limitMs - clock.monotonicMs();
    if (leftMs > 0) {
      cancel = clock.after(leftMs, check);
      return;
    }
    hasFired = true;
    controller.abort();
  };
  const abort = (): void => {
    controller.abort();
  };

  cancel = clock.after(limitMs, check);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get hasFired() {
      return hasFired;
    },
    feed: () => {
      lastMs = clock.monotonicMs();
    },
    stop: () => {
      cancel();
      signal.removeEventListener('abort', abort);
      controller.abort();
    },
  };
}
