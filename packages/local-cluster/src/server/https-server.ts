/**
 * The API server's network side: HTTPS on 127.0.0.1 with bearer tokens, in front of the handler.
 *
 * It authenticates, reads bodies, agrees on a format and writes answers; every decision about objects is the handler's.
 * An answer leaves after the store has had its microtask, so what a client was told is on disk if anything is. HTTP/1.1
 * only: kubectl and the watcher fall back to it. An error that the handler throws is a bug: it becomes a 500 and a log
 * line, and the server goes on.
 *
 * Differs from Kubernetes: a request with an Origin, or under another Host than this machine's, is refused.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { whyNotLocal } from '@rollcall/base/system/local-caller.ts';
import type { Authenticate } from '../access/tokens.ts';
import type { ApiHandler, ApiRequest, Status, User } from '../api/request/api-request.ts';
import { failure, methodNotAllowed } from '../api/request/statuses.ts';
import { readBody } from './read-body.ts';
import type { BodyOutcome } from './read-body.ts';
import { writeAnswer } from './write-answer.ts';
import type { AnswerContext } from './write-answer.ts';

/** What the server stands on. */
export interface HttpsServerOptions {
  readonly handler: ApiHandler;
  readonly authenticate: Authenticate;
  readonly certificate: { readonly certificatePem: string; readonly keyPem: string };
  /** On 127.0.0.1; 0 picks a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly log?: Log;
  /** Bytes that may wait for a slow watcher before it is cut off. */
  readonly watchBacklogBytesMax?: number;
  /** How much later than it could it answers, as the cluster's pods ask; absent: not at all. */
  readonly delayMs?: () => number;
}

/** A running server. */
export interface HttpsServer {
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  /** Ends the watches, lets answers that are under way leave, closes all connections. Idempotent. */
  readonly stop: () => Promise<void>;
}

const KEEP_ALIVE_MS = 120_000;
const STOP_GRACE_MS = 1_000;
/** All pods of a thousand nodes at once, several times over. */
const WATCH_BACKLOG_BYTES_MAX = 64 * 1024 * 1024;
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Starts it. Rejects when the port is taken. */
export async function startHttpsServer(options: HttpsServerOptions): Promise<HttpsServer> {
  const { certificate, clock } = options;
  const connections = new ApiConnections(options);
  const server = createServer({ cert: certificate.certificatePem, key: certificate.keyPem });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('request', (request, response) => {
    void connections.serve(request, response);
  });
  const port = await listen(server, options.port);
  let stopped: Promise<void> | undefined;
  return {
    server: `https://127.0.0.1:${port}`,
    stop: () => {
      stopped ??= stopServer({ server, connections, clock });
      return stopped;
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port); // an IP socket's address is an AddressInfo
    });
  });
}

async function stopServer(running: {
  readonly server: Server;
  readonly connections: ApiConnections;
  readonly clock: Clock;
}): Promise<void> {
  const { server, connections, clock } = running;
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  const grace = new AbortController();
  await Promise.race([connections.end(), clock.sleep(STOP_GRACE_MS, grace.signal)]);
  grace.abort();
  server.closeAllConnections();
  await closed;
}

/** The requests under way. */
class ApiConnections {
  readonly #options: HttpsServerOptions;
  readonly #watchEnds = new Set<() => void>();
  readonly #responses = new Set<ServerResponse>();
  #onIdle: (() => void) | undefined;

  constructor(options: HttpsServerOptions) {
    this.#options = options;
  }

  /** Ends the watches; resolves when no answer is under way any more. */
  end(): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    for (const end of [...this.#watchEnds]) end();
    if (this.#responses.size === 0) this.#onIdle?.();
    return idle;
  }

  /** Serves one request; never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#responses.add(response);
    response.once('close', () => {
      this.#responses.delete(response);
      if (this.#responses.size === 0) this.#onIdle?.();
    });
    try {
      await this.#answer(request, response);
    } catch (error) {
      this.#options.log?.error('a request failed', { path: pathOf(request) }, error);
      if (response.headersSent) response.destroy();
      else this.#refuse(response, internalError(error));
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const stranger = whyNotLocal(request.headers);
    if (stranger !== undefined) {
      this.#refuse(response, failure({ code: 403, reason: 'Forbidden', message: stranger }));
      return;
    }
    const user = this.#options.authenticate(bearerToken(request.headers.authorization));
    if (user === undefined) {
      this.#refuse(response, unauthorized());
      return;
    }
    const { method = '' } = request;
    if (!isMethod(method)) {
      this.#refuse(response, methodNotAllowed());
      return;
    }
    const read: BodyOutcome = method === 'GET' ? { kind: 'body' } : await readBody(request);
    if (read.kind === 'gone') return;
    if (read.kind === 'refused') {
      this.#refuse(response, read.status);
      return;
    }
    const { kind: _, ...body } = read;
    await this.#beSlow();
    const answer = this.#options.handler.handle({
      ...toApiRequest(request, { method, user }),
      ...body,
    });
    // The store writes to disk in a microtask that is already queued: an answer must not overtake it.
    await Promise.resolve();
    writeAnswer(response, answer, this.#context());
  }

  /** A server that is loaded answers everybody later. */
  async #beSlow(): Promise<void> {
    const delayMs = this.#options.delayMs?.() ?? 0;
    if (delayMs > 0) await this.#options.clock.sleep(delayMs);
  }

  #context(): AnswerContext {
    return {
      watchBacklogBytesMax: this.#options.watchBacklogBytesMax ?? WATCH_BACKLOG_BYTES_MAX,
      onWatch: (end) => {
        this.#watchEnds.add(end);
        return () => {
          this.#watchEnds.delete(end);
        };
      },
    };
  }

  /** A body that was not read is thrown away by Node, so the connection remains good. */
  #refuse(response: ServerResponse, status: Status): void {
    writeAnswer(response, { kind: 'object', status: status.code, body: status }, this.#context());
  }
}

function toApiRequest(
  request: IncomingMessage,
  known: { readonly method: ApiRequest['method']; readonly user: User },
): ApiRequest {
  const { headers } = request;
  const { method, user } = known;
  const accept = acceptForHandler(request);
  const contentType = headers['content-type'];
  const userAgent = headers['user-agent'];
  return {
    method,
    target: request.url ?? '/',
    user,
    ...(accept === undefined ? {} : { accept }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(userAgent === undefined ? {} : { userAgent }),
  };
}

/**
 * Who wants whole objects as JSON is said to have no wish: then the handler answers with the stored objects themselves, whose
 * texts are kept.
 */
function acceptForHandler(request: IncomingMessage): string | undefined {
  const { accept } = request.headers;
  if (accept === undefined || !isApiPath(pathOf(request))) return accept;
  const isWhole = /application\/json|\*\/\*/i.test(accept) && !/;\s*as\s*=/.test(accept);
  return isWhole ? undefined : accept;
}

function isMethod(method: string): method is ApiRequest['method'] {
  return METHODS.has(method);
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

function isApiPath(path: string): boolean {
  return path.startsWith('/api/') || path.startsWith('/apis/');
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)/i.exec(authorization ?? '')?.[1];
}

function unauthorized(): Status {
  return failure({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

function internalError(error: unknown): Status {
  const message = error instanceof Error ? error.message : String(error);
  return failure({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
  });
}
