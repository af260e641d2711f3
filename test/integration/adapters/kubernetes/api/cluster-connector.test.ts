/** Opening clusters: identity, warm credentials, refusals, and no credential in any of them. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import type { CreatePodEffect } from '../../../../../src/core/model/effects.ts';
import { clusterId, clusterUid, nodeName } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import { REQUEST_TIMEOUT_MS } from '../../../../../src/core/pod/request-life.ts';
import { HttpsClusterConnector } from '../../../../../src/adapters/kubernetes/api/cluster-connector.ts';
import type { ClusterConnectorOptions } from '../../../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedApiServer, Script } from '../../../../support/scripted-api-server.ts';
import { makeTestCertificate } from '../../../../support/test-certificate.ts';

const systemClock = createHeldTimers();
const CANARY = 'canary-secret-5d41402abc4b';
const UID = '11111111-2222-3333-4444-555555555555';

const awsCredentials = () =>
  Promise.resolve({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: CANARY });

function kubeSystem(uid: string): Script {
  return (request, response) => {
    if (request.path === '/api/v1/namespaces/kube-system') {
      answerJson(response, {
        status: 200,
        body: { metadata: { name: 'kube-system', uid, resourceVersion: '4' } },
      });
    } else answerJson(response, { status: 404, body: statusBody(404, 'NotFound', { name: 'x' }) });
  };
}

describe('cluster connector', () => {
  let server: ScriptedApiServer;
  before(async () => {
    server = await startScriptedApiServer();
  });
  afterEach(() => {
    server.requests.length = 0;
  });
  after(() => server.close());

  function registered(changes: Partial<ClusterRegistration> = {}): ClusterRegistration {
    return {
      id: clusterId('west'),
      clusterUid: clusterUid(UID),
      mode: 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROAEXAMPLE',
      server: server.url,
      caPem: server.caPem,
      authentication: { kind: 'bearer', token: CANARY },
      labels: {},
      ...changes,
    };
  }

  function connectorWith(options: Partial<ClusterConnectorOptions> = {}) {
    return new HttpsClusterConnector({
      clock: systemClock,
      egress: { loopback: 'allowed', eksTokenHosts: 'any' },
      ...options,
    });
  }

  async function refusalOf(registration: ClusterRegistration): Promise<unknown> {
    const connection = await connectorWith().connect(registration);
    assert.equal(connection.kind, 'refused');
    return connection.kind === 'refused' ? connection.refusal : undefined;
  }

  it('checks the kube-system UID once per warm credential (protocol 24)', async () => {
    server.answerWith(kubeSystem(UID));
    const connector = connectorWith();
    const together = [connector.connect(registered()), connector.connect(registered())];
    for (const connection of await Promise.all(together))
      assert.equal(connection.kind, 'connected');
    await connector.connect(registered());
    assert.equal(server.requests.length, 1);
    assert.equal(server.requests[0]?.headers.authorization, `Bearer ${CANARY}`);
  });

  it('checks it again after ten minutes', async () => {
    server.answerWith(kubeSystem(UID));
    let nowMs = 0;
    const connector = connectorWith({ clock: { ...systemClock, monotonicMs: () => nowMs } });
    await connector.connect(registered());
    nowMs = 600_001;
    await connector.connect(registered());
    assert.equal(server.requests.length, 2);
  });

  it('gives writes the time that safety counts on, and no more, whatever it is asked for (protocol 5)', async () => {
    server.answerWith(kubeSystem(UID));
    const connection = await connectorWith({ requestTimeoutMs: 60_000 }).connect(registered());
    assert.ok(connection.kind === 'connected');
    const arrived = Promise.withResolvers<() => void>();
    server.answerWith((_request, response) => {
      arrived.resolve(() => response.destroy());
    });
    const create: CreatePodEffect = {
      kind: 'create-pod',
      namespace: 'agents',
      name: 'pod-1',
      node: nodeName('node-1'),
      body: { metadata: { name: 'pod-1' } },
    };
    const others = systemClock.heldCount(REQUEST_TIMEOUT_MS);
    const sent = connection.access.execute([create], { deadlineMs: Number.POSITIVE_INFINITY });
    const hangUp = await arrived.promise;
    const held = systemClock.heldCount(REQUEST_TIMEOUT_MS);
    hangUp();
    await sent;
    assert.equal(held, others + 1);
  });

  it('refuses an endpoint that is another cluster now (S6, faults 90)', async () => {
    const foundUid = '99999999-2222-3333-4444-555555555555';
    server.answerWith(kubeSystem(foundUid));
    assert.deepEqual(await refusalOf(registered()), { kind: 'wrong-cluster', foundUid });
    server.answerWith(kubeSystem(`what was sent: ${CANARY}`));
    const refusal = await refusalOf(registered());
    assert.deepEqual(refusal, { kind: 'wrong-cluster', foundUid: 'of another form' });
  });

  it('opens anew for another configuration version, with its credential (faults 31)', async () => {
    server.answerWith(kubeSystem(UID));
    const connector = connectorWith();
    await connector.connect(registered());
    const token = 'token-of-version-2';
    await connector.connect(
      registered({ configVersion: 2, authentication: { kind: 'bearer', token } }),
    );
    assert.deepEqual(
      server.requests.map((request) => request.headers.authorization),
      [`Bearer ${CANARY}`, `Bearer ${token}`],
    );
  });

  it('keeps two clusters apart that share an endpoint', async () => {
    server.answerWith(kubeSystem(UID));
    const connector = connectorWith();
    await connector.connect(registered());
    const token = 'token-of-east';
    const east = registered({ id: clusterId('east'), authentication: { kind: 'bearer', token } });
    const connections = server.connectionCount();
    await connector.connect(east);
    assert.equal(server.connectionCount(), connections + 1);
    assert.equal(server.requests[1]?.headers.authorization, `Bearer ${token}`);
  });

  it('forgets a cluster', async () => {
    server.answerWith(kubeSystem(UID));
    const connector = connectorWith();
    await connector.connect(registered());
    connector.forget(clusterId('west'));
    await connector.connect(registered());
    assert.equal(server.requests.length, 2);
  });

  it('ends the connections of a cluster that it forgets', async () => {
    const sockets = new Set<Socket | null>();
    server.answerWith((request, response) => {
      sockets.add(response.socket);
      kubeSystem(UID)(request, response);
    });
    const connector = connectorWith();
    await connector.connect(registered());
    connector.forget(clusterId('west'));
    // The handshake of another connection takes longer than the end of the first one.
    await connector.connect(registered());
    assert.deepEqual(
      [...sockets].map((socket) => socket?.readableEnded),
      [true, false],
    );
  });

  it('starts afresh after a 401 on a credential that cannot be renewed', async () => {
    server.answerWith(kubeSystem(UID));
    const connector = connectorWith();
    const connection = await connector.connect(registered());
    assert.ok(connection.kind === 'connected');
    server.answerWith((_request, response) => {
      answerJson(response, { status: 401, body: statusBody(401, 'Unauthorized') });
    });
    const read = await connection.access.getNode('node-1');
    assert.ok(read.kind === 'unavailable' && read.isRefused);
    const again = await connector.connect(registered());
    assert.deepEqual(
      again,
      { kind: 'refused', refusal: { kind: 'no-token', fault: 'rejected' } },
      'the identity was checked again, and the API server answered',
    );
  });

  it('takes a rejected token of EKS for no outage', async () => {
    server.answerWith((_request, response) => {
      answerJson(response, { status: 401, body: statusBody(401, 'Unauthorized') });
    });
    const connector = connectorWith({ awsCredentials });
    const authentication = { kind: 'eks', clusterName: 'west-1', region: 'eu-west-1' } as const;
    assert.deepEqual(await connector.connect(registered({ authentication })), {
      kind: 'refused',
      refusal: { kind: 'no-token', fault: 'rejected' },
    });
  });

  it('signs EKS tokens itself, and mints another after a 401', async () => {
    server.answerWith(kubeSystem(UID));
    let nowMs = Date.parse('2026-01-01T00:00:00Z');
    const clock = { ...systemClock, nowMs: () => (nowMs += 1000) };
    const connector = connectorWith({ clock, awsCredentials });
    const authentication = { kind: 'eks', clusterName: 'west-1', region: 'eu-west-1' } as const;
    const connection = await connector.connect(registered({ authentication }));
    assert.ok(connection.kind === 'connected');
    let refusals = 1;
    server.answerWith((_request, response) => {
      const isRefused = (refusals -= 1) >= 0;
      if (isRefused) answerJson(response, { status: 401, body: statusBody(401, 'Unauthorized') });
      else
        answerJson(response, {
          status: 404,
          body: statusBody(404, 'NotFound', { name: 'node-1' }),
        });
    });
    assert.deepEqual(await connection.access.getNode('node-1'), { kind: 'missing' });
    const tokens = server.requests.map((request) => request.headers.authorization);
    assert.equal(tokens.length, 3);
    assert.equal(tokens[0], tokens[1]);
    assert.notEqual(tokens[1], tokens[2]);
    assert.match(String(tokens[2]), /^Bearer k8s-aws-v1\./);
    server.answerWith(kubeSystem(UID));
    await connector.connect(registered({ authentication }));
    assert.equal(server.requests.length, 4, 'a new token verifies the identity again');
  });

  it('has no credential for `none`, an empty token, or EKS without AWS credentials', async () => {
    const eks = { kind: 'eks', clusterName: 'west-1', region: 'eu-west-1' } as const;
    for (const authentication of [{ kind: 'none' }, { kind: 'bearer', token: '' }, eks] as const) {
      assert.deepEqual(await refusalOf(registered({ authentication })), { kind: 'no-credential' });
    }
    const elsewhere = { ...eks, region: 'eu-west-1.evil.example/' };
    const connector = connectorWith({ awsCredentials });
    const connection = await connector.connect(registered({ authentication: elsewhere }));
    assert.ok(connection.kind === 'refused' && connection.refusal.kind === 'no-credential');
    assert.equal(server.requests.length, 0);
  });

  it('judges no endpoint of a cluster without a credential: its address may be anything, and no alarm rings', async () => {
    const authentication = { kind: 'none' } as const;
    const unreachable = registered({ authentication, server: 'http://127.0.0.1:1' });
    assert.deepEqual(await refusalOf(unreachable), { kind: 'no-credential' });
  });

  it('contacts nothing but an https endpoint (S12)', async () => {
    for (const address of ['http://127.0.0.1:1', 'https://u:p@127.0.0.1', 'file:///etc/passwd']) {
      const refusal = (await refusalOf(registered({ server: address }))) as { kind: string };
      assert.equal(refusal.kind, 'egress-refused');
    }
  });

  it('lets no credential into any refusal or message (S11)', async () => {
    const said: string[] = [];
    const note = (value: unknown): void => {
      said.push(JSON.stringify(value));
    };
    const { keyPem } = makeTestCertificate();
    const broken = { kind: 'client-certificate', certificatePem: CANARY, keyPem } as const;
    note(await refusalOf(registered({ authentication: broken })));
    note(await refusalOf(registered({ caPem: makeTestCertificate().certificatePem })));
    server.answerWith((request, response) => {
      const message = `who sent ${String(request.headers.authorization)}?`;
      answerJson(response, { status: 403, body: { ...statusBody(403, 'Forbidden'), message } });
    });
    note(await refusalOf(registered()));
    server.answerWith(kubeSystem(UID));
    const connection = await connectorWith().connect(registered());
    assert.ok(connection.kind === 'connected');
    server.answerWith((_request, response) => {
      response.socket?.destroy();
    });
    note(await connection.access.getNode('node-1'));
    note(await connection.access.requestSnapshot('r'));
    assert.equal(said.length, 5);
    for (const text of said) {
      assert.ok(!text.includes(CANARY), text);
      assert.ok(!text.includes('PRIVATE KEY'), text);
    }
  });
});
