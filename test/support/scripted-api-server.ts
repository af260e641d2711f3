/**
 * A TLS server on 127.0.0.1 that answers as a test scripts it, and remembers what it was asked.
 *
 * It knows nothing of Kubernetes: what a real API server does is shown by the conformance suite. It
 * serves to produce what a real one rarely does: resets, silence, redirects, huge bodies.
 */
import { createServer } from 'node:https';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeTestCertificate, type TestCertificate } from './test-certificate.ts';

/** A request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Subject of the client's certificate, if it showed one. */
  readonly clientName?: string;
}

/** Answers one request. */
export type Script = (request: SeenRequest, response: ServerResponse) => void;

/** A running server. */
export interface ScriptedApiServer {
  readonly url: string;
  readonly port: number;
  readonly caPem: string;
  readonly requests: SeenRequest[];
  /** TLS connections made so far. */
  connectionCount(): number;
  /** Replaces the script. */
  answerWith(script: Script): void;
  /** Shows another certificate from the next connection on. */
  present(certificate: TestCertificate): void;
  /** Closes every connection that is idle now. */
  dropIdleConnections(): void;
  close(): Promise<void>;
}

/** An answer: status first. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers with JSON. */
export function answerJson(response: ServerResponse, answer: ScriptedAnswer): void {
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  response.end(JSON.stringify(answer.body));
}

/** A metav1.Status as an API server sends one. */
export function statusBody(
  code: number,
  reason: string,
  details: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: `${reason} happened`,
    reason,
    details,
    code,
  };
}

/** Options of a server. */
export interface ScriptedApiServerOptions {
  readonly certificate?: TestCertificate;
  /** Asks clients for a certificate signed by this authority. */
  readonly clientCaPem?: string;
}

/** Starts a server; its first script answers `{}`. */
export async function startScriptedApiServer(
  options: ScriptedApiServerOptions = {},
): Promise<ScriptedApiServer> {
  const certificate = options.certificate ?? makeTestCertificate();
  const requests: SeenRequest[] = [];
  let connections = 0;
  let script: Script = (_request, response) => {
    answerJson(response, { status: 200, body: {} });
  };
  const { clientCaPem } = options;
  const server = createServer({
    cert: certificate.certificatePem,
    key: certificate.keyPem,
    keepAliveTimeout: 60_000,
    ...(clientCaPem === undefined ? {} : { requestCert: true, ca: clientCaPem }),
  });
  server.on('secureConnection', () => (connections += 1));
  server.on('request', (request, response) => {
    response.sendDate = false; // what has a Date says so in its script
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const socket = request.socket as { getPeerCertificate?: () => { subject?: { CN?: string } } };
      const clientName = socket.getPeerCertificate?.().subject?.CN;
      const seen: SeenRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        ...(clientName === undefined ? {} : { clientName }),
      };
      requests.push(seen);
      script(seen, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    caPem: certificate.certificatePem,
    requests,
    connectionCount: () => connections,
    answerWith: (next) => {
      script = next;
    },
    present: (next) => {
      server.setSecureContext({ cert: next.certificatePem, key: next.keyPem });
    },
    dropIdleConnections: () => {
      server.closeIdleConnections();
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
