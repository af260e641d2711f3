/**
 * The queues of serverless.yml on virtual time: the local SQS core behind the queue ports.
 *
 * Bodies, groups and deduplication ids are those of the real adapters; only the transport is missing.
 * Attributes repeat infra/queues.yml as far as they matter here. What a test makes of a send (lost
 * answer, refusal, failure) is decided by `faults`.
 */
import { createHash } from 'node:crypto';
import type { Hint, Timer } from '../../../src/core/model/hint.ts';
import type { WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type {
  EventQueue,
  FrozenMessage,
  HintQueue,
  HintReceipts,
  SendOutcome,
} from '../../../src/ports/queues/queue.ts';
import { cutAgeAttributes } from '../../../src/adapters/sqs/event-queue.ts';
import { encodeHint, encodeTimer } from '../../../src/adapters/sqs/schema/hint-codec.ts';
import {
  eventDeduplicationId,
  eventGroupId,
  hintDeduplicationId,
  hintGroupId,
  hintGroupIds,
} from '../../../src/adapters/sqs/queue-ids.ts';
import { encodeWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { Broker, type BrokerQueue } from '@rollcall/local-aws/sqs/server/broker.ts';
import type { Delivery, NewMessage } from '@rollcall/local-aws/sqs/queue/message.ts';

/** Work queues and their dead-letter queues. */
export type QueueName =
  | 'events.fifo'
  | 'reconcile.fifo'
  | 'delay'
  | 'events-dead.fifo'
  | 'reconcile-dead.fifo'
  | 'delay-dead';

const FIFO = {
  FifoQueue: 'true',
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
};

const REGION = 'us-east-1';

export interface QueueFaults {
  /** Outcome of a watcher's send; `applied` tells whether the queue has it all the same. */
  sendEvent: (message: WatcherMessage) => { outcome: SendOutcome; applied: boolean } | undefined;
  /** True: the next batch of hints or timers is refused. */
  failsToSend: (what: 'hints' | 'timers') => boolean;
}

/** The broker with the queues of the project. */
export class SimulatedQueues {
  faults: QueueFaults = { sendEvent: () => undefined, failsToSend: () => false };
  /** The way of watchers to the queue: `once` takes one message, and is closed behind it. */
  way: 'open' | 'closed' | 'once' = 'open';
  /** How long a watcher's send takes. */
  sendMs: () => number = () => 2;
  /** Larger messages of watchers are refused for good, whatever a watcher believes (protocol 22). */
  bytesMax = Infinity;
  /** Hears of each timer that is sent. */
  onTimer: (timer: Timer) => void = () => undefined;
  /** Hears of such a refusal. */
  onTooLarge: () => void = () => undefined;
  /** Hears of a message that is sent again although it was refused for good. */
  onResent: (id: string) => void = () => undefined;
  readonly broker: Broker;
  /** Every accepted message of a watcher, in the order of the queue. */
  readonly events: WatcherMessage[] = [];
  /** Ids of messages that were refused. */
  readonly #refused = new Set<string>();
  readonly #clock: Clock;
  readonly #onSend: (queue: QueueName, body: string) => void;
  #messages = 0;

  /** `onSend` hears of each message that is taken. */
  constructor(clock: Clock, onSend: (queue: QueueName, body: string) => void) {
    this.#clock = clock;
    this.#onSend = onSend;
    this.broker = new Broker({
      region: REGION,
      handleSalt: 'simulation',
      newMessageId: () => {
        this.#messages += 1;
        return createHash('sha256').update(String(this.#messages)).digest('hex').slice(0, 32);
      },
    });
    this.#create('events.fifo', { visibility: 20, receivesMax: 1000 });
    // Far fewer than deployed: a hint that is given up early is a harder world.
    this.#create('reconcile.fifo', { visibility: 60, receivesMax: 5 });
    this.#create('delay', { visibility: 60, receivesMax: 100 });
  }

  named(name: QueueName): BrokerQueue {
    return this.broker.queueNamed(name);
  }

  /** The watcher's way in, under an identity that it cannot choose; `clock` is its own. */
  eventQueue(senderId: string, clock: Clock): EventQueue {
    return {
      freeze: (message) => {
        const body = encodeWatcherMessage(message);
        return { message, body, sizeBytes: Buffer.byteLength(body) };
      },
      send: async (frozen, cutAgeMs) => {
        await clock.sleep(this.sendMs());
        if (this.way === 'closed') return { kind: 'unsent', message: 'injected: no way' };
        if (this.way === 'once') this.way = 'closed';
        const id = eventDeduplicationId(frozen.message);
        if (this.#refused.has(id)) this.onResent(id);
        if (frozen.sizeBytes > this.bytesMax) {
          this.#refused.add(id);
          this.onTooLarge();
          return { kind: 'refused', message: 'injected: longer than allowed' };
        }
        const fault = this.faults.sendEvent(frozen.message);
        if (fault?.applied !== false) this.#accept(frozen, { senderId, cutAgeMs });
        return fault?.outcome ?? { kind: 'accepted' };
      },
    };
  }

  /** The functions' way out; `clock` is theirs and decides delays. */
  hintQueue(clock: Clock): HintQueue {
    return {
      sendHints: async (hints, deduplicationPrefix, pace = 'usual') => {
        await this.#clock.sleep(1);
        if (this.faults.failsToSend('hints')) throw new Error('injected: hints not accepted');
        const groups = hintGroupIds(
          hints.map(({ key }) => key),
          pace,
        );
        for (const [index, hint] of hints.entries()) {
          this.sendHint(hint, deduplicationPrefix, groups[index]);
        }
      },
      sendTimers: async (timers) => {
        await this.#clock.sleep(1);
        if (this.faults.failsToSend('timers')) throw new Error('injected: timers not accepted');
        for (const timer of timers) {
          this.onTimer(timer);
          this.#sendTimer(timer, clock.nowMs());
        }
      },
    };
  }

  /** The functions' way to take hints off before their invocation ends. */
  hintReceipts(): HintReceipts {
    return {
      finish: async (receiptHandles) => {
        await this.#clock.sleep(1);
        for (const handle of receiptHandles) this.delete('reconcile.fifo', handle);
      },
    };
  }

  /** Deletes what was received. */
  delete(name: QueueName, receiptHandle: string): void {
    try {
      this.named(name).queue.delete(receiptHandle, this.#clock.nowMs());
    } catch (error) {
      // A handle that expired meanwhile: the message is, or will be, somebody else's.
      if (!(error instanceof Error) || !error.message.includes('ReceiptHandle')) throw error;
    }
  }

  /** Puts a hint on reconcile.fifo; in the group of its key, unless told otherwise. */
  sendHint(hint: Hint, deduplicationPrefix: string, groupId = hintGroupId(hint.key)): void {
    this.send('reconcile.fifo', {
      body: encodeHint(hint),
      senderId: 'AROAFUNCTIONS:session',
      groupId,
      deduplicationId: hintDeduplicationId(deduplicationPrefix, hint.key),
    });
  }

  /** Puts a message on a queue, whatever it is. */
  send(name: QueueName, message: Omit<NewMessage, 'bodyMd5'>): void {
    this.named(name).queue.send({ ...message, bodyMd5: '' }, this.#clock.nowMs());
    this.#onSend(name, message.body);
  }

  #accept(
    frozen: FrozenMessage,
    by: { readonly senderId: string; readonly cutAgeMs: number | undefined },
  ): void {
    const receipt = this.named('events.fifo').queue.send(
      {
        body: frozen.body,
        bodyMd5: '',
        senderId: by.senderId,
        attributes: cutAgeAttributes(by.cutAgeMs),
        groupId: eventGroupId(frozen.message),
        deduplicationId: eventDeduplicationId(frozen.message),
      },
      this.#clock.nowMs(),
    );
    if (!receipt.isDuplicate) this.events.push(frozen.message);
    this.#onSend('events.fifo', frozen.body);
  }

  #sendTimer(timer: Timer, nowMs: number): void {
    const waitSeconds = Math.ceil((timer.dueAtMs - nowMs) / 1000);
    this.send('delay', {
      body: encodeTimer(timer),
      senderId: 'AROAFUNCTIONS:session',
      delaySeconds: Math.min(900, Math.max(0, waitSeconds)),
    });
  }

  #create(
    name: 'events.fifo' | 'reconcile.fifo' | 'delay',
    limits: { readonly visibility: number; readonly receivesMax: number },
  ): void {
    const isFifo = name.endsWith('.fifo');
    const dead = isFifo ? name.replace('.fifo', '-dead.fifo') : `${name}-dead`;
    const nowMs = this.#clock.nowMs();
    const kind = isFifo ? FIFO : {};
    const { arn } = this.broker.createQueue(dead, { ...kind, VisibilityTimeout: '60' }, nowMs);
    const redrive = { deadLetterTargetArn: arn, maxReceiveCount: limits.receivesMax };
    this.broker.createQueue(
      name,
      {
        ...kind,
        VisibilityTimeout: String(limits.visibility),
        MessageRetentionPeriod: '345600',
        RedrivePolicy: JSON.stringify(redrive),
      },
      nowMs,
    );
  }
}

let handMade = 0;

/** A delivery that no queue made: for an invocation out of turn. */
export function deliveryOf(body: string): Delivery {
  handMade += 1;
  return {
    receiptHandle: '',
    message: {
      messageId: `hand-made-${handMade}`,
      body,
      bodyMd5: '',
      senderId: '',
      sentAtMs: 0,
      sequence: 0,
      visibleAtMs: 0,
      isInFlight: true,
      receiveCount: 1,
    },
  };
}
