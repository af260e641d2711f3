/**
 * An API server whose certificate comes from another authority: with both trusted, with one, and without a word of it.
 *
 * A real TLS server shows the certificates. The watcher's trust is a file that a kubelet exchanges; the functions' is in the
 * registration, which an operator edits (`rollcall cluster set --ca-file`).
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { HttpsClusterConnector } from '../../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { SocketEndpointProbe } from '../../../../src/adapters/kubernetes/transport/endpoint-probe.ts';
import { readWatchSettings } from '../../../../src/adapters/kubernetes/settings/watch-settings.ts';
import { ApiWatchSource } from '../../../../src/adapters/kubernetes/watch/watch-source.ts';
import { editRegistration } from '../../../../src/app/clusters/edit-registration.ts';
import { RETRY_TABLE } from '../../../../src/core/retry/retry-table.ts';
import { createHeldTimers } from '../../../support/held-timers.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { answerJson, startScriptedApiServer } from '../../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../../support/scripted-api-server.ts';
import { makeTestCertificate } from '../../../support/test-certificate.ts';

const MINUTE_MS = 60_000;
const UNTRUSTED = /^DEPTH_ZERO_SELF_SIGNED_CERT: its certificate is of no certificate authority/;
const egress = { loopback: 'allowed', eksTokenHosts: 'any' } as const;

const former = makeTestCertificate('former');
const next = makeTestCertificate('next');
const both = former.certificatePem + next.certificatePem;

let server: ScriptedApiServer;

before(async () => {
  server = await startScriptedApiServer({ certificate: former });
  server.answerWith((request, response) => {
    const isIdentity = request.path === '/api/v1/namespaces/kube-system';
    const body = isIdentity
      ? { metadata: { name: 'kube-system', uid: 'cluster-a-uid', resourceVersion: '4' } }
      : { kind: 'NodeList', metadata: { resourceVersion: '9' }, items: [] };
    answerJson(response, { status: 200, body });
  });
});

beforeEach(() => {
  server.present(former);
  server.dropIdleConnections();
  server.requests.length = 0;
});

after(() => server.close());

describe('the watcher, whose authority is a file', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-authority-'));
  const caFile = path.join(directory, 'ca.crt');
  let nowMs = 0;
  let source: ApiWatchSource;

  beforeEach(() => {
    writeFileSync(caFile, former.certificatePem);
    writeFileSync(path.join(directory, 'token'), 'a-token');
    const clock = { ...createHeldTimers(), monotonicMs: () => nowMs };
    const environment = {
      ROLLCALL_CLUSTER: 'prod-1',
      ROLLCALL_EVENTS_QUEUE_URL: 'https://queue.example/1/events.fifo',
      ROLLCALL_API_SERVER: server.url,
      ROLLCALL_CA_FILE: caFile,
      ROLLCALL_TOKEN_FILE: path.join(directory, 'token'),
    };
    const settings = readWatchSettings(environment, [], clock);
    assert.ok(settings.kind === 'settings');
    source = new ApiWatchSource(settings.apiServer);
  });

  afterEach(() => {
    source.close();
  });

  after(() => {
    rmSync(directory, { recursive: true });
  });

  /** What a short request and a stream come to, each over connections of its own. */
  async function look(): Promise<readonly string[]> {
    const signal = new AbortController().signal;
    const onItem = (): void => undefined;
    const identity = await source.getClusterUid();
    const page = await source.listPage('Node', { limit: 500, signal, onItem });
    return [identity, page].map((each) => (each.kind === 'ok' ? 'ok' : each.failure.message));
  }

  /** The kubelet writes another authority; the next look is a minute later. */
  function exchange(caPem: string): void {
    writeFileSync(caFile, caPem);
    nowMs += MINUTE_MS;
  }

  /** Connections that were made under the former certificate are gone, as after a restart of the API server. */
  function present(certificate: typeof former): void {
    server.present(certificate);
    server.dropIdleConnections();
  }

  test('trusts both while both are in the file, and the new one alone once the old one is taken out', async () => {
    assert.deepEqual(await look(), ['ok', 'ok']);
    exchange(both);
    assert.deepEqual(await look(), ['ok', 'ok']);
    present(next);
    assert.deepEqual(await look(), ['ok', 'ok']);
    exchange(next.certificatePem);
    assert.deepEqual(await look(), ['ok', 'ok']);
    present(former);
    for (const answer of await look()) assert.match(answer, UNTRUSTED);
  });

  test('of an authority that was changed without a word it says so, sends nothing, and heals within a minute of the file', async () => {
    assert.deepEqual(await look(), ['ok', 'ok']);
    present(next);
    server.requests.length = 0;
    for (const answer of await look()) assert.match(answer, UNTRUSTED);
    assert.equal(server.requests.length, 0);
    writeFileSync(caFile, next.certificatePem);
    nowMs += MINUTE_MS - 1;
    for (const answer of await look()) assert.match(answer, UNTRUSTED);
    nowMs += 1;
    assert.deepEqual(await look(), ['ok', 'ok']);
  });

  test('goes on with what it knew while the file cannot be read, or is no certificate', async () => {
    for (const text of ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', '']) {
      exchange(text);
      server.dropIdleConnections();
      assert.deepEqual(await look(), ['ok', 'ok'], JSON.stringify(text));
    }
    rmSync(caFile);
    nowMs += MINUTE_MS;
    assert.deepEqual(await look(), ['ok', 'ok']);
  });
});

describe('the functions, whose authority is registered', () => {
  test('a run is put off with the reason, touches nothing, waits five minutes at most, and goes on after an edit (L3)', async () => {
    const world = new ReconcileWorld();
    const clock = createHeldTimers();
    const connector = new HttpsClusterConnector({ clock, egress });
    const first = {
      ...world.registration,
      server: server.url,
      caPem: former.certificatePem,
      authentication: { kind: 'bearer', token: 'a-token' },
    } as const;
    world.registry.seed(first);
    await world.mirror.sync();
    assert.equal((await connector.connect(first)).kind, 'connected');

    server.present(next);
    server.dropIdleConnections();
    server.requests.length = 0;
    const cold = new HttpsClusterConnector({ clock, egress });
    let longestMs = 0;
    for (let run = 0; run < 12; run += 1) {
      const result = await world.run({ connector: cold });
      assert.equal(result.kind, 'deferred', JSON.stringify(result));
      const waitMs = result.kind === 'deferred' ? result.nextLookAtMs - world.clock.nowMs() : 0;
      longestMs = Math.max(longestMs, waitMs);
      await world.clock.advance(waitMs);
    }
    assert.equal(longestMs, RETRY_TABLE.key.maxMs);
    assert.equal(server.requests.length, 0);
    assert.equal(world.pods.length, 0);
    const refused = await cold.connect(first);
    assert.ok(refused.kind === 'refused' && refused.refusal.kind === 'unavailable');
    assert.match(refused.refusal.message, UNTRUSTED);
    const probe = new SocketEndpointProbe({ clock, egress });
    const { tls } = await probe.probe(first);
    assert.deepEqual(tls, {
      kind: 'failed',
      fault: 'untrusted',
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });

    const edited = { ...editRegistration(first, { caPem: both }), configVersion: 2 };
    assert.equal((await cold.connect(edited)).kind, 'connected');
    // Both are registered: it does not matter which of the API servers answers.
    server.present(former);
    server.dropIdleConnections();
    assert.equal(
      (await new HttpsClusterConnector({ clock, egress }).connect(edited)).kind,
      'connected',
    );
    assert.equal((await probe.probe(edited)).tls?.kind, 'trusted');
  });
});
