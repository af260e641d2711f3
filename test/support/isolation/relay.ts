/**
 * A relay in front of an API server that fails towards the functions, and towards nobody else.
 *
 * It ends TLS, so that it can tell requests of the functions from those of the watcher (by user agent).
 * `hangs`: takes the request and never answers. `garbage`: answers at once, with nothing that means anything.
 */
import { createServer, request as httpsRequest } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { makeTestCertificate } from '../test-certificate.ts';

/** How the functions are served. */
export type RelayMode = 'serves' | 'hangs' | 'garbage';

export interface Relay {
  readonly server: string;
  readonly caPem: string;
  mode: RelayMode;
  /** Requests of the functions so far. */
  readonly asked: () => number;
  /** Those of them that were hung or met garbage: what comes after the noise is work again. */
  readonly failed: () => number;
  readonly close: () => Promise<void>;
}

const FUNCTIONS_AGENT = 'rollcall';

/** Starts a relay to an API server. */
export async function startRelay(target: {
  readonly server: string;
  readonly caPem: string;
}): Promise<Relay> {
  const certificate = makeTestCertificate();
  const { hostname, port } = new URL(target.server);
  const sockets = new Set<Socket>();
  let asked = 0;
  let failed = 0;
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, url, headers } = incoming;
    const upstream = httpsRequest(
      { hostname, port, path: url, method, headers, ca: target.caPem },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    upstream.on('error', () => outgoing.destroy());
    outgoing.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  };
  const server = createServer(
    { cert: certificate.certificatePem, key: certificate.keyPem },
    (incoming, outgoing) => {
      const isFunction = incoming.headers['user-agent'] === FUNCTIONS_AGENT;
      const isServed = !isFunction || relay.mode === 'serves';
      if (isFunction) asked += 1;
      if (!isServed) failed += 1;
      if (isServed) forward(incoming, outgoing);
      else if (relay.mode === 'garbage') {
        outgoing.writeHead(asked % 2 === 0 ? 200 : 502, { 'content-type': 'text/html' });
        outgoing.end('<html>it works!</html>');
      }
    },
  );
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const relay: Relay = {
    server: `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    caPem: certificate.certificatePem,
    mode: 'serves',
    asked: () => asked,
    failed: () => failed,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return relay;
}
