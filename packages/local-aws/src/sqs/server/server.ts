// The queue server: AWS JSON 1.0 over loopback HTTP, around the pure broker.
//
// Assumes clients on this machine: signatures are not checked, only the access key in the credential scope is read; it
// stands for the sender and, where an authorizer is given, for its rights. Binds 127.0.0.1 alone. Order within one request: action, journal, waiting
// receivers, answer; so nothing is acknowledged that a kill could lose, and a message reaches a waiting receiver in
// the same turn of the event loop as its send. Clock and randomness are given.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { accessKeyOf, type Authorizer } from '../../iam/authorizer.ts';
import { actions, targetOf, type ActionContext } from './actions.ts';
import { authorizeQueueRequest } from './authorization.ts';
import { Broker, localAccountId, type BrokerQueue } from './broker.ts';
import { SqsError, sqsErrors } from '../queue/errors.ts';
import { JournalFile } from './journal-file.ts';
import { LongPolls } from './long-polls.ts';
import { readReceiveRequest, writeDelivery, type WireMessage } from './receive-request.ts';
import { readObject, type Fields } from './request.ts';

/** How the queue server is set up. */
export interface SqsServerOptions {
  readonly clock: Clock;
  /** A new unique id each time: message ids, and the salt of receipt handles. */
  readonly newId: () => string;
  readonly region?: string;
  /** Where queues survive a kill; in memory if absent. */
  readonly dataDirectory?: string | undefined;
  /** SenderId by access key; an access key that is not here sends as `<access key>:local`. */
  readonly senderIds?: ReadonlyMap<string, string> | undefined;
  /** Who may do what; everybody everything if absent. */
  readonly authorizer?: Authorizer | undefined;
  readonly port?: number;
}

/** A running queue server. */
export interface SqsServer {
  readonly endpoint: string;
  readonly region: string;
  /** The URL at which a queue is reached now. */
  urlOf(queueName: string): string;
  stop(): Promise<void>;
}

const contentType = 'application/x-amz-json-1.0';
// Over a SendMessageBatch of 1 MiB, with every character escaped.
const requestBytesMax = 16 * 1_048_576;
const targetPrefix = 'AmazonSQS.';

