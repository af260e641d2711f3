/** A small HTTPS client for tests of local servers: one agent with keep-alive, answers as text or as lines. */
import { Agent, request as httpsRequest } from 'node:https';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { text as readText } from 'node:stream/consumers';

/** What to ask. */
export interface TestRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** An answer that was read to its end. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The connection that it came over. */
  readonly socket: TLSSocket;
}

/** A client of one server. */
export interface TestHttpsClient {
  /** Asks and reads the whole answer. */
  readonly fetch: (request: TestRequest) => Promise<TestAnswer>;
  /** Asks and leaves the answer's body to the caller. */
  readonly open: (
    request: TestRequest,
  ) => Promise<{ readonly request: ClientRequest; readonly response: IncomingMessage }>;
  readonly close: () => void;
}

/** Makes a client that trusts this authority only. */
export function createTestHttpsClient(options: {
  readonly server: string;
  readonly caPem: string;
}): TestHttpsClient {
  const agent = new Agent({ keepAlive: true, ca: options.caPem });
  const open: TestHttpsClient['open'] = ({ path, method = 'GET', headers = {}, body }) =>
    new Promise((resolve, reject) => {
      // Node gives the body of a DELETE no length by itself.
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const request = httpsRequest(new URL(path, options.server), {
        agent,
        method,
        headers: { ...length, ...headers },
      });
      request.once('error', reject);
      request.once('response', (response) => {
        resolve({ request, response });
      });
      request.end(body);
    });
  return {
    open,
    fetch: async (wanted) => {
      const { response } = await open(wanted);
      const socket = response.socket as TLSSocket; // an https agent has no others
      const text = await readText(response);
      return { status: response.statusCode ?? 0, headers: response.headers, text, socket };
    },
    close: () => {
      agent.destroy();
    },
  };
}
