/**
 * The page's server on 127.0.0.1: listens, sends what answer-request.ts says, and ends.
 *
 * Bounded: connections, requests that run at once, and how long a connection may stand still. Closing ends streams, lets orders that
 * began reach their end, and leaves no connection.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerRequest, replyToError } from './answer-request.ts';
import type { Around, Reply, UiServing } from './answer-request.ts';
import { SECURITY_HEADERS } from './protection.ts';

const CONNECTIONS_MAX = 64;
/** Streams among them. */
const RUNNING_MAX = 32;
/** A connection on which nothing moves, milliseconds. */
const STILL_MS_MAX = 120_000;
const HEADER_BYTES_MAX = 16_384;
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' };

export interface UiServer {
  readonly port: number;
  /** Resolves once nothing of it is left. */
  close(): Promise<void>;
}

/** Starts it. Rejects with the system's error where it cannot have the port; 0: a free one. */
export async function startUiServer(serving: UiServing, port: number): Promise<UiServer> {
  const running = new Set<Promise<void>>();
  const closing = new AbortController();
  const server = createServer({ noDelay: true, maxHeaderSize: HEADER_BYTES_MAX });
  server.maxConnections = CONNECTIONS_MAX;
  server.timeout = STILL_MS_MAX;
  const ownPort = (): number => (server.address() as AddressInfo).port;
  server.on('request', (request, response) => {
    const around = { serving, port: ownPort(), isBusy: running.size >= RUNNING_MAX };
    const answered = respond({ request, response }, around, closing.signal);
    running.add(answered);
    void answered.finally(() => running.delete(answered));
  });
  const listening = Promise.withResolvers<undefined>();
  server.once('error', listening.reject);
  server.listen(port, '127.0.0.1', () => {
    listening.resolve(undefined);
  });
  await listening.promise;
  return {
    port: ownPort(),
    close: async () => {
      const closed = new Promise<unknown>((resolve) => server.close(resolve));
      closing.abort();
      await Promise.all(running);
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers one request; never rejects. */
async function respond(exchange: Exchange, around: Around, closing: AbortSignal): Promise<void> {
  const { request, response } = exchange;
  const leaving = new AbortController();
  response.once('close', () => {
    leaving.abort();
  });
  const signal = AbortSignal.any([leaving.signal, closing]);
  try {
    const reply = await answerRequest(request, signal, around);
    if (reply.kind === 'reply') send(exchange, reply);
    else {
      response.writeHead(200, { ...SECURITY_HEADERS, ...STREAM_HEADERS });
      await reply.write(response, signal);
      response.end();
    }
  } catch (error) {
    // A client that left, e.g. in the middle of its body, is told nothing.
    if (leaving.signal.aborted || response.headersSent) response.destroy();
    else send(exchange, replyToError(error));
  }
}

function send({ request, response }: Exchange, { status, headers, body }: Reply): void {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  // The rest of a body that is not taken is not read as the next request.
  const rest = request.complete ? {} : { connection: 'close' };
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...length, ...rest });
  response.end(request.method === 'HEAD' ? undefined : body);
}
