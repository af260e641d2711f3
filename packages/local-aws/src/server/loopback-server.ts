// What the small servers here share: a free port of 127.0.0.1, strangers refused, a body read whole up to a bound, and an
// end that ends every open connection.
//
// What a request means, and who may ask it, is each server's own.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whyNotLocal } from '@rollcall/base/system/local-caller.ts';

/** A running server. */
export interface LoopbackServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** A request whose body has come whole, and where its answer goes. */
export interface WholeRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

/** What a server answers, and to how much. */
export interface LoopbackServerOptions {
  /** A request with a larger body is cut off. */
  readonly bodyBytesMax: number;
  readonly answer: (whole: WholeRequest) => void;
  /** A free one if absent. */
  readonly port?: number | undefined;
}

/** Starts it. */
export async function startLoopbackServer({
  bodyBytesMax,
  answer,
  port = 0,
}: LoopbackServerOptions): Promise<LoopbackServer> {
  const server = createServer({ noDelay: true }, (request, response) => {
    if (refuseStranger(request, response)) return;
    receiveBody(request, bodyBytesMax, (body) => {
      answer({ request, response, body });
    });
  });
  // A client that reuses a connection just as the server ends it gets an error it did not earn.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  let stopped: Promise<void> | undefined;
  return {
    endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    stop: () =>
      (stopped ??= new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      })),
  };
}

function receiveBody(
  request: IncomingMessage,
  bodyBytesMax: number,
  read: (body: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    const [first = Buffer.alloc(0)] = chunks;
    read(chunks.length === 1 ? first : Buffer.concat(chunks));
  });
}

/** Refuses a request under a foreign name, or of a browser; whether it did. */
function refuseStranger({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const message = whyNotLocal(headers);
  if (message === undefined) return false;
  const text = JSON.stringify({ __type: 'AccessDeniedException', message });
  response
    .writeHead(403, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
  return true;
}
