/**
 * Signs of life of a watcher, noted at its two borders: the API server and the queue.
 *
 * Fed by decorators of the ports (observed-source.ts), so that neither the list-watches
 * nor the sender know of probes. Times are monotonic milliseconds. Nothing is judged here: health.ts does.
 */
import type { WatchedKind } from '../../core/model/projections.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { SendOutcome } from '../../ports/queues/queue.ts';
import type { SourceFailure } from '../../ports/cluster/watch-source.ts';

/** One kind's lists and streams. */
export interface StreamVitals {
  /** A request began, brought bytes, or ended. */
  readonly activeMs: number;
  /** Bytes of a stream, or a page, came. Undefined: never. */
  readonly heardMs: number | undefined;
  /** What the server said when the last request failed; undefined once bytes came. */
  readonly failure: SourceFailure | undefined;
  /** Lists that were begun: paged, or as initial events of a stream. */
  readonly listCount: number;
}

/** What is known at a moment. */
export interface VitalSigns {
  readonly startedMs: number;
  readonly streams: Readonly<Partial<Record<WatchedKind, StreamVitals>>>;
  /** When an announcement was last accepted: lists and streams of its epoch begin after it. */
  readonly announcedMs: number | undefined;
  /** A single request to the API server (identity, Lease) began or ended. */
  readonly requestedMs: number;
  /** The Lease was read or written with success. */
  readonly leaseMs: number | undefined;
  /** Since when every such request has succeeded; undefined: the last one did not. */
  readonly answeringMs: number | undefined;
  readonly leaseFailure: SourceFailure | undefined;
  /** Since when the send in flight is. */
  readonly sendingMs: number | undefined;
  readonly acceptedMs: number | undefined;
  /** Since when no send succeeds, and what the last one came to. */
  readonly refusedSends: { readonly sinceMs: number; readonly outcome: SendOutcome } | undefined;
}

/** Keeps the signs. */
export class Vitals {
  readonly #clock: Clock;
  readonly #streams = new Map<WatchedKind, StreamVitals>();
  #signs: Omit<VitalSigns, 'streams'>;

  constructor(clock: Clock) {
    this.#clock = clock;
    const nowMs = clock.monotonicMs();
    this.#signs = {
      startedMs: nowMs,
      announcedMs: undefined,
      requestedMs: nowMs,
      leaseMs: undefined,
      answeringMs: undefined,
      leaseFailure: undefined,
      sendingMs: undefined,
      acceptedMs: undefined,
      refusedSends: undefined,
    };
  }

  /** Everything as it stands. */
  signs(): VitalSigns {
    return { ...this.#signs, streams: Object.fromEntries(this.#streams) };
  }

  /** A list or a stream of a kind begins. `isList`: it brings the whole kind. */
  noteOpened(kind: WatchedKind, isList: boolean): void {
    const known = this.#streams.get(kind);
    this.#stream(kind, { listCount: (known?.listCount ?? 0) + (isList ? 1 : 0) });
  }

  noteHeard(kind: WatchedKind): void {
    this.#stream(kind, { heardMs: this.#clock.monotonicMs(), failure: undefined });
  }

  /** A list or a stream is over; with a failure if the server, or the way to it, gave one. */
  noteEnded(kind: WatchedKind, failure?: SourceFailure): void {
    this.#stream(kind, failure === undefined ? {} : { failure });
  }

  /** A single request begins or is over. */
  noteRequested(): void {
    this.#signs = { ...this.#signs, requestedMs: this.#clock.monotonicMs() };
  }

  /** The Lease was read or written, or why not. */
  noteLease(failure?: SourceFailure): void {
    if (failure !== undefined) {
      this.#signs = { ...this.#signs, answeringMs: undefined, leaseFailure: failure };
      return;
    }
    const leaseMs = this.#clock.monotonicMs();
    const answeringMs = this.#signs.answeringMs ?? leaseMs;
    this.#signs = { ...this.#signs, leaseMs, answeringMs, leaseFailure: undefined };
  }

  /** A send is on its way. */
  noteSending(): void {
    this.#signs = { ...this.#signs, sendingMs: this.#clock.monotonicMs() };
  }

  /** It came back; undefined: it was thrown away, which is a bug of the port. */
  noteSent(outcome: SendOutcome, isAnnouncement: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    const signs = { ...this.#signs, sendingMs: undefined };
    if (outcome.kind === 'accepted') {
      const announcedMs = isAnnouncement ? nowMs : signs.announcedMs;
      this.#signs = { ...signs, acceptedMs: nowMs, announcedMs, refusedSends: undefined };
      return;
    }
    const sinceMs = signs.refusedSends?.sinceMs ?? nowMs;
    this.#signs = { ...signs, refusedSends: { sinceMs, outcome } };
  }

  #stream(kind: WatchedKind, changed: Partial<StreamVitals>): void {
    const activeMs = this.#clock.monotonicMs();
    const known = this.#streams.get(kind);
    const former = known ?? { activeMs, heardMs: undefined, failure: undefined, listCount: 0 };
    this.#streams.set(kind, { ...former, ...changed, activeMs });
  }
}
