/**
 * Long-lived streaming requests to one API server, over connections of their own.
 *
 * Streams stay open for minutes and would starve a pool meant for short requests. Each request asks for
 * its credential anew, so a token that was rotated is used at the next reconnect. Aborting the signal
 * closes the connection at once. Whether silence means death is the caller's judgement; here only the
 * time until the server starts to answer is bounded. Messages name codes, never headers (S11).
 */
import { request as httpsRequest } from 'node:https';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ConnectionOptions, PooledAgent } from '../transport/pooled-agent.ts';
import { defined } from '@rollcall/base/defined.ts';
import { concealToken, parseBody, readBody } from '../transport/response-body.ts';
import { retryAfterOf } from '../transport/api-status.ts';
import { describeFailure } from '../transport/tls-fault.ts';
import { TrustedPool } from '../transport/pooled-agent.ts';
import type { RefusedRequest } from './watch-frames.ts';

export interface WatchConnectionOptions extends Omit<ConnectionOptions, 'lookup'> {
  /** From the request to the first byte of its answer. Default 30,000. */
  readonly answerTimeoutMs?: number;
}

export type OpenedStream =
  | {
      readonly kind: 'open';
      readonly chunks: AsyncIterable<Buffer>;
      /** Takes the token of this stream out of what the server says in it. */
      readonly conceal: (text: string) => string;
    }
  | ({ readonly kind: 'refused' } & RefusedRequest)
  | { readonly kind: 'failed'; readonly message: string };

export interface StreamRequest {
  readonly path: string;
  readonly signal: AbortSignal;
}

export interface WatchConnection {
  /** Opens a stream. Never rejects; its chunks may. */
  open(request: StreamRequest): Promise<OpenedStream>;
  close(): void;
}

const ANSWER_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;
const ERROR_BYTES_MAX = 1024 * 1024;
/** Four kinds, and their successors while the old ones close. */
const SOCKETS_MAX = 16;

/** Creates a connection; nothing is opened yet. */
export function createWatchConnection(options: WatchConnectionOptions): WatchConnection {
  const { credential, clock } = options;
  const pool = new TrustedPool(options, SOCKETS_MAX);
  return {
    open: async (request) => {
      try {
        const token = credential.kind === 'bearer' ? await credential.token() : undefined;
        const agent = pool.agent();
        agent.dropStale();
        const outgoing = sendRequest({ ...request, options, agent, token });
        const response = await answerTo(outgoing, options);
        if (response.statusCode !== 200) return await readRefusal(response, { clock, token });
        const conceal = (text: string): string => concealToken(text, token);
        return { kind: 'open', chunks: response, conceal };
      } catch (cause) {
        return { kind: 'failed', message: describeFailure(cause) };
      }
    },
    close: () => {
      pool.retire();
    },
  };
}

function sendRequest(
  request: StreamRequest & {
    readonly options: WatchConnectionOptions;
    readonly agent: PooledAgent;
    readonly token: string | undefined;
  },
): ClientRequest {
  const { options, agent, path, token, signal } = request;
  const { host, port, pathPrefix } = options.endpoint;
  const headers = {
    accept: 'application/json',
    'user-agent': 'rollcall-watcher',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const method = 'GET';
  return httpsRequest({ host, port, method, path: pathPrefix + path, headers, agent, signal });
}

function answerTo(
  outgoing: ClientRequest,
  options: WatchConnectionOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const timeoutMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    const cancel = options.clock.after(timeoutMs, () => {
      outgoing.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }));
    });
    outgoing.on('socket', (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      socket.setNoDelay(true);
    });
    outgoing.on('response', (response) => {
      cancel();
      resolve(response);
    });
    // Stays attached: an error after the answer began reaches the reader through the response.
    outgoing.on('error', (error) => {
      cancel();
      reject(error);
    });
    outgoing.end();
  });
}

async function readRefusal(
  response: IncomingMessage,
  { clock, token }: { readonly clock: Clock; readonly token: string | undefined },
): Promise<OpenedStream> {
  const body = parseBody(await readBody(response, ERROR_BYTES_MAX), token);
  return {
    kind: 'refused',
    status: response.statusCode ?? 0,
    body,
    ...defined({
      retryAfterMs: retryAfterOf(response.headers['retry-after'], body, clock.nowMs()),
    }),
  };
}