/** Starts a queue server on a loopback port. */
export async function startSqsServer(options: SqsServerOptions): Promise<SqsServer> {
  const region = options.region ?? 'us-east-1';
  const requests = new RequestHandler(options, region);
  const server = createServer({ noDelay: true }, requests.handle);
  // A client that reuses a connection just as the server ends it gets an error it did not earn.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  await listen(server, options.port ?? 0);
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  requests.endpoint = endpoint;
  const stopOnce = async (): Promise<void> => {
    requests.stopWaiting();
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    server.closeAllConnections();
    await closed;
    requests.close();
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopOnce());
  const urlOf = (queueName: string): string => `${endpoint}/${localAccountId}/${queueName}`;
  return { endpoint, region, urlOf, stop };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

class RequestHandler {
  endpoint = '';
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #senderIds: ReadonlyMap<string, string>;
  readonly #authorizer: Authorizer | undefined;
  readonly #region: string;
  readonly #broker: Broker;
  readonly #journal: JournalFile | undefined;
  readonly #longPolls: LongPolls;
  readonly #changed = new Set<BrokerQueue>();

  constructor(options: SqsServerOptions, region: string) {
    this.#clock = options.clock;
    this.#newId = options.newId;
    this.#senderIds = options.senderIds ?? new Map();
    this.#authorizer = options.authorizer;
    this.#region = region;
    this.#longPolls = new LongPolls(options.clock, () => this.#journal?.flush());
    const { dataDirectory } = options;
    this.#broker = new Broker({
      region,
      newMessageId: options.newId,
      handleSalt: options.newId().replaceAll(/[^0-9a-z]/g, ''),
      record: dataDirectory === undefined ? undefined : (entry) => this.#journal?.record(entry),
      onChange: (queue) => this.#changed.add(queue),
    });
    if (dataDirectory === undefined) return;
    this.#journal = JournalFile.open(
      dataDirectory,
      (entry) => {
        this.#broker.replay(entry, this.#clock.nowMs());
      },
      () => this.#broker.facts(this.#clock.nowMs()),
    );
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    request.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > requestBytesMax) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => {
      const [first = Buffer.alloc(0)] = chunks;
      const body = chunks.length === 1 ? first : Buffer.concat(chunks);
      this.#answer(request, response, body.toString('utf8'));
    });
  };

  stopWaiting(): void {
    this.#longPolls.stop();
  }

  close(): void {
    this.#journal?.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    try {
      const target = request.headers['x-amz-target'];
      if (request.method !== 'POST' || typeof target !== 'string') {
        throw sqsErrors.unknownOperation('Only POST with X-Amz-Target is understood here.');
      }
      const name = target.startsWith(targetPrefix) ? target.slice(targetPrefix.length) : target;
      const fields = readBody(body);
      this.#authorize(request, name, fields);
      if (name === 'ReceiveMessage') {
        this.#receive(fields, response);
        return;
      }
      const action = actions.get(name);
      if (action === undefined) throw sqsErrors.unknownOperation(`Unknown operation: ${name}`);
      const answer = action(fields, this.#context(request));
      this.#journal?.flush();
      this.#serveWaiting();
      this.#send(response, answer);
    } catch (error) {
      this.#sendError(response, error);
    }
  }

  #authorize(request: IncomingMessage, name: string, fields: Fields): void {
    if (this.#authorizer === undefined) return;
    authorizeQueueRequest(this.#authorizer, {
      authorization: request.headers.authorization,
      name,
      fields,
      arnOf: (queueName) => `arn:aws:sqs:${this.#region}:${localAccountId}:${queueName}`,
    });
  }

  #context(request: IncomingMessage): ActionContext {
    return {
      broker: this.#broker,
      nowMs: this.#clock.nowMs(),
      senderId: this.#senderIdOf(request.headers.authorization),
      urlOf: (queue) => `${this.endpoint}/${localAccountId}/${queue.name}`,
      changed: (queue) => this.#changed.add(queue),
    };
  }

  #receive(fields: Fields, response: ServerResponse): void {
    const target = targetOf(fields, { broker: this.#broker });
    const parameters = readReceiveRequest(fields, target.queue.settings);
    const { isFifo } = target.queue.settings;
    const attempt = (): boolean => {
      const deliveries = target.queue.receive(parameters, this.#clock.nowMs());
      if (deliveries.length === 0) return false;
      const messages: WireMessage[] = deliveries.map((delivery) =>
        writeDelivery(delivery, parameters, isFifo),
      );
      this.#journal?.flush();
      this.#send(response, { Messages: messages });
      return true;
    };
    const isServed = attempt();
    this.#serveWaiting();
    if (isServed) return;
    if (parameters.waitSeconds === 0) {
      this.#send(response, {});
      return;
    }
    const cancel = this.#longPolls.park(target, {
      attempt,
      expire: () => {
        this.#send(response, {});
      },
      waitMs: parameters.waitSeconds * 1000,
    });
    response.on('close', cancel);
  }

  /** Serving one queue may move a message to another one's dead-letter queue, hence the loop. */
  #serveWaiting(): void {
    for (const queue of this.#changed) {
      this.#changed.delete(queue);
      this.#longPolls.changed(queue);
    }
    this.#journal?.flush();
  }

  #senderIdOf(authorization: string | undefined): string {
    const signedBy = accessKeyOf(authorization);
    const accessKey = signedBy === '' ? 'anonymous' : signedBy;
    return this.#senderIds.get(accessKey) ?? `${accessKey}:local`;
  }

  #send(response: ServerResponse, answer: object | undefined): void {
    const text = answer === undefined ? '{}' : JSON.stringify(answer);
    response.writeHead(200, this.#headers(text)).end(text);
  }

  #sendError(response: ServerResponse, error: unknown): void {
    const isKnown = error instanceof SqsError;
    const type = isKnown ? error.type : 'com.amazonaws.sqs#InternalError';
    const message = error instanceof Error ? (isKnown ? error.message : String(error.stack)) : '';
    const text = JSON.stringify({ __type: type, message });
    const queryError = isKnown ? `${error.queryCode};Sender` : 'InternalFailure;Receiver';
    response
      .writeHead(isKnown ? error.httpStatus : 500, {
        ...this.#headers(text),
        'x-amzn-query-error': queryError,
      })
      .end(text);
  }

  #headers(text: string): Record<string, string | number> {
    return {
      'Content-Type': contentType,
      'Content-Length': Buffer.byteLength(text),
      'x-amzn-RequestId': this.#newId(),
    };
  }
}

function readBody(body: string): Fields {
  if (body === '') return {};
  try {
    return readObject(JSON.parse(body), 'The request');
  } catch (cause) {
    if (cause instanceof SqsError) throw cause;
    const error = sqsErrors.serialization('The request is not valid JSON.');
    error.cause = cause;
    throw error;
  }
}
