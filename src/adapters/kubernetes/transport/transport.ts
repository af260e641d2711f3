/**
 * JSON over HTTPS to one API server: pooled connections, time-outs per request and per connection, no redirects.
 *
 * A failed request is `unsent` only when its bytes certainly never left: no connection, name, TLS session or
 * token; from a ready connection on, every failure is `ambiguous`. A GET on a connection that the server had
 * closed meanwhile is repeated once. Messages name codes, never headers, bodies or addresses (S11); an echo of our
 * token is cut out. Bodies are parsed once and stay raw (ADR 0006).
 */
import { request as httpsRequest } from 'node:https';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { AnswerTiming } from '../../../core/model/projections.ts';
import { REQUEST_TIMEOUT_MS } from '../../../core/pod/request-life.ts';
import { retryAfterOf } from './api-status.ts';
import { parseBody, readBody } from './response-body.ts';
import { describeFailure } from './tls-fault.ts';
import { AnswerLog } from './answer-log.ts';
import { TrustedPool, type ConnectionOptions } from './pooled-agent.ts';
import { defined } from '@rollcall/base/defined.ts';

export interface TransportOptions extends ConnectionOptions {
  /** From start to the last byte of the answer. Default: the one that safety counts on. */
  readonly requestTimeoutMs?: number;
  /** Of a request that needs a new connection, until its TLS session stands. Default 3,000. */
  readonly connectTimeoutMs?: number;
  /** Default 64. */
  readonly socketsMax?: number;
  /** Of one answer, after decompression. Default 32 MiB. */
  readonly responseBytesMax?: number;
  /** Makes the connections in place of our own pool: through a proxy, or to a server of another name. */
  readonly agent?: Agent;
}

/** One request. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, below the endpoint's prefix. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
  /** Where the request is given up sooner than any other; never later than those. */
  readonly timeoutMs?: number;
}

/** The outcome of one request. */
export type TransportAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Undefined when the answer was no JSON. */
      readonly body: Json | undefined;
      /** For how long the server asks to be left alone: by Retry-After, or by its Status. */
      readonly retryAfterMs?: number;
      /** When it was sent by the other side's clock, if its Date header says so. */
      readonly atMs?: number;
      /** UID of the API priority level that judged the request, if the server said. */
      readonly priorityLevel?: string;
    }
  | { readonly kind: 'unsent'; readonly message: string }
  | { readonly kind: 'ambiguous'; readonly message: string };

/** A connection to one API server. */
export interface Transport {
  /** How long the last requests took, the newest last (answer-log.ts). */
  readonly answerTimes: readonly AnswerTiming[];
  /** Sends one request. Never rejects. */
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Lets running requests finish and closes every connection. */
  retire(): void;
}

type Attempt = TransportAnswer & { readonly isStaleConnection?: boolean };
type Headers = Record<string, string | number>;

/** A UID as API servers make them; a header is the other side's text. */
const UID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An API server that does not take a connection costs this, not a whole request (L3). */
export const CONNECT_TIMEOUT_MS = 3_000;
const DEFAULT_SOCKETS_MAX = 64;
/** All headers of one answer; an API server sends less than one. */
const HEADER_BYTES_MAX = 16 * 1024;
const DEFAULT_RESPONSE_BYTES_MAX = 32 * 1024 * 1024;

