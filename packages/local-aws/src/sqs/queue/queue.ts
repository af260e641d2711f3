// One queue as a pure state machine: every operation takes the time and returns a value. No timers, no I/O.
//
//   waiting ──receive──▶ in flight ──delete──▶ gone
//      ▲                     │ visibility ends, or is set to 0
//      └─────────────────────┘ ... and received more than maxReceiveCount times ──▶ dead-letter queue
//
// Invariants: a message is in exactly one of those places; a receipt handle names one receive of one message; on a
// FIFO queue an expired handle deletes nothing; order and exclusivity are backlog.ts, repeats are deduplication.ts.
// Each operation first applies what the passing of time implies, so a caller that asks late sees the same as one
// that asks in time. Requests are validated before they come here.
import { GroupedBacklog, StandardBacklog, type Backlog } from './backlog.ts';
import { DeduplicationWindow } from './deduplication.ts';
import { contentDeduplicationId } from './digest.ts';
import { sqsErrors } from './errors.ts';
import type { QueueFact, RecordFact } from './journal.ts';
import type { Delivery, NewMessage, SendReceipt, StoredMessage } from './message.ts';
import type { QueueSettings } from './queue-settings.ts';
import { SortedList } from './sorted-list.ts';

/** What a queue needs from its surroundings. */
interface QueueOptions {
  readonly settings: QueueSettings;
  readonly newMessageId: () => string;
  /** Differs for each process, so that a handle from before a restart is recognised as stale. */
  readonly handleSalt: string;
  /** Called for a message that was received too often; false if there is nowhere to put it. */
  readonly moveToDeadLetter?: (message: StoredMessage, nowMs: number) => boolean;
  readonly record?: RecordFact | undefined;
}

/** How many messages are where, for GetQueueAttributes. */
interface QueueCounts {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/** One receive call. */
interface ReceiveRequest {
  readonly countMax: number;
  readonly visibilityTimeoutSeconds?: number | undefined;
}

/** When a message may become visible. */
interface Wake {
  readonly atMs: number;
  readonly messageId: string;
}

/** Marks a message that waits for nothing but a receiver; no wake has this time, so none can be taken for its. */
const alwaysVisible = -1;

function restartVisibleAtMs(message: StoredMessage): number {
  return message.isInFlight ? alwaysVisible : message.visibleAtMs;
}

/** A standard or FIFO queue. */
export class Queue {
  settings: QueueSettings;
  readonly #options: QueueOptions;
  readonly #backlog: Backlog;
  readonly #messages = new Map<string, StoredMessage>();
  readonly #deduplication = new DeduplicationWindow();
  /** Of what is deleted, or is hidden for longer meanwhile, a wake stays here until its time. */
  readonly #wakes = new SortedList<Wake>(({ atMs }) => atMs);
  #nextSequence = 1;
  #inFlightCount = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.settings = options.settings;
    this.#backlog = options.settings.isFifo ? new GroupedBacklog() : new StandardBacklog();
  }

