/**
 * An events.fifo that keeps what it accepted, and fails as told: the EventQueue port in memory.
 *
 * As SQS does, it drops a message whose deduplication id it accepted before; unlike SQS it insists that
 * such a repeat has the same bytes (protocol: a tried body is never rebuilt). Bodies are plain JSON, so
 * sizes are those of JSON. Time-outs of deduplication are not modelled.
 */
import assert from 'node:assert/strict';
import type { WatcherBody, WatcherMessage } from '../../src/core/model/watcher-message.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { EventQueue, FrozenMessage, SendOutcome } from '../../src/ports/queues/queue.ts';

/** What happens to one try. `lost-answer`: accepted, but the sender is told that it is ambiguous. */
export type SendFault =
  | 'ambiguous'
  | 'lost-answer'
  | 'unsent'
  | 'refused'
  | { readonly kind: 'throttled'; readonly retryAfterMs: number };

/** The EventQueue port in memory. */
export class RecordingEventQueue implements EventQueue {
  /** Every try, in order; the same message may stand here several times. */
  readonly tries: FrozenMessage[] = [];
  /** How old its cut was at each try; undefined: it carries none. */
  readonly cutAgesMs: (number | undefined)[] = [];
  /** What a consumer would receive, in order. */
  readonly accepted: WatcherMessage[] = [];
  /** What each accepted message says of its node changes. */
  /** When each accepted message was accepted (monotonic milliseconds). */
  readonly acceptedAtMs: number[] = [];
  /** What happens to the next tries; each is used once. */
  readonly faults: SendFault[] = [];
  /** Decides about a try before `faults` do; undefined: nothing special. */
  faultOf: (message: WatcherMessage) => SendFault | undefined = () => undefined;
  /** How long a send takes; 0 answers at once. */
  sendMs = 0;
  inFlight = 0;
  inFlightMax = 0;
  readonly #clock: Clock;
  readonly #bodies = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  freeze(message: WatcherMessage): FrozenMessage {
    const body = JSON.stringify(message);
    return { message, body, sizeBytes: Buffer.byteLength(body) };
  }

  async send(frozen: FrozenMessage, cutAgeMs?: number): Promise<SendOutcome> {
    this.tries.push(frozen);
    this.cutAgesMs.push(cutAgeMs);
    this.inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    if (this.sendMs > 0) await this.#clock.sleep(this.sendMs);
    this.inFlight -= 1;
    return this.#decide(frozen);
  }

  /** Bodies of one kind among what was accepted. */
  bodies<Kind extends WatcherBody['kind']>(
    kind: Kind,
  ): readonly Extract<WatcherBody, { readonly kind: Kind }>[] {
    const isOfKind = (body: WatcherBody): body is Extract<WatcherBody, { readonly kind: Kind }> =>
      body.kind === kind;
    return this.accepted.map((message) => message.body).filter(isOfKind);
  }

  /** The message accepted last. */
  get last(): WatcherMessage {
    const message = this.accepted.at(-1);
    assert.ok(message !== undefined, 'no message was accepted');
    return message;
  }

  #decide(frozen: FrozenMessage): SendOutcome {
    const fault = this.faultOf(frozen.message) ?? this.faults.shift();
    if (fault === 'ambiguous') return { kind: 'ambiguous', message: 'time-out' };
    if (fault === 'unsent') return { kind: 'unsent', message: 'connection refused' };
    if (fault === 'refused') return { kind: 'refused', message: 'invalid contents' };
    if (typeof fault === 'object') {
      return { kind: 'unsent', message: 'throttled', retryAfterMs: fault.retryAfterMs };
    }
    this.#accept(frozen);
    return fault === 'lost-answer'
      ? { kind: 'ambiguous', message: 'connection reset' }
      : { kind: 'accepted' };
  }

  #accept(frozen: FrozenMessage): void {
    const { cluster, epoch, incarnation, seq } = frozen.message;
    const id = `${cluster}/${epoch}/${incarnation}/${String(seq)}`;
    const former = this.#bodies.get(id);
    if (former !== undefined) {
      assert.equal(frozen.body, former, `message ${id} was rebuilt after it was tried`);
      return;
    }
    this.#bodies.set(id, frozen.body);
    this.accepted.push(JSON.parse(frozen.body) as WatcherMessage);
    this.acceptedAtMs.push(this.#clock.monotonicMs());
  }
}
