/** The API server's network side over real sockets: who asks, what in, what out. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { createAuthority } from '../../../src/access/certificates.ts';
import type { Authority } from '../../../src/access/certificates.ts';
import { createTokenAuthenticator } from '../../../src/access/tokens.ts';
import type { ApiAnswer, ApiRequest } from '../../../src/api/request/api-request.ts';
import { startHttpsServer } from '../../../src/server/https-server.ts';
import type { HttpsServer } from '../../../src/server/https-server.ts';
import { createTestHttpsClient } from '../../support/https-client.ts';
import type { TestAnswer, TestHttpsClient, TestRequest } from '../../support/https-client.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { storablePod } from '../../support/stored-objects.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
const PODS = '/api/v1/namespaces/default/pods';

let authority: Authority;
let server: HttpsServer;
let client: TestHttpsClient;
let asked: ApiRequest[] = [];
let answer: ApiAnswer | (() => ApiAnswer);
const log = new MemoryLog();
const clock = new VirtualClock();
/** How slow its cluster's pods make it. */
let delayMs = 0;

const ok = (body: JsonObject): ApiAnswer => ({ kind: 'object', status: 200, body });

before(async () => {
  authority = await createAuthority({ nowMs: Date.now() });
  server = await startHttpsServer({
    handler: {
      handle: (request) => {
        asked.push(request);
        return typeof answer === 'function' ? answer() : answer;
      },
    },
    authenticate: createTokenAuthenticator(new Map([['secret', ADMIN]])),
    certificate: authority.serving,
    port: 0,
    clock,
    log,
    delayMs: () => delayMs,
  });
  client = createTestHttpsClient({ server: server.server, caPem: authority.caPem });
});

after(async () => {
  client.close();
  await server.stop();
});

async function ask(
  request: TestRequest,
): Promise<TestAnswer & { readonly asked: readonly ApiRequest[] }> {
  asked = [];
  const headers = { authorization: 'Bearer secret', ...request.headers };
  const received = await client.fetch({ ...request, headers });
  return { ...received, asked };
}

function assertStatus(
  received: TestAnswer & { readonly asked: readonly ApiRequest[] },
  expected: { readonly code: number; readonly reason: string },
): void {
  const body = JSON.parse(received.text) as JsonObject;
  assert.equal(received.headers['content-type'], 'application/json');
  assert.deepEqual(
    { kind: body['kind'], status: body['status'], reason: body['reason'], code: body['code'] },
    { kind: 'Status', status: 'Failure', ...expected },
  );
  assert.equal(received.status, expected.code);
  assert.equal(received.asked.length, 0, 'the handler was not asked');
}

describe('a server that is loaded', () => {
  test('answers later, by as much as its pods ask, and not once they are gone', async () => {
    answer = ok({ kind: 'PodList', items: [] });
    delayMs = 300;
    const received = ask({ path: PODS });
    // Real sockets: the request is there once the server sleeps.
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(asked.length, 0, 'it was carried out before its time');
    delayMs = 0;
    await clock.advance(300);
    assert.equal((await received).status, 200);
    assert.equal((await ask({ path: PODS })).status, 200);
  });
});

