/**
 * Reads the frames of one stream: events of a live watch, or the initial events of a WatchList first.
 *
 * Initial events are collected and applied together at the bookmark that ends them: a stream that breaks
 * before that has changed nothing (faults row 35).
 */
import type { ResourceVersion } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { SourceFailure, WatchFrame } from '../../ports/cluster/watch-source.ts';

/** Where a list-watch puts what it reads. Every call is synchronous. */
export interface ListWatchTarget<Item> {
  /** The part of a listed object to keep; undefined when it does not matter. */
  project(raw: KubernetesObject): Item | undefined;
  /** The whole kind as of a version. */
  replace(items: readonly Item[], version: ResourceVersion): void;
  /** One event; its object's version is the new position. */
  change(kind: 'added' | 'modified' | 'deleted', raw: KubernetesObject): void;
  /** Everything up to this version was delivered. */
  progress(version: ResourceVersion): void;
  heard(): void;
}

export type StreamEnd =
  | { readonly kind: 'listed' | 'ended' | 'silent' }
  | { readonly kind: 'broken' | 'no-watch-list'; readonly message: string }
  | { readonly kind: 'failed'; readonly failure: SourceFailure };

export interface ReaderEvents<Item> {
  replaced(items: readonly Item[], version: ResourceVersion): void;
  changed(kind: 'added' | 'modified' | 'deleted', raw: KubernetesObject): void;
  bookmarked(version: ResourceVersion): void;
}

export interface FrameReader {
  /** Takes one frame; answers how the stream ended if it did, or must. */
  read(frame: WatchFrame): StreamEnd | undefined;
}

/** Frames of a stream that continues from a version. */
export class LiveReader<Item> implements FrameReader {
  readonly #events: ReaderEvents<Item>;

  constructor(events: ReaderEvents<Item>) {
    this.#events = events;
  }

  read(frame: WatchFrame): StreamEnd | undefined {
    switch (frame.kind) {
      case 'added':
      case 'modified':
      case 'deleted':
        this.#events.changed(frame.kind, frame.object);
        return undefined;
      case 'bookmark':
        this.#events.bookmarked(frame.resourceVersion);
        return undefined;
      case 'undecodable':
        return { kind: 'broken', message: frame.message };
      case 'failed':
        return frame;
      case 'ended':
        return { kind: 'ended' };
    }
  }
}

/** Frames of a WatchList: collects the initial events, applies them at their end, then reads on. */
export class InitialReader<Item> implements FrameReader {
  readonly #events: ReaderEvents<Item>;
  readonly #target: ListWatchTarget<Item>;
  readonly #live: LiveReader<Item>;
  readonly #collected = new Map<string, Item>();
  #isInitial = true;

  constructor(events: ReaderEvents<Item>, target: ListWatchTarget<Item>) {
    this.#events = events;
    this.#target = target;
    this.#live = new LiveReader(events);
  }

  read(frame: WatchFrame): StreamEnd | undefined {
    if (!this.#isInitial) return this.#live.read(frame);
    switch (frame.kind) {
      case 'added':
      case 'modified':
      case 'deleted':
        this.#collect(frame.kind, frame.object);
        return undefined;
      case 'bookmark':
        return this.#finish(frame);
      case 'failed':
        if (frame.failure.kind !== 'unsupported') return frame;
        return { kind: 'no-watch-list', message: frame.failure.message };
      case 'undecodable':
      case 'ended':
        return this.#live.read(frame);
    }
  }

  #collect(kind: 'added' | 'modified' | 'deleted', raw: KubernetesObject): void {
    const item = kind === 'deleted' ? undefined : this.#target.project(raw);
    if (item === undefined) this.#collected.delete(raw.metadata.uid);
    else this.#collected.set(raw.metadata.uid, item);
  }

  #finish(frame: Extract<WatchFrame, { readonly kind: 'bookmark' }>): StreamEnd | undefined {
    if (!frame.isInitialEventsEnd) {
      // A server that ignores sendInitialEvents sends plain bookmarks and never the annotated one.
      return { kind: 'no-watch-list', message: 'plain bookmark among initial events' };
    }
    this.#isInitial = false;
    this.#events.replaced([...this.#collected.values()], frame.resourceVersion);
    this.#collected.clear();
    return undefined;
  }
}
