/**
 * Server-sent events for every viewer of the page, by one look after the other, and only while there is a viewer.
 *
 * A viewer gets what is known at once, and then what changed. Ids are of this process: a viewer that comes back with one gets what it
 * missed, any other one everything. One that reads too slowly is let go; it comes back, and has missed nothing.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { explainError } from '../command-line/explain-error.ts';
import { versioned } from '../command-line/output-form.ts';
import type { Stream } from './answer-request.ts';

/** Between two looks, at least. */
const PAUSE_MS = 2000;
/** So many times as long as a look takes: looks take a tenth of the time at most. */
const PAUSES_OF_A_LOOK = 9;
/** The most that waits for a viewer: some maps of 20,000 nodes. */
const UNREAD_BYTES_MAX = 8_000_000;
/** Batches of log entries that are kept for viewers who come back. */
const BATCHES_MAX = 50;

export type LiveDocument = { readonly kind: string } & Readonly<Record<string, unknown>>;

export interface LiveLook {
  /** By event; told when it changed, its `atMs` aside. */
  readonly standing: Readonly<Record<string, LiveDocument>>;
  /** Entries that the look before did not have; undefined: none. */
  readonly log: LiveDocument | undefined;
}

interface Told {
  readonly seq: number;
  readonly text: string;
  /** Of a standing document, what it says without its time. */
  readonly said: string;
}

interface FeedParts {
  /** One look. Rejects as commands do. */
  readonly look: () => Promise<LiveLook>;
  readonly clock: Clock;
  /** Of this process, so that ids of another one are not taken for its own. */
  readonly epoch: string;
}

export class LiveFeed {
  readonly #parts: FeedParts;
  readonly #viewers = new Set<ServerResponse>();
  readonly #standing = new Map<string, Told>();
  #batches: readonly Told[] = [];
  #seq = 0;
  #isLooking = false;
  #pause = new AbortController();

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Writes to a viewer until it leaves, or is let go. */
  readonly stream: Stream = async (response, { signal, lastEventId }) => {
    if (signal.aborted) return;
    const left = Promise.withResolvers<undefined>();
    const leave = (): void => {
      left.resolve(undefined);
    };
    signal.addEventListener('abort', leave, { once: true });
    response.once('close', leave);
    // Its bound is what waits unread: a feed may be still for as long as a look takes.
    response.socket?.setTimeout(0);
    this.#welcome(response, lastEventId);
    this.#viewers.add(response);
    if (!this.#isLooking) void this.#lookOn();
    await left.promise;
    signal.removeEventListener('abort', leave);
    this.#viewers.delete(response);
    if (this.#viewers.size === 0) this.#pause.abort();
  };

  #welcome(response: ServerResponse, lastEventId: string | undefined): void {
    const [epoch, number] = lastEventId?.split('.') ?? [];
    const isOurs = epoch === this.#parts.epoch;
    const seen = isOurs ? Number(number) : 0;
    const missed = [
      ...this.#standing.values(),
      // A new viewer asks for the log itself.
      ...(isOurs ? this.#batches : []),
    ];
    response.write(': rollcall\n\n');
    for (const { seq, text } of missed.toSorted((one, other) => one.seq - other.seq)) {
      if (seq > seen) response.write(text);
    }
  }

  /** Until no viewer is left. Never rejects. */
  async #lookOn(): Promise<void> {
    const { clock } = this.#parts;
    this.#isLooking = true;
    while (this.#viewers.size > 0) {
      const [atMs, beganMs] = [clock.nowMs(), clock.monotonicMs()];
      const found = await this.#look();
      const tookMs = Math.round(clock.monotonicMs() - beganMs);
      const nextInMs = Math.max(PAUSE_MS, tookMs * PAUSES_OF_A_LOOK);
      if (found.kind === 'CommandError') this.#tell('trouble', found);
      else {
        this.#standing.delete('trouble');
        this.#tell('look', { kind: 'Look', atMs, tookMs, nextInMs });
      }
      this.#pause = new AbortController();
      if (this.#viewers.size > 0) await clock.sleep(nextInMs, this.#pause.signal);
    }
    // No look follows: the next viewer may come an hour later, and these documents are of now.
    this.#standing.clear();
    this.#isLooking = false;
  }

  /** Tells what one look found, or returns why it failed. */
  async #look(): Promise<LiveDocument> {
    try {
      const { standing, log } = await this.#parts.look();
      for (const [event, document] of Object.entries(standing)) this.#tell(event, document);
      if (log !== undefined) this.#tell('log', log);
      return { kind: 'Looked' };
    } catch (error) {
      return { ...explainError(error).document };
    }
  }

  #tell(event: string, document: LiveDocument): void {
    const said = JSON.stringify({ ...document, atMs: 0 });
    if (event !== 'look' && event !== 'log' && this.#standing.get(event)?.said === said) return;
    this.#seq += 1;
    const id = `${this.#parts.epoch}.${String(this.#seq)}`;
    const data = JSON.stringify(versioned(document));
    const told = { seq: this.#seq, said, text: `id: ${id}\nevent: ${event}\ndata: ${data}\n\n` };
    if (event === 'log') this.#batches = [...this.#batches, told].slice(-BATCHES_MAX);
    else this.#standing.set(event, told);
    for (const viewer of this.#viewers) {
      if (viewer.writableLength > UNREAD_BYTES_MAX) viewer.destroy();
      else viewer.write(told.text);
    }
  }
}
