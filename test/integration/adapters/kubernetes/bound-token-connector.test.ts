/** Clusters that are reached by a bound token: which token goes where, and what is said when there is none. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { HttpsClusterConnector } from '../../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import type { ClusterConnector } from '../../../../src/ports/cluster/cluster-access.ts';
import type { SealContext } from '../../../../src/ports/stores/credential-store.ts';
import { LocalSeal } from '../../../support/local-seal.ts';
import { RegistryInProcess } from '../../../support/registry-in-process.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../../support/scripted-api-server.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const HOUR_MS = 3_600_000;
const LEASE = '/leases/rollcall-watcher';

describe('a cluster with a bound token', () => {
  let server: ScriptedApiServer;
  let clock: VirtualClock;
  let credentials: RegistryInProcess['credentials'];
  let seal: LocalSeal;
  let connector: ClusterConnector;
  /** Tokens that the API server does not accept. */
  const ended = new Set<string>();
  before(async () => {
    server = await startScriptedApiServer();
    server.answerWith((request, response) => {
      const token = (request.headers.authorization ?? '').replace('Bearer ', '');
      if (ended.has(token)) {
        answerJson(response, { status: 401, body: statusBody(401, 'Unauthorized') });
      } else if (request.path.endsWith(LEASE)) {
        const details = { name: 'rollcall-watcher' };
        answerJson(response, { status: 404, body: statusBody(404, 'NotFound', details) });
      } else {
        const metadata = { name: 'kube-system', uid: 'uid-1', resourceVersion: '4' };
        answerJson(response, { status: 200, body: { metadata } });
      }
    });
  });
  after(() => server.close());
  beforeEach(() => {
    clock = new VirtualClock();
    ({ credentials } = new RegistryInProcess());
    seal = new LocalSeal();
    connector = new HttpsClusterConnector({
      clock,
      sealedTokens: { credentials, seal, purpose: 'act' },
      egress: { loopback: 'allowed' },
    });
    ended.clear();
    server.requests.length = 0;
  });

  function registered(changes: Partial<ClusterRegistration> = {}): ClusterRegistration {
    return {
      id: clusterId('west'),
      clusterUid: clusterUid('uid-1'),
      mode: 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROAWATCHER',
      server: server.url,
      caPem: server.caPem,
      authentication: { kind: 'bound-token', renewerRoleId: 'AROARENEWER' },
      labels: {},
      ...changes,
    };
  }

  /** What the function `credential` would have kept. */
  async function keep(text: string, changes: Partial<SealContext> = {}): Promise<void> {
    const { cluster = clusterId('west'), clusterUid: uid = clusterUid('uid-1') } = changes;
    const made = await seal.seal(text, { cluster, clusterUid: uid, purpose: 'act' });
    assert.ok(made.kind === 'sealed');
    const issuedAtMs = clock.nowMs();
    const times = { issuedAtMs, expiresAtMs: issuedAtMs + 4 * HOUR_MS };
    const token = { clusterUid: uid, ciphertext: made.ciphertext, ...times };
    await credentials.writeToken(cluster, 'act', token);
  }
  const stateOf = async (registration = registered()): Promise<unknown> => {
    const connection = await connector.connect(registration);
    return connection.kind === 'connected' ? 'connected' : connection.refusal;
  };
  const sentTokens = (): readonly string[] =>
    server.requests.map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', ''));

  it('is opened with it, and asked nothing while there is none', async () => {
    assert.deepEqual(await stateOf(), { kind: 'no-token', fault: 'not-sent' });
    await keep('first');
    assert.deepEqual(await stateOf(), { kind: 'no-token', fault: 'not-sent' }, 'not yet');
    assert.equal(server.requests.length, 0);
    await clock.advance(5_000);
    assert.equal(await stateOf(), 'connected');
    assert.equal(await stateOf(), 'connected');
    assert.deepEqual(sentTokens(), ['first'], 'verified once (protocol 24)');
    assert.equal(credentials.calls.filter(({ isWrite }) => !isWrite).length, 2);
  });

  it('has its identity verified again with each new token (protocol 24, S6)', async () => {
    await keep('first');
    assert.equal(await stateOf(), 'connected');
    await clock.advance(4 * HOUR_MS - 200_000);
    await keep('second');
    assert.equal(await stateOf(), 'connected');
    assert.deepEqual(sentTokens(), ['first', 'second']);
    await clock.advance(4 * HOUR_MS);
    assert.deepEqual(await stateOf(), { kind: 'no-token', fault: 'expired' });
    assert.equal(server.requests.length, 2);
  });

  it('goes on with a newer token after a 401, also where it was connected', async () => {
    await keep('first');
    const connection = await connector.connect(registered());
    assert.ok(connection.kind === 'connected');
    await clock.advance(10_000);
    await keep('second');
    ended.add('first');
    const lease = await connection.access.getWatcherLease();
    assert.equal(lease.kind, 'missing');
    assert.deepEqual(sentTokens(), ['first', 'first', 'second']);
  });

  it('is told apart when its token is not accepted, and tried once for each look (L3)', async () => {
    await keep('first');
    ended.add('first');
    const rejected = { kind: 'no-token', fault: 'rejected' };
    for (let turn = 0; turn < 20; turn += 1) assert.deepEqual(await stateOf(), rejected);
    assert.equal(server.requests.length, 1);
    await clock.advance(5_000);
    assert.deepEqual(await stateOf(), rejected);
    assert.deepEqual(sentTokens(), ['first', 'first']);
    // A server that was only starting accepts it a moment later.
    ended.clear();
    await clock.advance(5_000);
    assert.equal(await stateOf(), 'connected');
  });

  it('is not blamed when the store or the key service does not answer', async () => {
    const failure = Object.assign(new Error('secret'), { name: 'ThrottlingException' });
    credentials.hooks = { before: () => Promise.reject(failure) };
    const message = 'the sealed token cannot be read: ThrottlingException';
    const unread = { kind: 'unavailable', message, retryAfterMs: 5_000, token: 'unread' };
    assert.deepEqual(await stateOf(), unread);
    assert.equal(server.requests.length, 0);
  });

  it('never gets the token of another one, though it stand under its name (S6, row 31)', async () => {
    const east = registered({ id: clusterId('east') });
    await keep('of-west');
    await keep('of-east', { cluster: clusterId('east') });
    assert.deepEqual([await stateOf(), await stateOf(east)], ['connected', 'connected']);
    assert.deepEqual(sentTokens(), ['of-west', 'of-east']);
    // Somebody who may write the table, but not use the key, moves one.
    const moved = await credentials.readToken(clusterId('west'), 'act');
    assert.ok(moved !== undefined);
    await credentials.removeTokens(clusterId('east'));
    await credentials.writeToken(clusterId('east'), 'act', moved);
    const anew = registered({ id: clusterId('east'), configVersion: 2 });
    assert.deepEqual(await stateOf(anew), { kind: 'no-token', fault: 'not-opened' });
    assert.equal(server.requests.length, 2);
  });

  it('keeps no token from before its registration was changed (row 31)', async () => {
    await keep('first');
    assert.equal(await stateOf(), 'connected');
    const rebuilt = registered({ configVersion: 2, clusterUid: clusterUid('uid-2') });
    assert.deepEqual(await stateOf(rebuilt), { kind: 'no-token', fault: 'other-cluster' });
    await credentials.removeTokens(clusterId('west'));
    const again = registered({ configVersion: 3 });
    assert.deepEqual(await stateOf(again), { kind: 'no-token', fault: 'not-sent' });
    assert.deepEqual(sentTokens(), ['first']);
  });

  it('is without a credential in a process that opens no seals', async () => {
    connector = new HttpsClusterConnector({ clock, egress: { loopback: 'allowed' } });
    assert.deepEqual(await stateOf(), { kind: 'no-credential' });
  });
});
