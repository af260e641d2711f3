// The queue service without a transport: who calls, what is called, and with which fields; an answer, or an SqsError.
//
// Order within one call: rights, action, journal, waiting receivers, answer; so nothing is acknowledged that a kill
// could lose, and a message reaches a waiting receiver in the same turn of the event loop as its send. The HTTP server
// is one way in; event-source mappings, which are Lambda's own pollers in AWS, call it without one. Clock and
// randomness are given.
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Authorizer } from '../../iam/authorizer.ts';
import { JournalFile } from '../../server/journal-file.ts';
import { sqsErrors } from '../queue/errors.ts';
import type { JournalEntry } from '../queue/journal.ts';
import { actions, targetOf, type ActionContext } from './actions.ts';
import { Broker, localAccountId, type BrokerQueue } from './broker.ts';
import { LongPolls } from './long-polls.ts';
import { readReceiveRequest, writeDelivery, type WireMessage } from './receive-request.ts';
import { readOptionalString, type Fields } from './request.ts';

/** How the queue service is set up. */
export interface QueueServiceOptions {
  readonly clock: Clock;
  /** A new unique id each time: message ids, and the salt of receipt handles. */
  readonly newId: () => string;
  readonly region: string;
  /** Where queues survive a kill; in memory if absent. */
  readonly dataDirectory?: string | undefined;
  /** SenderId by access key; an access key that is not here sends as `<access key>:local`. */
  readonly senderIds?: ReadonlyMap<string, string> | undefined;
  /** Who may do what; everybody everything if absent. */
  readonly authorizer?: Authorizer | undefined;
  /** What the URLs of queues begin with. */
  readonly endpointOf: () => string;
}

/** Who calls what. */
export interface QueueCall {
  /** The access key of the caller; empty where there is none. */
  readonly accessKey: string;
  /** The operation, as X-Amz-Target names it. */
  readonly name: string;
  readonly fields: Fields;
}

/** What a receive gives; no messages where there were none in time. */
export interface ReceiveAnswer {
  readonly Messages?: readonly WireMessage[];
}

/** The queues of one account, and everything that may be asked of them. */
export class QueueService {
  readonly #options: QueueServiceOptions;
  readonly #broker: Broker;
  readonly #journal: JournalFile<JournalEntry> | undefined;
  readonly #longPolls: LongPolls;
  readonly #changed = new Set<BrokerQueue>();

  constructor(options: QueueServiceOptions) {
    this.#options = options;
    const { clock, newId, dataDirectory } = options;
    this.#longPolls = new LongPolls(clock, () => this.#journal?.flush());
    this.#broker = new Broker({
      region: options.region,
      newMessageId: newId,
      handleSalt: newId().replaceAll(/[^0-9a-z]/g, ''),
      record: dataDirectory === undefined ? undefined : (entry) => this.#journal?.record(entry),
      onChange: (queue) => this.#changed.add(queue),
    });
    if (dataDirectory === undefined) return;
    this.#journal = JournalFile.open<JournalEntry>({
      directory: dataDirectory,
      name: 'queues.ndjson',
      replay: (entry) => {
        this.#broker.replay(entry, clock.nowMs());
      },
      currentFacts: () => this.#broker.facts(clock.nowMs()),
    });
  }

  /** Does what is called, all but ReceiveMessage; undefined where the protocol has an empty answer. Throws SqsError. */
  perform(call: QueueCall): object | undefined {
    this.#authorize(call);
    const action = actions.get(call.name);
    if (action === undefined) throw sqsErrors.unknownOperation(`Unknown operation: ${call.name}`);
    const answer = action(call.fields, this.#contextOf(call));
    this.#journal?.flush();
    this.#serveWaiting();
    return answer;
  }

  /**
   * ReceiveMessage: `answer` is called once, at once or as soon as there is something, or when the time to wait is over.
   * The result cancels a receive that still waits, without an answer. Throws SqsError.
   */
  receive(
    call: Omit<QueueCall, 'name'>,
    answer: (received: ReceiveAnswer) => void,
  ): Cancel | undefined {
    this.#authorize({ ...call, name: 'ReceiveMessage' });
    const target = targetOf(call.fields, { broker: this.#broker });
    const parameters = readReceiveRequest(call.fields, target.queue.settings);
    const { isFifo } = target.queue.settings;
    const attempt = (): boolean => {
      const deliveries = target.queue.receive(parameters, this.#options.clock.nowMs());
      if (deliveries.length === 0) return false;
      const Messages = deliveries.map((delivery) => writeDelivery(delivery, parameters, isFifo));
      this.#journal?.flush();
      answer({ Messages });
      return true;
    };
    const isServed = attempt();
    this.#serveWaiting();
    if (isServed) return undefined;
    const expire = (): void => {
      answer({});
    };
    if (parameters.waitSeconds === 0) {
      expire();
      return undefined;
    }
    return this.#longPolls.park(target, {
      attempt,
      expire,
      waitMs: parameters.waitSeconds * 1000,
    });
  }

  /** Ends every receive that waits, with no messages. */
  stopWaiting(): void {
    this.#longPolls.stop();
  }

  /** Nothing is kept from here on. */
  close(): void {
    this.#journal?.close();
  }

  #authorize({ accessKey, name, fields }: QueueCall): void {
    const { authorizer, region } = this.#options;
    if (authorizer === undefined) return;
    authorizeQueueRequest(authorizer, {
      ...{ accessKey, name, fields },
      arnOf: (queueName) => `arn:aws:sqs:${region}:${localAccountId}:${queueName}`,
    });
  }

  #contextOf({ accessKey }: QueueCall): ActionContext {
    const { clock, senderIds, endpointOf } = this.#options;
    const sender = accessKey === '' ? 'anonymous' : accessKey;
    return {
      broker: this.#broker,
      nowMs: clock.nowMs(),
      senderId: senderIds?.get(sender) ?? `${sender}:local`,
      urlOf: (queue) => `${endpointOf()}/${localAccountId}/${queue.name}`,
      changed: (queue) => this.#changed.add(queue),
    };
  }

  /** Serving one queue may move a message to another one's dead-letter queue, hence the loop. */
  #serveWaiting(): void {
    for (const queue of this.#changed) {
      this.#changed.delete(queue);
      this.#longPolls.changed(queue);
    }
    this.#journal?.flush();
  }
}

/** What a request is authorised by. */
interface QueueRequest {
  readonly accessKey: string;
  /** The operation, as X-Amz-Target names it. */
  readonly name: string;
  readonly fields: Fields;
  /** The ARN of a queue of this account. */
  readonly arnOf: (queueName: string) => string;
}

/** Throws the SqsError that a missing right is answered with. */
function authorizeQueueRequest(authorizer: Authorizer, request: QueueRequest): void {
  const { accessKey, name, fields, arnOf } = request;
  const url = readOptionalString(fields, 'QueueUrl');
  const queueName = url?.slice(url.lastIndexOf('/') + 1) ?? readOptionalString(fields, 'QueueName');
  const decision = authorizer.decide(accessKey, {
    action: `sqs:${name.replace(/Batch$/, '')}`,
    resourceArn: arnOf(queueName ?? ''),
  });
  if (decision.kind === 'unknown-key') {
    throw sqsErrors.unrecognizedClient('The security token included in the request is invalid.');
  }
  if (decision.kind === 'denied') throw sqsErrors.accessDenied(decision.message);
}
