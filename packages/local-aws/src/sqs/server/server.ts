// The queue server: AWS JSON 1.0 over loopback HTTP, around the queue service.
//
// Assumes clients on this machine. The access key in the credential scope stands for the sender and, where an authorizer is
// given, for its rights, and the request must be signed with its secret; else signatures are not checked. Binds 127.0.0.1
// alone. What a call does, and in which order, is queue-service.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accessKeyOf, type Authorizer } from '../../iam/authorizer.ts';
import { startLoopbackServer } from '../../server/loopback-server.ts';
import type { WholeRequest } from '../../server/loopback-server.ts';
import { localAccountId } from './broker.ts';
import { SqsError, sqsErrors } from '../queue/errors.ts';
import { QueueService, type QueueServiceOptions } from './queue-service.ts';
import { readObject, type Fields } from './request.ts';

/** How the queue server is set up. */
export interface SqsServerOptions extends Omit<QueueServiceOptions, 'region' | 'endpointOf'> {
  readonly region?: string;
  readonly port?: number;
}

/** A running queue server. */
export interface SqsServer {
  readonly endpoint: string;
  readonly region: string;
  /** The same queues, without HTTP. */
  readonly service: QueueService;
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
  let endpoint = '';
  const service = new QueueService({ ...options, region, endpointOf: () => endpoint });
  const { answer } = new RequestHandler({ ...options, service });
  const server = await startLoopbackServer({
    ...{ bodyBytesMax: requestBytesMax, answer, port: options.port },
  });
  ({ endpoint } = server);
  const stopOnce = async (): Promise<void> => {
    service.stopWaiting();
    await server.stop();
    service.close();
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopOnce());
  const urlOf = (queueName: string): string => `${endpoint}/${localAccountId}/${queueName}`;
  return { endpoint, region, service, urlOf, stop };
}

class RequestHandler {
  readonly #service: QueueService;
  readonly #newId: () => string;
  readonly #authorizer: Authorizer | undefined;

  constructor({
    service,
    newId,
    authorizer,
  }: Pick<SqsServerOptions, 'newId' | 'authorizer'> & { readonly service: QueueService }) {
    this.#service = service;
    this.#newId = newId;
    this.#authorizer = authorizer;
  }

  readonly answer = ({ request, response, body }: WholeRequest): void => {
    try {
      const target = request.headers['x-amz-target'];
      if (request.method !== 'POST' || typeof target !== 'string') {
        throw sqsErrors.unknownOperation('Only POST with X-Amz-Target is understood here.');
      }
      const name = target.startsWith(targetPrefix) ? target.slice(targetPrefix.length) : target;
      const accessKey = this.#accessKeyOf(request, body);
      const call = { accessKey, name, fields: readBody(body.toString('utf8')) };
      if (name === 'ReceiveMessage') this.#receive(call, response);
      else this.#send(response, this.#service.perform(call));
    } catch (error) {
      this.#sendError(response, error);
    }
  };

  /** Who is not known by a signature has no name, and no rights. */
  #accessKeyOf({ method, url, headers }: IncomingMessage, body: Buffer): string {
    if (this.#authorizer === undefined) return accessKeyOf(headers.authorization);
    return this.#authorizer.signerOf({ method, url, headers, body }) ?? '';
  }

  #receive(call: Parameters<QueueService['receive']>[0], response: ServerResponse): void {
    const cancel = this.#service.receive(call, (received) => {
      this.#send(response, received);
    });
    if (cancel !== undefined) response.on('close', cancel);
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
