/**
 * A few texts over plain HTTP, for a kubelet's probes and for Prometheus.
 *
 * Listens on the one address it is given: in a pod its own, because those who ask come from outside; nowhere
 * else is it started. It answers GET and HEAD of known paths, reads no body, tells no secret, and keeps
 * few connections for a short time, so that a client can neither change nor exhaust anything.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** The answer of one path. */
export interface HttpText {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** An open endpoint. */
export interface HttpEndpoint {
  /** The port that it really has, should 0 have been asked for. */
  readonly port: number;
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 32;
const REQUEST_MS_MAX = 5000;
/** How often Node looks for requests that last too long; its default is 30 s. */
const LOOK_MS = 1000;
const HEADER_BYTES_MAX = 8192;

/** Opens it. Rejects if the address cannot be bound: another process of the node may have the port. */
export async function openHttpEndpoint(options: {
  readonly host: string;
  readonly port: number;
  readonly answers: Readonly<Record<string, () => HttpText>>;
  /** How long a request may take to arrive; 5 s. */
  readonly requestMsMax?: number;
}): Promise<HttpEndpoint> {
  const { host, port, answers, requestMsMax = REQUEST_MS_MAX } = options;
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      requestTimeout: requestMsMax,
      headersTimeout: requestMsMax,
      keepAliveTimeout: requestMsMax,
      connectionsCheckingInterval: Math.min(LOOK_MS, requestMsMax),
    },
    (request, response) => {
      answer(request, response, answers);
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  answers: Readonly<Record<string, () => HttpText>>,
): void {
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const make = Object.hasOwn(answers, path) ? answers[path] : undefined;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const { status, contentType, text } = isRead
    ? (make?.() ?? plain(404, 'no such path\n'))
    : plain(405, 'only GET\n');
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : text);
  // The body of a request is never read.
  if (!isRead) request.destroy();
}

/** A plain text. */
export function plain(status: number, text: string): HttpText {
  return { status, contentType: 'text/plain; charset=utf-8', text };
}
