/** Watches over real sockets: frames as lines, ends from either side, slow readers, and how a server stops. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { createInterface } from 'node:readline/promises';
import { createAuthority } from '../../../src/access/certificates.ts';
import type { Authority } from '../../../src/access/certificates.ts';
import type { ApiAnswer, WatchSink } from '../../../src/api/request/api-request.ts';
import { startHttpsServer } from '../../../src/server/https-server.ts';
import type { HttpsServer } from '../../../src/server/https-server.ts';
import { createTestHttpsClient } from '../../support/https-client.ts';
import type { TestHttpsClient } from '../../support/https-client.ts';
import { storablePod } from '../../support/stored-objects.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const WATCH = '/api/v1/pods?watch=1';
const POD = storablePod({ name: 'a' });

let authority: Authority;

before(async () => {
  authority = await createAuthority({ nowMs: Date.now() });
});

/** A server whose every answer is a watch that the test drives. */
class WatchServer {
  readonly sinks: WatchSink[] = [];
  cancelled = 0;
  readonly server: HttpsServer;
  readonly client: TestHttpsClient;
  readonly #waiting: (() => void)[] = [];

  private constructor(server: HttpsServer) {
    this.server = server;
    this.client = createTestHttpsClient({ server: server.server, caPem: authority.caPem });
  }

  static async start(
    options: {
      readonly onOpen?: (sink: WatchSink) => void;
      readonly watchBacklogBytesMax?: number;
    } = {},
  ): Promise<WatchServer> {
    const { onOpen, ...settings } = options;
    const holder: { test?: WatchServer } = {};
    const answer: ApiAnswer = {
      kind: 'watch',
      open: (sink) => {
        holder.test?.sinks.push(sink);
        onOpen?.(sink);
        return () => {
          holder.test?.noteCancel();
        };
      },
    };
    const server = await startHttpsServer({
      handler: { handle: () => answer },
      authenticate: () => ({ name: 'watcher', groups: [] }),
      certificate: authority.serving,
      port: 0,
      clock: new VirtualClock(),
      ...settings,
    });
    const started = new WatchServer(server);
    holder.test = started;
    return started;
  }

  noteCancel(): void {
    this.cancelled += 1;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  untilCancelled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.cancelled > 0) resolve();
      else this.#waiting.push(resolve);
    });
  }

  async watch(): Promise<IncomingMessage> {
    const { response } = await this.client.open({ path: WATCH });
    return response;
  }

  get sink(): WatchSink {
    const sink = this.sinks.at(-1);
    assert(sink !== undefined, 'a watch is open');
    return sink;
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.server.stop();
  }
}

/** Reads lines one at a time. */
function linesOf(response: IncomingMessage): AsyncIterator<string> {
  return createInterface({ input: response })[Symbol.asyncIterator]();
}

describe('a watch', () => {
  let watched: WatchServer;
  before(async () => {
    watched = await WatchServer.start();
  });
  after(() => watched.stop());

  test('opens before anything happens, and brings each frame as a line at once', async () => {
    const response = await watched.watch();
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers['content-type'], 'application/json');
    assert.equal(response.headers['transfer-encoding'], 'chunked');
    const lines = linesOf(response);
    watched.sink.frame({ type: 'ADDED', object: POD });
    const first: unknown = (await lines.next()).value;
    assert.deepEqual(JSON.parse(String(first)), { type: 'ADDED', object: POD });
    watched.sink.frame({ type: 'DELETED', object: POD });
    watched.sink.frame({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '7' } } });
    const rest = [(await lines.next()).value, (await lines.next()).value].map(
      (line) => (JSON.parse(String(line)) as { readonly type: string }).type,
    );
    assert.deepEqual(rest, ['DELETED', 'BOOKMARK']);
    watched.sink.end();
    assert.equal((await lines.next()).done, true);
    assert(response.complete, 'the end is an orderly one');
  });

  test('that the client leaves is cancelled', async () => {
    const cancelledBefore = watched.cancelled;
    const response = await watched.watch();
    const { sink } = watched;
    const cancelled = watched.untilCancelled();
    response.destroy();
    await cancelled;
    while (watched.cancelled === cancelledBefore) await new Promise(setImmediate);
    assert.equal(watched.cancelled, cancelledBefore + 1);
    sink.frame({ type: 'ADDED', object: POD });
    sink.end();
    assert.equal(watched.cancelled, cancelledBefore + 1, 'once');
  });
});

