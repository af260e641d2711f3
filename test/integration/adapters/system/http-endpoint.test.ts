/**
 * The port of probes and metrics under somebody who means ill: whoever can reach it can neither change nor exhaust
 * anything (docs/security.md, threats).
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openHttpEndpoint, plain } from '../../../../src/adapters/system/http-endpoint.ts';
import type { HttpEndpoint } from '../../../../src/adapters/system/http-endpoint.ts';

const CONNECTIONS_MAX = 32;
const HEADER_BYTES_MAX = 8192;
const HOST = '127.0.0.1';
const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n';
/** Far beyond what each takes, far below the 30 s after which Node looks by itself. */
const WAIT_MS = 8000;

describe('an endpoint for probes', () => {
  let endpoint: HttpEndpoint | undefined;
  const sockets: Socket[] = [];
  let answered = 0;

  const open = async (requestMsMax?: number): Promise<void> => {
    endpoint = await openHttpEndpoint({
      host: HOST,
      port: 0,
      answers: {
        '/livez': () => {
          answered += 1;
          return plain(200, 'ok\n');
        },
      },
      ...(requestMsMax === undefined ? {} : { requestMsMax }),
    });
  };
  const dial = async (): Promise<Socket> => {
    const socket = connect(endpoint?.port ?? 0, HOST);
    // A connection that is dropped may be reset.
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  /** All that comes until the other side closes. */
  const hear = async (socket: Socket): Promise<string> => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    if (!socket.closed) await once(socket, 'close', { signal: AbortSignal.timeout(WAIT_MS) });
    return text;
  };

  beforeEach(() => (answered = 0));
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await endpoint?.close();
    endpoint = undefined;
  });

  it('keeps 32 connections, and drops the next one unheard', async () => {
    await open();
    for (let count = 0; count < CONNECTIONS_MAX; count += 1) await dial();
    const [last] = sockets.slice(-1);
    last?.write(`${GET}\r\n`);
    const [first] = (await once(last as Socket, 'data')) as [Buffer];
    assert.match(first.toString(), /^HTTP\/1\.1 200/);
    const more = await dial();
    more.write(`${GET}\r\n`);
    assert.equal(await hear(more), '');
    assert.equal(answered, 1);
  });

  it('waits for no request for long, neither its head nor its body', async () => {
    await open(100);
    for (const beginning of ['GET /liv', `${GET}Content-Length: 9\r\n\r\n`]) {
      const socket = await dial();
      socket.write(beginning);
      await hear(socket);
    }
  });

  it('reads no body: who sends one is answered and cut off at once', async () => {
    await open(60_000);
    const socket = await dial();
    socket.write('POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{');
    assert.match(await hear(socket), /^HTTP\/1\.1 405 /);
    assert.equal(answered, 0);
  });

  it('reads no head of more than 8 KiB', async () => {
    await open();
    const socket = await dial();
    socket.write(`${GET}X: ${'x'.repeat(HEADER_BYTES_MAX)}\r\n\r\n`);
    assert.match(await hear(socket), /^HTTP\/1\.1 431 /);
    assert.equal(answered, 0);
  });
});
