/** The transport on real sockets: what is unsent, what is ambiguous, what is reused. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { staticBearer } from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type {
  Transport,
  TransportAnswer,
  TransportOptions,
} from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { REQUEST_TIMEOUT_MS } from '../../../../../src/core/pod/request-life.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../../../support/scripted-api-server.ts';
import { makeTestCertificate } from '../../../../support/test-certificate.ts';

/** Of the timers only those fire that a test is about. */
const clock = createHeldTimers();
const GET = { method: 'GET', path: '/api' } as const;
const POST = { method: 'POST', path: '/api', body: '{}' } as const;

const LEVEL = '0a1b2c3d-0000-1111-2222-333344445555';

describe('transport', () => {
  let server: ScriptedApiServer;
  const opened: Transport[] = [];

  before(async () => {
    server = await startScriptedApiServer();
  });
  afterEach(() => {
    for (const transport of opened.splice(0)) transport.retire();
    server.answerWith((_request, response) => {
      answerJson(response, { status: 200, body: { ok: true } });
    });
    server.requests.length = 0;
  });
  after(() => server.close());

  function open(options: Partial<TransportOptions> = {}): Transport {
    const transport = new HttpsTransport({
      endpoint: { host: '127.0.0.1', port: server.port, pathPrefix: '' },
      caPem: server.caPem,
      credential: staticBearer('token-of-a-test'),
      clock,
      ...options,
    });
    opened.push(transport);
    return transport;
  }

  function assertKind(answer: TransportAnswer, kind: TransportAnswer['kind'], code?: string): void {
    assert.equal(answer.kind, kind, JSON.stringify(answer));
    if (code !== undefined && answer.kind !== 'answered') assert.equal(answer.message, code);
  }

  it('sends JSON with the bearer token below the path prefix, and parses the answer', async () => {
    const endpoint = { host: '127.0.0.1', port: server.port, pathPrefix: '/k8s/one' };
    server.answerWith((_request, response) => {
      answerJson(response, { status: 201, body: { kind: 'Pod' } });
    });
    const answer = await open({ endpoint }).send({ ...POST, body: '{"näme":1}' });
    assert.deepEqual(answer, { kind: 'answered', status: 201, body: { kind: 'Pod' } });
    const [seen] = server.requests;
    assert.equal(seen?.path, '/k8s/one/api');
    assert.equal(seen.headers.authorization, 'Bearer token-of-a-test');
    assert.equal(seen.headers['content-type'], 'application/json');
    assert.equal(seen.body, '{"näme":1}');
  });

  it('tells when an answer was sent, by its Date', async () => {
    for (const [date, atMs] of [
      ['Thu, 01 Jan 1970 00:00:05 GMT', 5_000],
      ['soon', undefined],
    ] as const) {
      server.answerWith((_request, response) => {
        answerJson(response, { status: 200, body: {}, headers: { date } });
      });
      const answer = await open().send(GET);
      assert.equal(answer.kind === 'answered' ? answer.atMs : 'none', atMs);
    }
  });

  it('reuses one connection for requests one after another (aws-facts 3.4)', async () => {
    const transport = open();
    const before = server.connectionCount();
    for (let index = 0; index < 20; index += 1) await transport.send(GET);
    assert.equal(server.connectionCount() - before, 1);
  });

  it('opens no more connections than allowed for requests at the same time', async () => {
    const transport = open({ socketsMax: 4 });
    const before = server.connectionCount();
    const answers = await Promise.all(Array.from({ length: 40 }, () => transport.send(GET)));
    assert.ok(answers.every((answer) => answer.kind === 'answered'));
    assert.equal(server.connectionCount() - before, 4);
  });

  it('shares no connection between two credentials (faults 31)', async () => {
    const before = server.connectionCount();
    await open().send(GET);
    await open({ credential: staticBearer('another-token') }).send(GET);
    assert.equal(server.connectionCount() - before, 2);
  });

  it('authenticates with a client certificate', async () => {
    const client = makeTestCertificate('rollcall-functions');
    const strict = await startScriptedApiServer({ clientCaPem: client.certificatePem });
    const transport = open({
      endpoint: { host: '127.0.0.1', port: strict.port, pathPrefix: '' },
      caPem: strict.caPem,
      credential: { kind: 'client-certificate', ...client },
    });
    assertKind(await transport.send(GET), 'answered');
    assert.equal(strict.requests[0]?.clientName, 'rollcall-functions');
    assert.equal(strict.requests[0]?.headers.authorization, undefined);
    transport.retire();
    await strict.close();
  });

  it('sends nothing to a server whose certificate it cannot verify: unsent', async () => {
    const stranger = makeTestCertificate('stranger').certificatePem;
    const message =
      'DEPTH_ZERO_SELF_SIGNED_CERT: its certificate is of no certificate authority that is trusted for it';
    assertKind(await open({ caPem: stranger }).send(POST), 'unsent', message);
    assert.equal(server.requests.length, 0);
  });

  it('skips that only when told so', async () => {
    const stranger = makeTestCertificate('stranger').certificatePem;
    const transport = open({ caPem: stranger, tlsVerification: 'skipped' });
    assertKind(await transport.send(GET), 'answered');
  });

  it('calls a refused connection unsent', async () => {
    const unused = createServer();
    await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve));
    const { port } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    const transport = open({ endpoint: { host: '127.0.0.1', port, pathPrefix: '' } });
    assertKind(await transport.send(POST), 'unsent', 'ECONNREFUSED');
  });

  it('calls a name that cannot be resolved unsent', async () => {
    const endpoint = { host: 'nowhere.invalid', port: 443, pathPrefix: '' };
    const transport = open({
      endpoint,
      lookup: (_host, _options, callback) => {
        callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '', 4);
      },
    });
    assertKind(await transport.send(POST), 'unsent', 'ENOTFOUND');
  });

  it('calls a reset before the TLS session stood unsent', async () => {
    const rude = createServer((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve));
    const { port } = rude.address() as AddressInfo;
    const transport = open({ endpoint: { host: '127.0.0.1', port, pathPrefix: '' } });
    assertKind(await transport.send(POST), 'unsent');
    await new Promise((resolve) => rude.close(resolve));
  });

  it('calls a reset after the request was written ambiguous (faults 10)', async () => {
    server.answerWith((_request, response) => {
      response.socket?.destroy();
    });
    assertKind(await open().send(POST), 'ambiguous', 'ECONNRESET');
    assert.equal(server.requests.length, 1, 'a write is never repeated here');
  });

  it('calls an answer that breaks off ambiguous', async () => {
    server.answerWith((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"kind":');
      setImmediate(() => response.socket?.destroy());
    });
    assertKind(await open().send(POST), 'ambiguous', 'ECONNRESET');
  });

  it('calls silence ambiguous once the time-out has passed', async () => {
    const arrived = Promise.withResolvers<undefined>();
    server.answerWith(() => {
      arrived.resolve(undefined);
    });
    const answer = open({ requestTimeoutMs: 50 }).send(POST);
    await arrived.promise;
    await clock.expire(50);
    assertKind(await answer, 'ambiguous', 'ETIMEDOUT');
  });

  it('gives up after the time that safety counts on, if nothing else is asked for (protocol 5)', async () => {
    const arrived = Promise.withResolvers<() => void>();
    server.answerWith((_request, response) => {
      arrived.resolve(() => response.destroy());
    });
    const others = clock.heldCount(REQUEST_TIMEOUT_MS);
    const sent = open().send(POST);
    const hangUp = await arrived.promise;
    try {
      assert.equal(clock.heldCount(REQUEST_TIMEOUT_MS), others + 1, 'its time-out is another one');
      await clock.expire(REQUEST_TIMEOUT_MS);
      assertKind(await sent, 'ambiguous', 'ETIMEDOUT');
    } finally {
      hangUp();
    }
  });

  it('calls a time-out while waiting for a connection unsent', async () => {
    const held = Promise.withResolvers<() => void>();
    server.answerWith((_request, response) => {
      held.resolve(() => {
        answerJson(response, { status: 200, body: {} });
      });
    });
    const transport = open({ socketsMax: 1 });
    const first = transport.send(POST);
    // The only connection stays taken until this one has given up.
    const second = transport.send({ ...POST, timeoutMs: 50 });
    await clock.expire(50);
    assertKind(await second, 'unsent');
    (await held.promise)();
    assertKind(await first, 'answered');
  });

  it('gives a connection up sooner than a request: what accepts and never speaks costs little (L3)', async () => {
    const accepted: Socket[] = [];
    const silent = createServer((socket) => accepted.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const endpoint = { host: '127.0.0.1', port, pathPrefix: '' };
    const answer = open({ endpoint, connectTimeoutMs: 50 }).send(POST);
    await clock.expire(50);
    assertKind(await answer, 'unsent', 'ETIMEDOUT');
    for (const socket of accepted) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('counts no time of a connection that stands, and none of waiting for one', async () => {
    const counted: number[] = [];
    server.answerWith((_request, response) => {
      counted.push(clock.heldCount(150));
      answerJson(response, { status: 200, body: {} });
    });
    // One connection for three requests: the last one waits for two answers before it has one.
    const transport = open({ connectTimeoutMs: 150, socketsMax: 1 });
    const answers = await Promise.all([GET, GET, GET].map((request) => transport.send(request)));
    for (const answer of answers) assertKind(answer, 'answered');
    assert.deepEqual(counted, [0, 0, 0]);
  });

  it('gives up sooner where a request says so, never later', async () => {
    const transport = open({ requestTimeoutMs: 500 });
    for (const [timeoutMs, effectiveMs] of [
      [20, 20],
      [60_000, 500],
    ] as const) {
      const arrived = Promise.withResolvers<undefined>();
      server.answerWith(() => {
        arrived.resolve(undefined);
      });
      const answer = transport.send({ ...GET, timeoutMs });
      await arrived.promise;
      await clock.expire(effectiveMs);
      assertKind(await answer, 'ambiguous', 'ETIMEDOUT');
    }
  });

  it('repeats a GET, but no write, on a connection that the server had closed', async () => {
    const transport = open({ socketsMax: 1 });
    await transport.send(GET);
    let isFirst = true;
    server.answerWith((_request, response) => {
      // To the client this looks like a connection that died while it was idle.
      if (isFirst) response.socket?.destroy();
      else answerJson(response, { status: 200, body: {} });
      isFirst = false;
    });
    assertKind(await transport.send(GET), 'answered');
    isFirst = true;
    assertKind(await transport.send(POST), 'ambiguous');
  });

  it('does not use a connection again that stood idle for long', async () => {
    let nowMs = 0;
    const transport = open({ clock: { ...clock, monotonicMs: () => nowMs } });
    const before = server.connectionCount();
    await transport.send(GET);
    nowMs = 29_000;
    await transport.send(GET);
    assert.equal(server.connectionCount() - before, 1);
    nowMs = 60_000;
    await transport.send(GET);
    assert.equal(server.connectionCount() - before, 2);
  });

  it('follows no redirect (S12)', async () => {
    server.answerWith((_request, response) => {
      response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    });
    const answer = await open().send(GET);
    assert.deepEqual(answer, { kind: 'answered', status: 307, body: undefined });
    assert.equal(server.requests.length, 1);
  });

  it('refuses a body beyond its bound, plain or compressed', async () => {
    const huge = JSON.stringify({ text: 'x'.repeat(5000) });
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(huge);
    });
    assertKind(await open({ responseBytesMax: 1000 }).send(GET), 'ambiguous', 'RESPONSE_TOO_LARGE');
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(huge));
    });
    assertKind(await open({ responseBytesMax: 1000 }).send(GET), 'ambiguous');
  });

  it('asks for gzip and reads it', async () => {
    server.answerWith((request, response) => {
      assert.equal(request.headers['accept-encoding'], 'gzip');
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ items: [1, 2] })));
    });
    const answer = await open().send(GET);
    assert.deepEqual(answer, { kind: 'answered', status: 200, body: { items: [1, 2] } });
  });

  it('passes on Retry-After and the priority level', async () => {
    server.answerWith((_request, response) => {
      const headers = { 'retry-after': '7', 'x-kubernetes-pf-prioritylevel-uid': LEVEL };
      answerJson(response, { status: 429, body: {}, headers });
    });
    const answer = await open().send(POST);
    assert.equal(answer.kind, 'answered');
    assert.equal(answer.kind === 'answered' && answer.retryAfterMs, 7000);
    assert.equal(answer.kind === 'answered' && answer.priorityLevel, LEVEL);
  });

  it('takes from the Status for how long it is asked to wait, where no header says so, and bounds it', async () => {
    server.answerWith((_request, response) => {
      const body = statusBody(429, 'TooManyRequests', { retryAfterSeconds: 86_400 });
      answerJson(response, { status: 429, body });
    });
    const answer = await open().send(POST);
    assert.equal(answer.kind === 'answered' && answer.retryAfterMs, 60_000);
  });

  it('cuts its own token out of an error that echoes it (S11)', async () => {
    server.answerWith((request, response) => {
      answerJson(response, {
        status: 403,
        body: { kind: 'Status', message: request.headers.authorization },
      });
    });
    const answer = await open().send(GET);
    assert.ok(!JSON.stringify(answer).includes('token-of-a-test'));
  });

  it('calls a request unsent when no token can be had, or the token is none', async () => {
    const failing = (): Promise<string> => Promise.reject(new Error('secret-detail'));
    const noToken = await open({ credential: { kind: 'bearer', token: failing } }).send(POST);
    assert.deepEqual(noToken, { kind: 'unsent', message: 'no token: Error' });
    const broken = await open({ credential: staticBearer('a\nb') }).send(POST);
    assertKind(broken, 'unsent', 'ERR_INVALID_CHAR');
  });
});
