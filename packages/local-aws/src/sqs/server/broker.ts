// The set of queues of one account: names, addresses, redrive between queues, and the journal of it all.
//
// Pure like queue.ts: every operation takes the time and returns a value; `record` takes the facts in order and
// decides how to keep them. A queue is addressed by the last segment of its URL, so a URL from before a restart on
// another port still works. Attributes are kept as they were given, defaults are only shown.
import { sqsErrors } from '../queue/errors.ts';
import type { JournalEntry } from '../queue/journal.ts';
import type { StoredMessage } from '../queue/message.ts';
import {
  describeQueueSettings,
  parseQueueSettings,
  type QueueAttributes,
} from '../queue/queue-settings.ts';
import { Queue } from '../queue/queue.ts';

/** The account id in every ARN and queue URL of the local server. */
export const localAccountId = '000000000000';

/** What a broker needs from its surroundings. */
export interface BrokerOptions {
  readonly region: string;
  readonly newMessageId: () => string;
  readonly handleSalt: string;
  readonly record?: ((entry: JournalEntry) => void) | undefined;
  /** Called when a queue may have something to deliver that it had not before. */
  readonly onChange?: ((queue: BrokerQueue) => void) | undefined;
}

/** A queue with its name and attributes. */
export interface BrokerQueue {
  readonly name: string;
  readonly arn: string;
  readonly queue: Queue;
  attributes: QueueAttributes;
  createdAtMs: number;
  modifiedAtMs: number;
}

const queueNamePattern = /^[A-Za-z0-9_-]{1,75}(\.fifo)?$|^[A-Za-z0-9_-]{76,80}$/;

/** All queues. */
export class Broker {
  readonly #options: BrokerOptions;
  readonly #queues = new Map<string, BrokerQueue>();

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  /** Creates a queue; the same name with the same attributes again is the same queue. */
  createQueue(name: string, attributes: QueueAttributes, nowMs: number): BrokerQueue {
    if (!queueNamePattern.test(name)) {
      throw sqsErrors.invalidParameterValue(`"${name}" is not a queue name.`);
    }
    const existing = this.#queues.get(name);
    if (existing !== undefined) {
      const shown = this.describe(existing, nowMs);
      const differing = Object.keys(attributes).find((key) => attributes[key] !== shown[key]);
      if (differing === undefined) return existing;
      throw sqsErrors.queueNameExists(
        `A queue named ${name} already exists with a different value for attribute ${differing}`,
      );
    }
    const created = this.#add(name, attributes, nowMs);
    this.#options.record?.({ queue: name, op: 'create', attributes, atMs: nowMs });
    return created;
  }

  /** The queue at a URL. */
  queueAt(queueUrl: string): BrokerQueue {
    return this.queueNamed(queueUrl.slice(queueUrl.lastIndexOf('/') + 1));
  }

  /** The queue with a name. */
  queueNamed(name: string): BrokerQueue {
    const found = this.#queues.get(name);
    if (found === undefined) {
      throw sqsErrors.queueDoesNotExist(`The specified queue does not exist: ${name}`);
    }
    return found;
  }

  /** The queue with an ARN, if it exists. */
  queueWithArn(arn: string): BrokerQueue | undefined {
    const found = this.#queues.get(arn.slice(arn.lastIndexOf(':') + 1));
    return found?.arn === arn ? found : undefined;
  }

  /** All queues, in the order of their creation. */
  queues(): Iterable<BrokerQueue> {
    return this.#queues.values();
  }

  /** Changes attributes of a queue; the others stay. An empty value removes one. */
  setAttributes(target: BrokerQueue, changes: QueueAttributes, nowMs: number): void {
    const merged = { ...target.attributes, ...changes };
    const attributes = Object.fromEntries(Object.entries(merged).filter(([, text]) => text !== ''));
    target.queue.settings = parseQueueSettings(target.name, attributes);
    target.attributes = attributes;
    target.modifiedAtMs = nowMs;
    this.#options.record?.({ queue: target.name, op: 'set', attributes, atMs: nowMs });
  }

  /** Deletes a queue with everything in it. */
  deleteQueue(target: BrokerQueue): void {
    this.#queues.delete(target.name);
    this.#options.record?.({ queue: target.name, op: 'drop' });
    this.#options.onChange?.(target);
  }

  /** Every attribute of a queue, as GetQueueAttributes shows it. */
  describe(target: BrokerQueue, nowMs: number): Record<string, string> {
    const counts = target.queue.counts(nowMs);
    return {
      ...target.attributes,
      ...describeQueueSettings(target.queue.settings),
      QueueArn: target.arn,
      CreatedTimestamp: String(Math.floor(target.createdAtMs / 1000)),
      LastModifiedTimestamp: String(Math.floor(target.modifiedAtMs / 1000)),
      ApproximateNumberOfMessages: String(counts.visible),
      ApproximateNumberOfMessagesNotVisible: String(counts.inFlight),
      ApproximateNumberOfMessagesDelayed: String(counts.delayed),
    };
  }

  /** The facts that rebuild every queue. */
  *facts(nowMs: number): Iterable<JournalEntry> {
    for (const { name, attributes, createdAtMs, queue } of this.#queues.values()) {
      yield { queue: name, op: 'create', attributes, atMs: createdAtMs };
      for (const fact of queue.facts(nowMs)) yield { queue: name, ...fact };
    }
  }

  /** Applies an entry that was recorded before a restart. */
  replay(entry: JournalEntry, nowMs: number): void {
    if (entry.op === 'create') this.#add(entry.queue, entry.attributes, entry.atMs);
    else if (entry.op === 'drop') this.#queues.delete(entry.queue);
    else {
      const target = this.queueNamed(entry.queue);
      if (entry.op !== 'set') target.queue.replay(entry, nowMs);
      else {
        target.attributes = entry.attributes;
        target.queue.settings = parseQueueSettings(entry.queue, entry.attributes);
        target.modifiedAtMs = entry.atMs;
      }
    }
  }

  #add(name: string, attributes: QueueAttributes, nowMs: number): BrokerQueue {
    const { region, newMessageId, handleSalt, record } = this.#options;
    const arn = `arn:aws:sqs:${region}:${localAccountId}:${name}`;
    const queue = new Queue({
      settings: parseQueueSettings(name, attributes),
      newMessageId,
      handleSalt,
      moveToDeadLetter: (message, atMs) => this.#moveToDeadLetter(arn, message, atMs),
      record:
        record &&
        ((fact) => {
          record({ queue: name, ...fact });
        }),
    });
    const created = { name, arn, queue, attributes, createdAtMs: nowMs, modifiedAtMs: nowMs };
    this.#queues.set(name, created);
    return created;
  }

  #moveToDeadLetter(sourceArn: string, message: StoredMessage, nowMs: number): boolean {
    const redrive = this.queueWithArn(sourceArn)?.queue.settings.redrive;
    const target = redrive && this.queueWithArn(redrive.deadLetterTargetArn);
    if (target === undefined) return false;
    target.queue.acceptMoved(message, sourceArn, nowMs);
    this.#options.onChange?.(target);
    return true;
  }
}
