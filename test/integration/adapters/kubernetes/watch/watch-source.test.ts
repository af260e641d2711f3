/** The WatchSource port over TLS: queries, credentials, streams, the Lease (design 2; aws-facts 8). */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { ApiWatchSource } from '../../../../../src/adapters/kubernetes/watch/watch-source.ts';
import { parseEndpoint } from '../../../../../src/adapters/kubernetes/egress/endpoint.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { resourceVersion } from '../../../../../src/core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { WatchFrame, WatchOptions } from '../../../../../src/ports/cluster/watch-source.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../../../support/scripted-api-server.ts';

let server: ScriptedApiServer;
let source: ApiWatchSource;
let tokens: string[];

before(async () => {
  server = await startScriptedApiServer();
  source = openSource(createSystemClock());
});

after(async () => {
  source.close();
  await server.close();
});

beforeEach(() => {
  tokens = [];
  server.requests.length = 0;
});

function openSource(clock: Clock): ApiWatchSource {
  const parsed = parseEndpoint(server.url);
  assert.ok(parsed.kind === 'endpoint');
  return new ApiWatchSource({
    endpoint: parsed.endpoint,
    caPem: server.caPem,
    credential: { kind: 'bearer', token: () => Promise.resolve(tokens.shift() ?? 'last') },
    clock,
    requestTimeoutMs: 2000,
    answerTimeoutMs: 2000,
  });
}

function options(fields: Partial<WatchOptions> = {}): WatchOptions {
  return {
    timeoutSeconds: 300,
    sendInitialEvents: false,
    resourceVersion: resourceVersion('41'),
    signal: new AbortController().signal,
    onBytes: () => undefined,
    ...fields,
  };
}

async function read(frames: AsyncIterable<WatchFrame>): Promise<WatchFrame[]> {
  const seen: WatchFrame[] = [];
  for await (const frame of frames) seen.push(frame);
  return seen;
}

/** For pages whose items do not matter. */
function ignore(): void {
  // Nothing is looked at.
}

function event(type: string, version: string): string {
  const metadata = { name: 'n', uid: 'u', resourceVersion: version };
  return `${JSON.stringify({ type, object: { metadata } })}\n`;
}

function lines(response: ServerResponse, ...texts: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  for (const text of texts) response.write(text);
}

test('lists page by page, and never with a resourceVersion', async () => {
  server.answerWith((_request, response) => {
    const metadata = { resourceVersion: '50', continue: 'next' };
    answerJson(response, { status: 200, body: { metadata, items: [{ metadata: { name: 'a' } }] } });
  });
  const { signal } = new AbortController();
  const items: KubernetesObject[] = [];
  const onItem = (item: KubernetesObject): void => void items.push(item);
  const answer = await source.listPage('Pod', {
    limit: 500,
    continueToken: 'a+b',
    signal,
    onItem,
  });
  assert.ok(answer.kind === 'ok');
  assert.deepEqual(answer.value, { resourceVersion: '50', continueToken: 'next' });
  assert.deepEqual(items, [{ metadata: { name: 'a' } }]);
  assert.equal(server.requests[0]?.path, '/api/v1/pods?limit=500&continue=a%2Bb');
});

test('a page that is no list is a failure, not an empty list (row 35)', async () => {
  const { signal } = new AbortController();
  for (const body of [{}, { metadata: {}, items: [] }, { items: [] }]) {
    server.answerWith((_request, response) => {
      answerJson(response, { status: 200, body });
    });
    assert.equal(
      (await source.listPage('Node', { limit: 500, signal, onItem: ignore })).kind,
      'failed',
    );
  }
  server.answerWith((_request, response) => {
    answerJson(response, { status: 200, body: { metadata: { resourceVersion: '1' }, items: [1] } });
  });
  const odd = source.listPage('Node', { limit: 500, signal, onItem: ignore });
  await assert.rejects(odd, { name: 'ListItemError' });
  server.answerWith((_request, response) => {
    answerJson(response, { status: 410, body: statusBody(410, 'Expired') });
  });
  const expired = await source.listPage('Node', { limit: 500, signal, onItem: ignore });
  assert.equal(expired.kind === 'failed' && expired.failure.kind, 'expired');
});

