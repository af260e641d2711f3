/**
 * Signs of life of a watcher, noted at its two borders: the API server and the queue.
 *
 * Fed by decorators of the ports (below), which change nothing of what happens, so that neither the list-watches
 * nor the sender know of probes. Times are monotonic milliseconds. Nothing is judged here: health.ts does.
 */
import type { WatchedKind } from '../../core/model/projections.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { SendOutcome, EventQueue } from '../../ports/queues/queue.ts';
import type {
  SourceFailure,
  WatchFrame,
  WatchOptions,
  WatchSource,
} from '../../ports/cluster/watch-source.ts';

export interface StreamVitals {
  /** A request began, brought bytes, or ended. */
  readonly activeMs: number;
  /** Bytes of a stream, or a page, came. Undefined: never. */
  readonly heardMs: number | undefined;
  /** The server's answer when the last request failed; undefined once bytes came. */
  readonly failure: SourceFailure | undefined;
  /** Lists that were begun: paged, or as initial events of a stream. */
  readonly listCount: number;
}

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

/** The same source, observed. */
export function observeSource(source: WatchSource, vitals: Vitals): WatchSource {
  const asked = async <T>(request: Promise<T>): Promise<T> => {
    vitals.noteRequested();
    try {
      return await request;
    } finally {
      vitals.noteRequested();
    }
  };
  return {
    getClusterUid: () => asked(source.getClusterUid()),
    listPage: async (kind, options) => {
      vitals.noteOpened(kind, options.continueToken === undefined);
      const answer = await source.listPage(kind, options);
      if (answer.kind === 'ok') vitals.noteHeard(kind);
      else vitals.noteEnded(kind, answer.failure);
      return answer;
    },
    watch: (kind, options) => observeStream({ source, vitals }, kind, options),
    readLease: async () => {
      const answer = await asked(source.readLease());
      vitals.noteLease(answer.kind === 'ok' ? undefined : answer.failure);
      return answer;
    },
    writeLease: async (lease) => {
      const answer = await asked(source.writeLease(lease));
      vitals.noteLease(writeFailure(answer));
      return answer;
    },
  };
}

async function* observeStream(
  { source, vitals }: { readonly source: WatchSource; readonly vitals: Vitals },
  kind: WatchedKind,
  options: WatchOptions,
): AsyncGenerator<WatchFrame> {
  vitals.noteOpened(kind, options.sendInitialEvents);
  const onBytes = (): void => {
    vitals.noteHeard(kind);
    options.onBytes();
  };
  let failure: SourceFailure | undefined;
  try {
    for await (const frame of source.watch(kind, { ...options, onBytes })) {
      if (frame.kind === 'failed') ({ failure } = frame);
      yield frame;
    }
  } finally {
    vitals.noteEnded(kind, failure);
  }
}

/** A conflict is an answer, too: the API server is there. */
function writeFailure(
  answer: Awaited<ReturnType<WatchSource['writeLease']>>,
): SourceFailure | undefined {
  if (answer.kind === 'failed') return answer.failure;
  return answer.kind === 'ambiguous' ? { kind: 'unavailable', message: answer.message } : undefined;
}

/** The same queue, with every try noted. */
export function observeQueue(queue: EventQueue, vitals: Vitals): EventQueue {
  return {
    freeze: (message) => queue.freeze(message),
    send: async (frozen, cutAgeMs) => {
      vitals.noteSending();
      const isAnnouncement = frozen.message.body.kind === 'announcement';
      try {
        const outcome = await queue.send(frozen, cutAgeMs);
        vitals.noteSent(outcome, isAnnouncement);
        return outcome;
      } catch (cause) {
        // The port says that this cannot be; the sender counts it as a bug and tries again.
        vitals.noteSent({ kind: 'ambiguous', message: 'the send rejected' }, isAnnouncement);
        throw cause;
      }
    },
  };
}