test('a watch may begin with frames, and end, while it is opened', async () => {
  const watched = await WatchServer.start({
    onOpen: (sink) => {
      sink.frame({ type: 'ADDED', object: POD });
      sink.frame({ type: 'ERROR', object: { code: 410 } });
      sink.end();
    },
  });
  const lines = linesOf(await watched.watch());
  assert.match(String((await lines.next()).value), /^{"type":"ADDED"/);
  assert.equal((await lines.next()).value, '{"type":"ERROR","object":{"code":410}}');
  assert.equal((await lines.next()).done, true);
  assert.equal(watched.cancelled, 1);
  await watched.stop();
});

test('a client that does not read is cut off once too much waits for it', async () => {
  const watched = await WatchServer.start({ watchBacklogBytesMax: 1024 * 1024 });
  const response = await watched.watch();
  response.pause();
  const object = { text: 'x'.repeat(256 * 1024) };
  let framesCount = 0;
  // The kernel takes a few MiB before anything waits.
  while (watched.cancelled === 0 && framesCount < 400) {
    watched.sink.frame({ type: 'MODIFIED', object });
    framesCount += 1;
    await new Promise(setImmediate);
  }
  assert.equal(watched.cancelled, 1, `after ${String(framesCount)} frames`);
  assert(framesCount > 4, 'a backlog within the bound is borne');
  response.resume();
  await assert.rejects(once(response, 'end'), /aborted/);
  await watched.stop();
});

describe('a server that stops', () => {
  test('ends its watches in good order and then takes no more connections', async () => {
    const watched = await WatchServer.start();
    const response = await watched.watch();
    const lines = linesOf(response);
    watched.sink.frame({ type: 'ADDED', object: POD });
    const stopped = watched.server.stop();
    assert.match(String((await lines.next()).value), /^{"type":"ADDED"/);
    assert.equal((await lines.next()).done, true);
    assert(response.complete);
    await stopped;
    assert.equal(watched.cancelled, 1);
    const late = createTestHttpsClient({ server: watched.server.server, caPem: authority.caPem });
    await assert.rejects(late.fetch({ path: WATCH }), /ECONNREFUSED/);
    late.close();
    await watched.stop();
  });

  test('waits no longer than a second for a client that does not read', async () => {
    const clock = new VirtualClock();
    const server = await startHttpsServer({
      handler: {
        handle: () => ({
          kind: 'text',
          status: 200,
          contentType: 'text/plain',
          text: 'x'.repeat(32 * 1024 * 1024),
        }),
      },
      authenticate: () => ({ name: 'reader', groups: [] }),
      certificate: authority.serving,
      port: 0,
      clock,
    });
    const client = createTestHttpsClient({ server: server.server, caPem: authority.caPem });
    const { response } = await client.open({ path: '/' });
    response.pause();
    const stopped = server.stop();
    await clock.advance(999);
    assert.equal(clock.pendingTimers, 1, 'it still waits');
    await clock.advance(1);
    await stopped;
    client.close();
  });

  test('has no port of another one', async () => {
    const watched = await WatchServer.start();
    const port = Number(new URL(watched.server.server).port);
    await assert.rejects(
      startHttpsServer({
        handler: { handle: () => ({ kind: 'object', status: 200, body: {} }) },
        authenticate: () => undefined,
        certificate: authority.serving,
        port,
        clock: new VirtualClock(),
      }),
      /EADDRINUSE/,
    );
    await watched.stop();
  });
});