test('a page that breaks off is a failed request; an error of who takes its items is not', async () => {
  const { signal } = new AbortController();
  const items: KubernetesObject[] = [];
  const head = '{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}';
  server.answerWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(head);
    setTimeout(() => response.destroy(), 20);
  });
  const onItem = (item: KubernetesObject): void => void items.push(item);
  const broken = await source.listPage('Node', { limit: 500, signal, onItem });
  assert.deepEqual(broken, {
    kind: 'failed',
    failure: { kind: 'unavailable', message: 'ECONNRESET' },
  });
  assert.deepEqual(items, [{ metadata: { name: 'a' } }]);
  server.answerWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${head}]}`);
  });
  const bug = new Error('bug');
  const taken = source.listPage('Node', {
    limit: 500,
    signal,
    onItem: () => {
      throw bug;
    },
  });
  await assert.rejects(taken, bug);
});

test('a stream asks for bookmarks and its time-out, and delivers events as they come', async () => {
  server.answerWith((_request, response) => {
    lines(response, event('ADDED', '42'), event('MODIFIED', '43').slice(0, 20));
    setTimeout(() => response.end(event('MODIFIED', '43').slice(20)), 20);
  });
  let bytes = 0;
  const onBytes = (): void => {
    bytes += 1;
  };
  const frames = await read(source.watch('Node', options({ onBytes })));
  assert.deepEqual(
    frames.map(({ kind }) => kind),
    ['added', 'modified', 'ended'],
  );
  assert.ok(bytes >= 3);
  assert.equal(
    server.requests[0]?.path,
    '/api/v1/nodes?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=41',
  );
});

test('a stream ends with the failure in it, and a refusal says why: neither repeats the token', async () => {
  tokens = ['secret-token', 'secret-token'];
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'of secret-token' };
  server.answerWith((_request, response) => {
    const error = `${JSON.stringify({ type: 'ERROR', object: status })}\n`;
    lines(response, event('ADDED', '42'), error, event('MODIFIED', '43'));
    response.end();
  });
  const frames = await read(source.watch('Pod', options()));
  assert.deepEqual(
    frames.map(({ kind }) => kind),
    ['added', 'failed'],
  );
  const failure = { kind: 'expired', message: 'HTTP 410 Expired: of [redacted]' };
  assert.deepEqual(frames[1], { kind: 'failed', failure });
  const body = { ...statusBody(403, 'Forbidden'), message: 'not to secret-token' };
  server.answerWith((_request, response) => {
    answerJson(response, { status: 403, body, headers: { 'retry-after': '2' } });
  });
  const message = 'HTTP 403 Forbidden: not to [redacted]';
  assert.deepEqual(await read(source.watch('Pod', options())), [
    { kind: 'failed', failure: { kind: 'unauthorized', message, retryAfterMs: 2000 } },
  ]);
});

test('a WatchList asks for initial events; a server that has none is unsupported', async () => {
  server.answerWith((_request, response) => {
    answerJson(response, { status: 422, body: statusBody(422, 'Invalid') });
  });
  const { resourceVersion: _version, ...initial } = options({ sendInitialEvents: true });
  const [frame] = await read(source.watch('DaemonSet', initial));
  assert.equal(frame?.kind === 'failed' && frame.failure.kind, 'unsupported');
  const path = server.requests[0]?.path ?? '';
  assert.ok(path.startsWith('/apis/apps/v1/daemonsets?watch=true'));
  assert.ok(path.includes('sendInitialEvents=true&resourceVersionMatch=NotOlderThan'));
  assert.ok(!path.includes('resourceVersion='));
});

test('failures are classified, with what Retry-After said', async () => {
  const cases = [
    [410, 'expired'],
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [429, 'throttled'],
    [503, 'unavailable'],
  ] as const;
  for (const [status, kind] of cases) {
    server.answerWith((_request, response) => {
      const headers = { 'retry-after': '2' };
      answerJson(response, { status, body: statusBody(status, 'Reason'), headers });
    });
    const [frame] = await read(source.watch('Node', options()));
    assert.ok(frame?.kind === 'failed');
    assert.equal(frame.failure.kind, kind);
    assert.equal(frame.failure.retryAfterMs, 2000);
  }
});

test('a connection that breaks fails the stream; one that cannot be made does, too', async () => {
  server.answerWith((_request, response) => {
    lines(response, event('ADDED', '42'));
    setTimeout(() => response.destroy(), 20);
  });
  const frames = await read(source.watch('Node', options()));
  assert.deepEqual(
    frames.map(({ kind }) => kind),
    ['added', 'failed'],
  );
  const nowhere = new ApiWatchSource({
    endpoint: { host: '127.0.0.1', port: 1, pathPrefix: '' },
    credential: { kind: 'none' },
    clock: createSystemClock(),
  });
  const [failed] = await read(nowhere.watch('Node', options()));
  assert.equal(failed?.kind === 'failed' && failed.failure.message, 'ECONNREFUSED');
  nowhere.close();
});

test('the time for an answer is over once it begins: a stream lives on beyond it', async () => {
  server.answerWith((_request, response) => {
    lines(response, event('ADDED', '42'));
  });
  const clock = createHeldTimers();
  const held = openSource(clock);
  const controller = new AbortController();
  for await (const frame of held.watch('Node', options({ signal: controller.signal }))) {
    if (frame.kind === 'added') assert.equal(clock.heldCount(2000), 0);
    controller.abort();
  }
  held.close();
  assert.equal(server.requests.length, 1);
});

test('an aborted stream ends at once, although the server is silent', async () => {
  server.answerWith((_request, response) => {
    lines(response, event('ADDED', '42'));
  });
  const controller = new AbortController();
  const seen: string[] = [];
  for await (const frame of source.watch('Node', options({ signal: controller.signal }))) {
    seen.push(frame.kind);
    controller.abort();
  }
  assert.deepEqual(seen, ['added', 'ended']);
});

test('each request asks for the token anew', async () => {
  tokens = ['one', 'two'];
  server.answerWith((_request, response) => {
    lines(response);
    response.end();
  });
  await read(source.watch('Node', options()));
  await read(source.watch('Node', options()));
  const sent = server.requests.map(({ headers }) => headers.authorization);
  assert.deepEqual(sent, ['Bearer one', 'Bearer two']);
});

test('the lease: absent, created, replaced, refused, ambiguous (protocol 14)', async () => {
  const path = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
  const answerWith = (status: number, body: unknown): void => {
    server.answerWith((_request, response) => {
      answerJson(response, { status, body });
    });
  };
  const named = { name: 'rollcall-watcher', namespace: 'rollcall-system' };
  const draft = { metadata: named } as unknown as KubernetesObject;
  const held = { metadata: { ...named, uid: 'l', resourceVersion: '9' } };

  answerWith(404, statusBody(404, 'NotFound'));
  assert.deepEqual(await source.readLease(), { kind: 'ok', value: undefined });
  assert.equal((await source.writeLease(draft)).kind, 'failed');
  assert.equal((await source.writeLease(held)).kind, 'conflict');
  answerWith(201, held);
  assert.deepEqual(await source.writeLease(draft), { kind: 'written', lease: held });
  assert.deepEqual(
    server.requests.map(({ method, path: asked }) => `${method} ${asked}`),
    [
      `GET ${path}/rollcall-watcher`,
      `POST ${path}`,
      `PUT ${path}/rollcall-watcher`,
      `POST ${path}`,
    ],
  );
  answerWith(409, statusBody(409, 'Conflict'));
  assert.equal((await source.writeLease(held)).kind, 'conflict');
  answerWith(403, statusBody(403, 'Forbidden'));
  assert.equal((await source.writeLease(held)).kind, 'failed');
  answerWith(500, statusBody(500, 'InternalError'));
  assert.equal((await source.writeLease(held)).kind, 'ambiguous');
  server.answerWith((_request, response) => {
    response.destroy();
  });
  assert.equal((await source.writeLease(held)).kind, 'ambiguous');
});

test('the identity of a cluster is the uid of kube-system', async () => {
  server.answerWith((_request, response) => {
    answerJson(response, { status: 200, body: { metadata: { uid: 'the-uid' } } });
  });
  assert.deepEqual(await source.getClusterUid(), { kind: 'ok', value: 'the-uid' });
  assert.equal(server.requests[0]?.path, '/api/v1/namespaces/kube-system');
});