/** A transport to one API server under one credential. */
export class HttpsTransport implements Transport {
  readonly #options: TransportOptions;
  readonly #pool: TrustedPool;
  readonly #timeoutMs: number;
  readonly #connectTimeoutMs: number;
  readonly #bytesMax: number;
  readonly #log: AnswerLog;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#log = new AnswerLog(options.clock);
    this.#timeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    this.#bytesMax = options.responseBytesMax ?? DEFAULT_RESPONSE_BYTES_MAX;
    this.#pool = new TrustedPool(options, options.socketsMax ?? DEFAULT_SOCKETS_MAX);
  }

  get answerTimes(): readonly AnswerTiming[] {
    return this.#log.timings;
  }

  async send(request: TransportRequest): Promise<TransportAnswer> {
    const { credential } = this.#options;
    let token: string | undefined;
    try {
      token = credential.kind === 'bearer' ? await credential.token() : undefined;
    } catch (error) {
      return { kind: 'unsent', message: `no token: ${describeFailure(error)}` };
    }
    this.#pool.agent().dropStale();
    const first = await this.#attempt(request, token);
    const isRepeatable = request.method === 'GET' && first.isStaleConnection === true;
    return isRepeatable ? this.#attempt(request, token) : first;
  }

  retire(): void {
    this.#pool.retire();
  }

  #headersFor(request: TransportRequest, token: string | undefined): Headers {
    const headers: Headers = {
      accept: request.accept ?? 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'rollcall',
    };
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (request.body !== undefined) {
      headers['content-type'] = request.contentType ?? 'application/json';
      headers['content-length'] = Buffer.byteLength(request.body);
    }
    return headers;
  }

  #attempt(request: TransportRequest, token: string | undefined): Promise<Attempt> {
    const { endpoint, clock } = this.#options;
    return new Promise((resolve) => {
      let isReady = false;
      let hasTimedOut = false;
      let outgoing: ClientRequest;
      const underway = this.#log.begin(request);
      const giveUp = (): void => {
        hasTimedOut = true;
        const timedOut = Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' });
        outgoing.destroy(timedOut);
        // Node tells a request that still waits for a connection only when one is free.
        if (!isReady) fail(timedOut);
      };
      let cancelConnectTimeout: Cancel = () => undefined;
      const finish = (answer: Attempt): void => {
        cancelTimeout();
        cancelConnectTimeout();
        const isReused = isReady && outgoing.reusedSocket;
        this.#log.end(underway, { answer: hasTimedOut ? 'timed-out' : answer, isReused });
        resolve(answer);
      };
      const fail = (error: unknown): void => {
        const message = describeFailure(error);
        if (!isReady) finish({ kind: 'unsent', message });
        else finish({ kind: 'ambiguous', message, isStaleConnection: outgoing.reusedSocket });
      };
      const timeoutMs = Math.min(request.timeoutMs ?? Infinity, this.#timeoutMs);
      const cancelTimeout = clock.after(timeoutMs, giveUp);
      try {
        outgoing = httpsRequest({
          host: endpoint.host,
          port: endpoint.port,
          method: request.method,
          path: endpoint.pathPrefix + request.path,
          headers: this.#headersFor(request, token),
          agent: this.#options.agent ?? this.#pool.agent(),
          maxHeaderSize: HEADER_BYTES_MAX,
        });
      } catch (error) {
        // Headers or a path that Node refuses to write, e.g. a token with a line break.
        finish({ kind: 'unsent', message: describeFailure(error) });
        return;
      }
      outgoing.on('socket', (socket) => {
        // Nothing is encrypted, hence nothing sent, before the TLS session stands.
        if (!(socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting) {
          isReady = true;
          this.#log.noteSent(underway);
          return;
        }
        // Counted from here: waiting for a free connection of the pool is no sign of a server in trouble.
        cancelConnectTimeout = clock.after(this.#connectTimeoutMs, giveUp);
        socket.once('secureConnect', () => {
          cancelConnectTimeout();
          isReady = true;
        });
      });
      outgoing.on('error', fail);
      outgoing.on('response', (response) => {
        this.#read(response, token).then(finish, (error: unknown) => {
          outgoing.destroy();
          fail(error);
        });
      });
      outgoing.end(request.body);
    });
  }

  async #read(response: IncomingMessage, token: string | undefined): Promise<TransportAnswer> {
    const status = response.statusCode ?? 0;
    const text = await readBody(response, this.#bytesMax);
    const isJson = response.headers['content-type']?.includes('json') === true;
    const isOk = status >= 200 && status < 300;
    const body = isJson ? parseBody(text, isOk ? undefined : token) : undefined;
    const atMs = Date.parse(response.headers.date ?? '');
    const level = response.headers['x-kubernetes-pf-prioritylevel-uid'];
    return {
      kind: 'answered',
      status,
      body,
      ...defined({
        atMs: Number.isNaN(atMs) ? undefined : atMs,
        retryAfterMs: retryAfterOf(
          response.headers['retry-after'],
          body,
          this.#options.clock.nowMs(),
        ),
        priorityLevel: typeof level === 'string' && UID_PATTERN.test(level) ? level : undefined,
      }),
    };
  }
}
