/** A server of another origin on 127.0.0.1: hands out documents by path, with headers where a test sets them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A document, and the headers that go with it. */
export interface ForeignDocument {
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A running server. */
export interface ForeignServer {
  readonly port: number;
  readonly origin: string;
  readonly close: () => Promise<void>;
}

/** Serves them on a free port; any other path is not found. */
export async function serveDocuments(
  documents: Readonly<Record<string, ForeignDocument>>,
): Promise<ForeignServer> {
  const server = createServer((request, response) => {
    const found = documents[request.url ?? ''];
    const headers = { 'content-type': 'text/html; charset=utf-8', ...found?.headers };
    response.writeHead(found === undefined ? 404 : 200, headers).end(found?.html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, origin: `http://127.0.0.1:${String(port)}`, close };
}