describe('who asks', () => {
  test('is told by the bearer token', async () => {
    answer = ok({ kind: 'PodList', items: [] });
    const { status, text, asked } = await ask({
      path: `${PODS}?limit=5`,
      headers: { 'user-agent': 'kubectl/v1' },
    });
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(text), { kind: 'PodList', items: [] });
    assert.deepEqual(asked, [
      { method: 'GET', target: `${PODS}?limit=5`, user: ADMIN, userAgent: 'kubectl/v1' },
    ]);
  });

  test('with a token of nobody gets a 401', async () => {
    const received = await ask({ path: PODS, headers: { authorization: 'Bearer wrong' } });
    assertStatus(received, { code: 401, reason: 'Unauthorized' });
  });

  test('without a token, or by another scheme, is anonymous', async () => {
    answer = ok({});
    for (const authorization of ['', 'Basic Zm9vOmJhcg==', 'Bearer ']) {
      const { asked } = await ask({ path: PODS, headers: { authorization } });
      assert.equal(asked[0]?.user.name, 'system:anonymous');
    }
  });

  test('must trust the authority of this cluster', async () => {
    const other = await createAuthority({ nowMs: Date.now() });
    const stranger = createTestHttpsClient({ server: server.server, caPem: other.caPem });
    await assert.rejects(stranger.fetch({ path: PODS }), /certificate|signature/i);
    stranger.close();
  });

  test('keeps the connection for the next request, after a refusal too', async () => {
    answer = ok({});
    const first = await ask({ path: PODS });
    const refused = await ask({
      path: PODS,
      method: 'POST',
      body: 'x'.repeat(100_000),
      headers: { authorization: 'Bearer wrong' },
    });
    assert.equal(refused.status, 401);
    const third = await ask({ path: PODS });
    assert.equal(refused.socket, first.socket);
    assert.equal(third.socket, first.socket);
  });
});

describe('a body', () => {
  const post = (contentType: string | undefined, body: string | Buffer): TestRequest => ({
    path: PODS,
    method: 'POST',
    headers: contentType === undefined ? {} : { 'content-type': contentType },
    body,
  });

  for (const [contentType, text] of [
    ['application/json', '{"metadata":{"name":"a"},"on":true,"mode":420}'],
    ['application/json; charset=utf-8', '{"metadata":{"name":"a"},"on":true,"mode":420}'],
    [undefined, '{"metadata":{"name":"a"},"on":true,"mode":420}'],
    ['application/yaml', 'metadata:\n  name: a\n"on": yes\nmode: 0644\n'],
    ['application/yaml', '{"metadata":{"name":"a"},"on":true,"mode":420}'],
  ] as const) {
    test(`of type ${contentType ?? '(none)'} arrives parsed: ${text.slice(0, 12)}`, async () => {
      answer = { kind: 'object', status: 201, body: {} };
      const { status, asked } = await ask(post(contentType, text));
      assert.equal(status, 201);
      assert.deepEqual(asked[0]?.body, { metadata: { name: 'a' }, on: true, mode: 420 });
      assert.equal(asked[0]?.contentType, contentType);
    });
  }

  test('in YAML keeps times and the like as text', async () => {
    const yaml = 'at: 2026-01-01T00:00:00Z\nday: 2026-01-01\nclock: 12:30\nbytes: !!str 1\n';
    const { asked } = await ask(post('application/yaml', yaml));
    assert.deepEqual(asked[0]?.body, {
      at: '2026-01-01T00:00:00Z',
      day: '2026-01-01',
      clock: '12:30',
      bytes: '1',
    });
  });

  for (const type of ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json']) {
    test(`of a PATCH of type ${type} arrives with its type`, async () => {
      answer = ok({});
      const { asked } = await ask({
        ...post(`application/${type}`, '[]'),
        method: 'PATCH',
      });
      assert.deepEqual([asked[0]?.contentType, asked[0]?.body], [`application/${type}`, []]);
    });
  }

  for (const [contentType, text] of [
    ['application/json', '{bad'],
    ['application/json', ''],
    ['application/json', '{}{}'],
    ['application/yaml', 'a: b: c'],
    ['application/merge-patch+json', '{'],
  ] as const) {
    test(`that is no ${contentType} is refused: ${text === '' ? '(empty)' : text}`, async () => {
      assertStatus(await ask(post(contentType, text)), { code: 400, reason: 'BadRequest' });
    });
  }

  for (const contentType of ['application/vnd.kubernetes.protobuf', 'text/plain']) {
    test(`of type ${contentType} is refused`, async () => {
      const received = await ask(post(contentType, '{}'));
      assertStatus(received, { code: 415, reason: 'UnsupportedMediaType' });
    });
  }

  test('may be left out of a DELETE', async () => {
    answer = ok({});
    const none = await ask({ path: `${PODS}/a`, method: 'DELETE' });
    assert(none.asked[0] !== undefined && !('body' in none.asked[0]));
    const options = await ask({ ...post('application/json', '{"x":1}'), method: 'DELETE' });
    assert.deepEqual(options.asked[0]?.body, { x: 1 });
  });

  test('of three MiB is read, a larger one is refused and the connection stays', async () => {
    answer = ok({});
    const limitBytes = 3 * 1024 * 1024;
    const largest = await ask(post('application/json', `"${'x'.repeat(limitBytes - 2)}"`));
    assert.equal(largest.status, 200);
    const larger = await ask(post('application/json', `"${'x'.repeat(limitBytes - 1)}"`));
    assertStatus(larger, { code: 413, reason: 'RequestEntityTooLarge' });
    assert.match(larger.text, /limit is 3145728/);
    const next = await ask({ path: PODS });
    assert.equal(next.socket, largest.socket);
  });
});

