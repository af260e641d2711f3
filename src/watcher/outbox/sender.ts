/**
 * Sends the messages of one epoch: one at a time, numbered without gaps, frozen once tried.
 *
 *   freeze(seq+1) ──▶ send ──accepted──▶ next
 *                      ▲ └─ambiguous, unsent──▶ back-off ─┐        the same bytes under the same id,
 *                      └──────────────────────────────────┘        so a lost answer is harmless
 *                        └─refused──▶ the epoch is over            (protocol 22)
 *
 * Rebuilding a message whose fate is unknown would lose what the first one carried (faults row 89).
 */
import type { ClusterId, ClusterUid, Epoch, Incarnation } from '../../core/model/identifiers.ts';
import { MESSAGE_SCHEMA, type WatcherBody } from '../../core/model/watcher-message.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { EventQueue, FrozenMessage, SendOutcome } from '../../ports/queues/queue.ts';
import { createBackoff, untilAborted } from '@rollcall/base/wait.ts';

/** The header of every message of an epoch, beside seq. */
export interface EpochHeader {
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly epoch: Epoch;
  readonly incarnation: Incarnation;
}

interface SenderDependencies extends ProcessPorts {
  readonly queue: EventQueue;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
}

/** When the marks of a cut were copied, by both clocks of the watcher. */
export interface CutMoment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** How a send ended; `stopped`: whether it arrived is unknown, and no longer matters. */
type SendEnd = 'accepted' | 'refused' | 'stopped';

/** The stream of messages of one epoch. */
export class Sender {
  readonly #on: SenderDependencies;
  readonly #header: EpochHeader;
  readonly #signal: AbortSignal;
  #seq = 0;
  #isBusy = false;
  #lastAcceptedMs: number | undefined;

  constructor(dependencies: SenderDependencies, header: EpochHeader, signal: AbortSignal) {
    this.#on = dependencies;
    this.#header = header;
    this.#signal = signal;
  }

  /** seq of the message that was tried last; 0 before the first. */
  get seq(): number {
    return this.#seq;
  }

  /** Monotonic time at which a message was last accepted. */
  get lastAcceptedMs(): number | undefined {
    return this.#lastAcceptedMs;
  }

  /** Encodes a body as the next message; it is not tried yet. */
  freeze(body: WatcherBody): FrozenMessage {
    const seq = this.#seq + 1;
    return this.#on.queue.freeze({ schema: MESSAGE_SCHEMA, ...this.#header, seq, body });
  }

  /** Sends the message frozen last until the queue has it, refuses it, or the epoch is over. */
  async send(frozen: FrozenMessage, cut?: CutMoment): Promise<SendEnd> {
    if (this.#isBusy) throw new Error('a send is in flight already');
    if (frozen.message.seq !== this.#seq + 1) throw new Error('message is not the next one');
    this.#isBusy = true;
    this.#seq = frozen.message.seq;
    try {
      return await this.#repeat(frozen, cut);
    } finally {
      this.#isBusy = false;
    }
  }

  async #repeat(frozen: FrozenMessage, cut: CutMoment | undefined): Promise<SendEnd> {
    const { clock, random, log, metrics, backoffBaseMs, backoffCapMs } = this.#on;
    const backoff = createBackoff(random, { baseMs: backoffBaseMs, capMs: backoffCapMs });
    const { seq, body } = frozen.message;
    for (;;) {
      if (this.#signal.aborted) return 'stopped';
      const outcome = await untilAborted(this.#try(frozen, cut), this.#signal);
      if (outcome === 'aborted') return 'stopped';
      metrics.count('WatcherSends', { outcome: outcome.kind });
      if (outcome.kind === 'accepted') {
        this.#lastAcceptedMs = clock.monotonicMs();
        metrics.record('WatcherMessageBytes', frozen.sizeBytes, 'Bytes');
        return 'accepted';
      }
      const fields = { seq, body: body.kind, outcome: outcome.kind, reason: outcome.message };
      if (outcome.kind === 'refused') {
        log.error('the queue refused a message for good', fields);
        return 'refused';
      }
      log.warn('a send failed and is repeated', fields);
      const retryAfterMs = outcome.kind === 'unsent' ? outcome.retryAfterMs : undefined;
      await clock.sleep(backoff.nextMs(retryAfterMs), this.#signal);
    }
  }

  /** By whichever clock says more: the monotonic one may stand still while a machine sleeps. */
  #ageOf(cut: CutMoment): number {
    const { clock } = this.#on;
    return Math.max(0, clock.monotonicMs() - cut.monotonicMs, clock.nowMs() - cut.wallMs);
  }

  /** The port says that `send` never rejects; if it does, the message may have gone through. */
  async #try(frozen: FrozenMessage, cut: CutMoment | undefined): Promise<SendOutcome> {
    try {
      return await this.#on.queue.send(frozen, cut && this.#ageOf(cut));
    } catch (cause) {
      this.#on.metrics.count('WatcherBugs', { outcome: 'send' });
      this.#on.log.error('sending rejected', { seq: frozen.message.seq }, cause);
      return { kind: 'ambiguous', message: 'the send rejected' };
    }
  }
}
