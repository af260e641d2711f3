/**
 * The watcher's process as a pod runs it: probes and metrics over HTTP, a signal, the Lease given back.
 *
 * The API server is scripted and the queue is away: what an outage looks like from outside.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { INSTALLATION_ANNOTATION } from '../../../src/core/may-act/installation.ts';
import { parseExposition, sampleOf } from '../../support/exposition.ts';
import { answerJson, startScriptedApiServer } from '../../support/scripted-api-server.ts';
import type { ScriptedApiServer, SeenRequest } from '../../support/scripted-api-server.ts';
import { makeTestCertificate } from '../../support/test-certificate.ts';
import { mountWatcher, type WatcherMount } from '../../support/watcher-mount.ts';

const MAIN = path.join(import.meta.dirname, '../../../src/watcher/main.ts');
const LEASE_PATH = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';

describe('the watcher as a process', () => {
  let mount: WatcherMount;
  let server: ScriptedApiServer;
  let child: ChildProcess;
  let base = '';
  const lease: { version: number; spec?: { readonly holderIdentity?: string } } = { version: 7 };

  before(async () => {
    server = await startScriptedApiServer();
    server.answerWith((request, response) => {
      answerAs(lease, { request, response });
    });
    mount = mountWatcher(server);
    child = startWatcher(mount.settings);
    base = await probesOf(child);
  });

  after(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await server.close();
    mount.remove();
  });

  test('is live and says why it is not ready while the queue is away', async () => {
    const live = await fetch(`${base}/livez`);
    assert.deepEqual([live.status, await live.text()], [200, 'ok\n']);
    const ready = await fetch(`${base}/readyz`);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /not yet watching|cannot be read or written/);
  });

  test('tells its figures in the text format of Prometheus', async () => {
    let families = parseExposition('');
    do {
      const answer = await fetch(`${base}/metrics`);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
      const text = await answer.text();
      for (const name of ['prod-1', 'a-token', 'kube-system-uid', 'events.fifo', '127.0.0.1'])
        assert.ok(!text.includes(name), `figures without names: ${name}`);
      families = parseExposition(text);
    } while (!families.has('rollcall_watcher_sends_total'));
    const unsent = sampleOf(families, 'rollcall_watcher_sends_total', { outcome: 'unsent' });
    assert.ok((unsent ?? 0) >= 1);
    assert.equal(sampleOf(families, 'rollcall_watcher_live'), 1);
    assert.equal(sampleOf(families, 'rollcall_watcher_ready'), 0);
    assert.equal(sampleOf(families, 'rollcall_watcher_state', { state: 'running' }), 1);
    assert.equal(sampleOf(families, 'rollcall_watcher_epoch'), 8);
    assert.ok((sampleOf(families, 'process_resident_memory_bytes') ?? 0) > 1e6);
  });

  test('answers nothing else: no other path, no other method', async () => {
    for (const other of ['/', '/debug', '/livez/', '/__proto__', '/constructor'])
      assert.equal((await fetch(`${base}${other}`)).status, 404);
    assert.equal((await fetch(`${base}/livez`, { method: 'DELETE' })).status, 405);
    const head = await fetch(`${base}/livez`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  test('gives the Lease back at a signal and ends with 0 (row 72)', async () => {
    assert.notEqual(lease.spec?.holderIdentity ?? '', '');
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.equal(code, 0);
    assert.equal(lease.spec?.holderIdentity, '');
  });
});

test('of what an API server says it tells little: no token, no control characters, 300 characters', async () => {
  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJmdW5jdGlvbnMifQ.c2lnbmF0dXJl';
  const server = await startScriptedApiServer();
  server.answerWith((request, response) => {
    const isIdentity = request.path === '/api/v1/namespaces/kube-system';
    const message = `said by it: ${token} \u001b[31m\u0007 ${'x'.repeat(1000)}`;
    if (isIdentity) answerJson(response, { status: 200, body: { metadata: { uid: 'u' } } });
    else answerJson(response, { status: 403, body: { kind: 'Status', message } });
  });
  const mount = mountWatcher(server);
  const child = startWatcher(mount.settings);
  try {
    const base = await probesOf(child);
    let text = '';
    do text = await (await fetch(`${base}/readyz`)).text();
    while (!text.includes('said by it'));
    assert.ok(!text.includes(token), text);
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u);
    for (const line of text.split('\n')) assert.ok(line.length <= 300, String(line.length));
  } finally {
    child.kill('SIGKILL');
    await server.close();
    mount.remove();
  }
});

test('an API server of an authority that is not trusted ends it not: it is live and not ready, logs why, and sends nothing', async () => {
  const server = await startScriptedApiServer();
  const { certificatePem: caPem } = makeTestCertificate('former');
  const mount = mountWatcher({ ...server, caPem });
  const child = startWatcher(mount.settings);
  let logged = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    logged += chunk.toString();
  });
  try {
    const base = await probesOf(child);
    do assert.equal((await fetch(`${base}/readyz`)).status, 503);
    while (!logged.includes('of no certificate authority that is trusted'));
    assert.equal((await fetch(`${base}/livez`)).status, 200);
    assert.equal(child.exitCode, null);
    assert.equal(server.requests.length, 0);
  } finally {
    child.kill('SIGKILL');
    await server.close();
    mount.remove();
  }
});

test('repeats a send itself, and the AWS client never does: one is in flight at a time (protocol 22)', async () => {
  const attempts: string[] = [];
  const seen = Promise.withResolvers<undefined>();
  const queue = createServer((request, response) => {
    attempts.push(String(request.headers['amz-sdk-request']));
    if (attempts.length === 2) seen.resolve(undefined);
    response.writeHead(500).end();
  });
  queue.listen(0, '127.0.0.1');
  await once(queue, 'listening');
  const server = await startScriptedApiServer();
  const lease = { version: 7 };
  server.answerWith((request, response) => {
    answerAs(lease, { request, response });
  });
  const mount = mountWatcher(server);
  const child = startWatcher({
    ...mount.settings,
    ROLLCALL_SQS_ENDPOINT: `http://127.0.0.1:${String((queue.address() as AddressInfo).port)}`,
  });
  try {
    child.stderr?.resume();
    await seen.promise;
    assert.deepEqual(attempts.slice(0, 2), ['attempt=1; max=1', 'attempt=1; max=1']);
  } finally {
    child.kill('SIGKILL');
    queue.closeAllConnections();
    queue.close();
    await server.close();
    mount.remove();
  }
});

test('stands by from its start where it is told to, and leaves the Lease to its holder (row 72)', async () => {
  // Of its own installation, whose Lease it might take at its start.
  const installation = 'eu-central-1/000000000000/events';
  const lease = {
    version: 7,
    annotations: { [INSTALLATION_ANNOTATION]: installation },
    spec: { holderIdentity: 'another', leaseDurationSeconds: 40 },
  };
  const server = await startScriptedApiServer();
  server.answerWith((request, response) => {
    answerAs(lease, { request, response });
  });
  const mount = mountWatcher(server);
  const child = startWatcher({
    ...mount.settings,
    ROLLCALL_INSTALLATION: installation,
    ROLLCALL_LEASE_START: 'stand-by',
  });
  try {
    const base = await probesOf(child);
    const isIn = async (state: string): Promise<boolean> => {
      const families = parseExposition(await (await fetch(`${base}/metrics`)).text());
      return sampleOf(families, 'rollcall_watcher_state', { state }) === 1;
    };
    // It has to find the Lease first; each look is an answer of its own.
    while (await isIn('starting')) assert.equal(child.exitCode, null);
    assert.ok(await isIn('standby'));
    assert.equal(lease.spec.holderIdentity, 'another');
  } finally {
    child.kill('SIGKILL');
    await server.close();
    mount.remove();
  }
});

test('an address for probes that is taken ends it, and it says so', async () => {
  const taken = await startScriptedApiServer();
  const mount = mountWatcher(taken);
  const child = startWatcher({
    ...mount.settings,
    ROLLCALL_PROBE_ADDRESS: `127.0.0.1:${String(taken.port)}`,
  });
  const chunks: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 1);
  assert.match(Buffer.concat(chunks).toString(), /cannot be served.*EADDRINUSE/);
  await taken.close();
  mount.remove();
});

test('a renewal that sent nothing ends with 1, so that its job is tried again (ADR 0023)', async () => {
  const server = await startScriptedApiServer();
  const refused = { kind: 'Status', reason: 'Forbidden', message: 'no', code: 403 };
  server.answerWith((_request, response) => {
    answerJson(response, { status: 403, body: refused });
  });
  const mount = mountWatcher(server);
  const child = spawn(process.execPath, [MAIN, 'renew-credential'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ROLLCALL_CLUSTER: 'prod-1',
      ROLLCALL_CREDENTIALS_QUEUE_URL: 'http://127.0.0.1:1/000000000000/credentials',
      ROLLCALL_CREDENTIALS_KEY_ARN: 'arn:aws:kms:eu-central-1:111111111111:key/1',
      ...mount.settings,
    },
  });
  const chunks: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  await server.close();
  mount.remove();
  assert.match(Buffer.concat(chunks).toString(), /no credential was sent.*"reason":"identity"/);
  assert.equal(code, 1);
});

test('an argument that names no program is refused, and what it is told is not run', async () => {
  const child = spawn(process.execPath, [MAIN, 'no-such-program'], { stdio: 'pipe' });
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 2);
});

function startWatcher(settings: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ROLLCALL_CLUSTER: 'prod-1',
      ROLLCALL_EVENTS_QUEUE_URL: 'http://127.0.0.1:1/000000000000/events.fifo',
      ROLLCALL_SQS_ENDPOINT: 'http://127.0.0.1:1',
      ROLLCALL_PROBE_ADDRESS: '127.0.0.1:0',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      ...settings,
    },
  });
}

/** Where it serves its probes: its log says so. */
async function probesOf(child: ChildProcess): Promise<string> {
  assert.ok(child.stderr !== null);
  const seen: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    seen.push(line);
    const port = /"message":"serves probes and metrics".*"port":(\d+)/.exec(line)?.[1];
    if (port !== undefined) {
      child.stderr.resume();
      return `http://127.0.0.1:${port}`;
    }
  }
  return assert.fail(`the watcher ended: ${seen.join('\n')}`);
}

/** kube-system has an identity; the Lease is compare-and-set; everything else is away. */
function answerAs(
  lease: {
    version: number;
    readonly annotations?: Readonly<Record<string, string>>;
    spec?: { readonly holderIdentity?: string };
  },
  { request, response }: { readonly request: SeenRequest; readonly response: ServerResponse },
): void {
  if (request.path === '/api/v1/namespaces/kube-system') {
    answerJson(response, { status: 200, body: { metadata: { uid: 'kube-system-uid' } } });
  } else if (!request.path.startsWith(LEASE_PATH)) {
    answerJson(response, { status: 503, body: {} });
  } else if (request.method === 'GET' && lease.spec === undefined) {
    answerJson(response, { status: 404, body: {} });
  } else {
    if (request.method !== 'GET') {
      const { spec } = JSON.parse(request.body) as { spec: { holderIdentity: string } };
      lease.version += 1;
      lease.spec = spec;
    }
    const { version, annotations, spec } = lease;
    const metadata = { name: 'rollcall-watcher', resourceVersion: String(version), annotations };
    answerJson(response, { status: 200, body: { metadata, spec } });
  }
}