describe('an answer', () => {
  test('that is wanted in another format is the handler’s matter', async () => {
    answer = ok({});
    const accept = 'application/vnd.kubernetes.protobuf';
    assert.equal((await ask({ path: PODS, headers: { accept } })).asked[0]?.accept, accept);
  });

  test('comes in JSON to who offers it beside protobuf, or anything', async () => {
    answer = ok({ kind: 'Pod' });
    for (const accept of ['application/vnd.kubernetes.protobuf, application/json', '*/*']) {
      const { text, headers, asked } = await ask({ path: PODS, headers: { accept } });
      assert.equal(headers['content-type'], 'application/json');
      assert.deepEqual(JSON.parse(text), { kind: 'Pod' });
      assert.equal(asked[0]?.accept, undefined, 'the handler answers with stored objects');
    }
  });

  test('in another form is the handler’s matter: tables, and what is outside the API', async () => {
    answer = ok({});
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const proto = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    assert.equal((await ask({ path: PODS, headers: { accept: table } })).asked[0]?.accept, table);
    const openApi = await ask({ path: '/openapi/v2', headers: { accept: proto } });
    assert.equal(openApi.asked[0]?.accept, proto);
  });

  test('carries warnings and the time to wait', async () => {
    answer = {
      kind: 'object',
      status: 429,
      body: {},
      warnings: ['a "quoted" \\ one', 'zwei\nZeilen'],
      retryAfterSeconds: 7,
    };
    const { status, headers } = await ask({ path: PODS });
    assert.equal(status, 429);
    assert.equal(headers['retry-after'], '7');
    assert.equal(headers['warning'], '299 - "a \\"quoted\\" \\\\ one", 299 - "zwei Zeilen"');
  });

  test('of a list has items without kind and apiVersion, as Go writes them', async () => {
    const items = [storablePod({ name: 'a' }), storablePod({ name: 'b' })];
    answer = ok({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items });
    for (let round = 0; round < 2; round += 1) {
      const { text } = await ask({ path: PODS });
      assert.deepEqual(JSON.parse(text), {
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '9' },
        items: items.map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest),
      });
      const [item] = items;
      assert(item !== undefined);
      answer = ok(item);
      assert.deepEqual(JSON.parse((await ask({ path: `${PODS}/a` })).text), item);
      answer = ok({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items });
    }
  });

  test('can be text', async () => {
    answer = { kind: 'text', status: 200, contentType: 'text/plain; charset=utf-8', text: 'ök' };
    const { text, headers } = await ask({ path: '/healthz' });
    assert.equal(text, 'ök');
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
  });

  test('to an unknown method is a 405', async () => {
    const received = await ask({ path: PODS, method: 'OPTIONS' });
    assertStatus(received, { code: 405, reason: 'MethodNotAllowed' });
  });

  test('to a request that the handler fails on is a 500 and a log line', async () => {
    answer = () => {
      throw new Error('a bug');
    };
    const received = await ask({ path: `${PODS}?x=1` });
    assert.equal(received.status, 500);
    assert.match(received.text, /"message":"Internal error occurred: a bug".*"InternalError"/);
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields['path']]),
      [['error', PODS]],
    );
    answer = ok({});
    assert.equal((await ask({ path: PODS })).socket, received.socket, 'it goes on');
  });
});