  /** Accepts a message, or recognises it as a repeat. */
  send(message: NewMessage, nowMs: number): SendReceipt {
    this.#advance(nowMs);
    const { settings } = this;
    const deduplicationId =
      message.deduplicationId ??
      (settings.isFifo && settings.contentBasedDeduplication
        ? contentDeduplicationId(message.body)
        : undefined);
    const key = settings.isFifo ? this.#deduplicationKey(message.groupId, deduplicationId) : '';
    const earlier = settings.isFifo ? this.#deduplication.find(key, nowMs) : undefined;
    if (earlier !== undefined) {
      return { messageId: earlier.messageId, sequence: earlier.sequence, isDuplicate: true };
    }
    const { delaySeconds = settings.delaySeconds, ...content } = message;
    const stored = this.#enqueue(
      {
        ...content,
        deduplicationId,
        messageId: this.#options.newMessageId(),
        sentAtMs: nowMs,
        visibleAtMs: nowMs + delaySeconds * 1000,
      },
      nowMs,
    );
    const { messageId, sequence } = stored;
    if (settings.isFifo) {
      const send = { key, atMs: nowMs, messageId, sequence };
      this.#deduplication.remember(send);
      this.#options.record?.({ op: 'remember', send });
    }
    return { messageId, sequence, isDuplicate: false };
  }

  /** Accepts a message from another queue; it keeps its identity, and no deduplication applies. */
  acceptMoved(message: StoredMessage, sourceArn: string | undefined, nowMs: number): void {
    this.#advance(nowMs);
    const {
      sequence: _sequence,
      receiveCount: _count,
      firstReceivedAtMs: _first,
      ...kept
    } = message;
    // A FIFO queue gives a moved message a new enqueue time; a standard one keeps the old, and with it the retention.
    const sentAtMs = this.settings.isFifo ? nowMs : message.sentAtMs;
    this.#enqueue({ ...kept, sentAtMs, visibleAtMs: nowMs, deadLetterSourceArn: sourceArn }, nowMs);
  }

  /** Delivers up to `countMax` messages; what was received too often goes to the dead-letter queue instead. */
  receive(request: ReceiveRequest, nowMs: number): Delivery[] {
    this.#advance(nowMs);
    const seconds = request.visibilityTimeoutSeconds ?? this.settings.visibilityTimeoutSeconds;
    const deliveries: Delivery[] = [];
    this.#backlog.take(nowMs, request.countMax, (message) => {
      if (this.#movedToDeadLetter(message, nowMs)) return false;
      message.isInFlight = true;
      message.receiveCount += 1;
      message.firstReceivedAtMs ??= nowMs;
      this.#inFlightCount += 1;
      this.#hideUntil(message, nowMs + seconds * 1000);
      const { messageId: id, receiveCount: count } = message;
      this.#options.record?.({ op: 'receive', id, count, atMs: message.firstReceivedAtMs });
      deliveries.push({ message, receiptHandle: this.#handleOf(message) });
      return true;
    });
    return deliveries;
  }

  /** Deletes a received message. Deleting twice succeeds; an expired handle fails on FIFO and is void otherwise. */
  delete(receiptHandle: string, nowMs: number): void {
    this.#advance(nowMs);
    const message = this.#messages.get(messageIdIn(receiptHandle));
    if (message === undefined) return;
    const isCurrent = this.#handleOf(message) === receiptHandle;
    if (this.settings.isFifo && !(isCurrent && message.isInFlight)) {
      throw sqsErrors.invalidParameterValue(
        `Value ${receiptHandle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.`,
      );
    }
    if (isCurrent) this.#drop(message);
  }

  /** Sets how long a received message stays invisible, from now; 0 returns it at once. */
  changeVisibility(receiptHandle: string, timeoutSeconds: number, nowMs: number): void {
    this.#advance(nowMs);
    const message = this.#messages.get(messageIdIn(receiptHandle));
    if (message?.isInFlight !== true || this.#handleOf(message) !== receiptHandle) {
      throw sqsErrors.messageNotInflight('The message referred to is not in flight.');
    }
    if (timeoutSeconds === 0) this.#return(message);
    else this.#hideUntil(message, nowMs + timeoutSeconds * 1000);
  }

  /** Deletes every message; what senders said is still remembered for deduplication. */
  purge(): void {
    this.#messages.clear();
    this.#backlog.clear();
    this.#wakes.clear();
    this.#inFlightCount = 0;
    this.#options.record?.({ op: 'purge' });
  }

  /** Whether a receive at this time would return something, or move something to the dead-letter queue. */
  hasVisible(nowMs: number): boolean {
    this.#advance(nowMs);
    return this.#backlog.hasVisible(nowMs);
  }

  /** The next time at which a message may become visible by itself. */
  nextWakeAtMs(): number | undefined {
    for (;;) {
      const wake = this.#wakes.first();
      if (wake === undefined) return undefined;
      if (this.#messages.get(wake.messageId)?.visibleAtMs === wake.atMs) return wake.atMs;
      this.#wakes.shift();
    }
  }

  /** How many messages are where. */
  counts(nowMs: number): QueueCounts {
    this.#advance(nowMs);
    let delayed = 0;
    for (const message of this.#messages.values()) {
      if (!message.isInFlight && message.visibleAtMs > nowMs) delayed += 1;
    }
    const inFlight = this.#inFlightCount;
    return { visible: this.#messages.size - inFlight - delayed, inFlight, delayed };
  }

  /** The facts that rebuild this queue, fewest first to last. */
  *facts(nowMs: number): Iterable<QueueFact> {
    this.#deduplication.prune(nowMs);
    yield { op: 'sequence', next: this.#nextSequence };
    for (const send of this.#deduplication.entries()) yield { op: 'remember', send };
    for (const message of this.#messages.values()) {
      yield { op: 'put', message: { ...message, visibleAtMs: restartVisibleAtMs(message) } };
    }
  }

  /** Applies a fact that was recorded before a restart. */
  replay(fact: QueueFact, nowMs: number): void {
    if (fact.op === 'put') this.#add({ ...fact.message, isInFlight: false }, nowMs);
    else if (fact.op === 'remember') this.#deduplication.remember(fact.send);
    else if (fact.op === 'purge') this.purge();
    else if (fact.op === 'sequence') this.#nextSequence = Math.max(this.#nextSequence, fact.next);
    else {
      const message = this.#messages.get(fact.id);
      if (message === undefined) return;
      if (fact.op === 'receive') {
        message.receiveCount = fact.count;
        message.firstReceivedAtMs = fact.atMs;
      } else {
        this.#messages.delete(message.messageId);
        this.#backlog.remove(message);
      }
    }
  }

  #enqueue(
    message: Omit<StoredMessage, 'sequence' | 'isInFlight' | 'receiveCount' | 'firstReceivedAtMs'>,
    nowMs: number,
  ): StoredMessage {
    const sequence = this.#nextSequence;
    const stored: StoredMessage = { ...message, sequence, isInFlight: false, receiveCount: 0 };
    this.#add(stored, nowMs);
    this.#options.record?.({ op: 'put', message: stored });
    return stored;
  }

  #add(message: StoredMessage, nowMs: number): void {
    this.#nextSequence = Math.max(this.#nextSequence, message.sequence + 1);
    this.#messages.set(message.messageId, message);
    this.#backlog.add(message, nowMs);
    if (message.visibleAtMs > nowMs) this.#hideUntil(message, message.visibleAtMs);
  }

  #advance(nowMs: number): void {
    for (;;) {
      const wakeAtMs = this.nextWakeAtMs();
      if (wakeAtMs === undefined || wakeAtMs > nowMs) break;
      const message = this.#messages.get(this.#wakes.shift()?.messageId ?? '');
      if (message === undefined) continue;
      if (message.isInFlight) this.#return(message);
      else {
        message.visibleAtMs = alwaysVisible;
        this.#backlog.wake(message);
      }
    }
    // Insertion order is send order, except for messages that were moved here, which then live a little longer.
    const retentionMs = this.settings.retentionSeconds * 1000;
    for (const message of this.#messages.values()) {
      if (message.sentAtMs + retentionMs > nowMs) break;
      this.#drop(message);
    }
  }

  #movedToDeadLetter(message: StoredMessage, nowMs: number): boolean {
    const { redrive } = this.settings;
    if (redrive === undefined || message.receiveCount < redrive.maxReceiveCount) return false;
    if (this.#options.moveToDeadLetter?.(message, nowMs) !== true) return false;
    this.#forget(message);
    return true;
  }

  #return(message: StoredMessage): void {
    message.isInFlight = false;
    message.visibleAtMs = alwaysVisible;
    this.#inFlightCount -= 1;
    this.#backlog.release(message);
  }

  #drop(message: StoredMessage): void {
    if (message.isInFlight) {
      this.#inFlightCount -= 1;
      this.#backlog.settle(message);
    } else this.#backlog.remove(message);
    this.#forget(message);
  }

  #forget(message: StoredMessage): void {
    this.#messages.delete(message.messageId);
    this.#options.record?.({ op: 'delete', id: message.messageId });
  }

  #hideUntil(message: StoredMessage, atMs: number): void {
    message.visibleAtMs = atMs;
    this.#wakes.insert({ atMs, messageId: message.messageId });
  }

  #deduplicationKey(groupId = '', deduplicationId = ''): string {
    return this.settings.deduplicationScope === 'queue'
      ? deduplicationId
      : `${groupId}\n${deduplicationId}`;
  }

  /** Which receive of which message, by which process. */
  #handleOf({ messageId, receiveCount }: StoredMessage): string {
    return `${messageId}.${this.#options.handleSalt}.${String(receiveCount)}`;
  }
}

/** The message that a receipt handle names; refuses what is no handle at all. */
function messageIdIn(receiptHandle: string): string {
  const [messageId, salt, count, ...rest] = receiptHandle.split('.');
  if (messageId === undefined || !salt || !count || rest.length > 0) {
    throw sqsErrors.receiptHandleIsInvalid(
      `The input receipt handle "${receiptHandle}" is not a valid receipt handle.`,
    );
  }
  return messageId;
}
