/**
 * A bound token, end to end, on real servers: minted by the renewer's process under exactly infra/renewer's rights,
 * sealed by KMS, sent, checked and kept by the deployed function, opened by a connector (S6, S11, rows 66 and 69).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterConnector } from '../../../src/ports/cluster/cluster-access.ts';
import { subjectOf } from '../../../src/ports/stores/credential-store.ts';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { createApiClient } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { readRules, rightsOf, tokenWith, withoutRight } from '../rights/rbac-rules.ts';
import { SENDER, startRenewalWorld, type RenewalWorld } from './renewal-world.ts';

const WEST = clusterId('west');
const RULES = readRules('infra/renewer/rbac.yaml');
const ACCOUNTS = '/api/v1/namespaces/rollcall-system/serviceaccounts';
const skip = skipWithoutTools([TOOLS.go, TOOLS.python]);

describe('a bound token on real servers', { skip, timeout: 1_200_000 }, () => {
  let world: RenewalWorld;
  let connector: ClusterConnector;
  /** The renewer's own token, as the kubelet would give it to the pod. */
  let renewerToken: string;
  before(async () => {
    world = await startRenewalWorld();
    connector = world.newConnector();
    const answer = await world.admin.post(`${ACCOUNTS}/rollcall-renewer/token`, { spec: {} });
    renewerToken = (answer['status'] as { readonly token: string }).token;
    assert.equal(await world.registry.writeCluster(world.registered(), 0), 'written');
  });
  after(async () => {
    await (world as RenewalWorld | undefined)?.stop();
  });

  /** Renews until the authorizer has read the roles. */
  async function renewWhenReady(): Promise<string> {
    return pollUntil({ deadlineMs: 120_000, description: 'a renewal' }, async () => {
      const { exitCode, output } = await world.renew(renewerToken);
      return exitCode === 0 ? output : undefined;
    });
  }
  const openToken = async (): Promise<string> => {
    const kept = await world.credentials.readToken(WEST, 'act');
    assert.ok(kept !== undefined);
    const opened = await world.seal.open(kept.ciphertext, {
      cluster: WEST,
      clusterUid: clusterUid(world.uid),
      purpose: 'act',
    });
    assert.ok(opened.kind === 'opened');
    return opened.text;
  };
  const stateOf = async (one: ClusterConnector): Promise<unknown> => {
    const connection = await one.connect(world.registered());
    return connection.kind === 'connected' ? 'connected' : connection.refusal;
  };

  it('is missing at first, and that is said', async () => {
    assert.deepEqual(await stateOf(connector), { kind: 'no-token', fault: 'not-sent' });
  });

  it('is minted, sealed and sent by the renewer, kept by the function, opened by a connector', async () => {
    const output = await renewWhenReady();
    const bodies = await world.deliver();
    assert.equal(bodies.length, 2);
    assert.equal(world.metrics.sum('CredentialMessages', 'stored'), 2);
    const connection = await world.newConnector().connect(world.registered());
    assert.equal(connection.kind, 'connected');
    const listed = await connection.access.listPodMetadata('default', 'app=agent');
    assert.deepEqual(listed, { kind: 'found', object: [] });
    const lease = await connection.access.getWatcherLease();
    assert.equal(lease.kind, 'missing', 'a right of rollcall-functions');
    const token = await openToken();
    const { server, caPem } = world.registered();
    assert.ok(caPem !== undefined);
    const asFunctions = createApiClient({ server, caPem, token });
    const review = await asFunctions.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    asFunctions.close();
    const { userInfo } = review['status'] as { userInfo: { username: string } };
    assert.equal(userInfo.username, subjectOf('act'));
    const said = [output, ...bodies, await world.itemText(), JSON.stringify(world.log.lines)];
    for (const text of said) assert.ok(!text.includes(token), 'it stands nowhere (S11)');
    const [, , signature = ''] = token.split('.');
    for (const text of said) assert.ok(!text.includes(signature), 'nor does a part of it');
    assert.match(output, /"credential sent"/);
    assert.equal(output.trim().split('\n').length, 1, 'one line');
  });

  it('is another one for functions that only ask: they get and patch the Lease, and may do no more (B.3)', async () => {
    const connection = await world.newConnector('ask').connect(world.registered());
    assert.equal(connection.kind, 'connected');
    const { access } = connection;
    assert.equal((await access.getWatcherLease()).kind, 'missing');
    assert.equal((await access.requestSnapshot('r-1')).kind, 'missing', 'allowed: there is none');
    const listed = await access.listPodMetadata('default', 'app=agent');
    assert.ok(listed.kind === 'unavailable');
    assert.match(listed.message, /rollcall-requests.* cannot list resource/);
  });

  it('lives as long as was asked for, four hours by default', async () => {
    const first = await world.credentials.readToken(WEST, 'act');
    assert.equal((first?.expiresAtMs ?? 0) - (first?.issuedAtMs ?? 0), 14_400_000);
  });

  it('sealed for one cluster is opened for no other, by the real key service (S6)', async () => {
    const kept = await world.credentials.readToken(WEST, 'act');
    assert.ok(kept !== undefined);
    for (const context of [
      { cluster: clusterId('east'), clusterUid: clusterUid(world.uid), purpose: 'act' },
      { cluster: WEST, clusterUid: clusterUid('u-2'), purpose: 'act' },
      { cluster: WEST, clusterUid: clusterUid(world.uid), purpose: 'ask' },
    ] as const) {
      const opened = await world.seal.open(kept.ciphertext, context);
      assert.ok(opened.kind === 'refused');
      assert.equal(opened.code, 'invalid-ciphertext');
    }
  });

  it('is refused when the cluster is registered with another renewer (S6)', async () => {
    const stored = await world.registry.readCluster(WEST);
    assert.ok(stored !== undefined);
    const authentication = { kind: 'bound-token', renewerRoleId: 'AROAOTHER' } as const;
    await world.registry.writeCluster({ ...stored, authentication }, stored.configVersion);
    const before = await world.itemText();
    assert.equal((await world.renew(renewerToken)).exitCode, 0);
    assert.equal((await world.deliver()).length, 2);
    assert.equal(world.metrics.sum('CredentialRefusals', 'wrong-sender'), 2);
    assert.equal(await world.itemText(), before);
    const back = { kind: 'bound-token', renewerRoleId: SENDER } as const;
    const changed = { ...stored, authentication: back };
    assert.equal(await world.registry.writeCluster(changed, stored.configVersion + 1), 'written');
  });

  for (const right of rightsOf(RULES)) {
    it(`is not renewed without ${right.verb} ${right.resource}, and the renewer names it (row 69)`, async () => {
      const name = `without-${right.verb}-${right.resource.replace('/', '-')}`;
      const token = await tokenWith(world.admin, name, withoutRight(RULES, right));
      const { exitCode, output } = await world.renew(token);
      assert.equal(exitCode, 1);
      assert.match(output, new RegExp(`cannot ${right.verb} resource`));
      assert.match(output, /no credential was sent/);
      assert.ok(!output.includes(token));
      assert.deepEqual(await world.deliver(), []);
    });
  }

  it('is all that the renewer can get: no other account’s, nothing else read or changed (row 69)', async () => {
    const { server, caPem } = world.registered();
    assert.ok(caPem !== undefined);
    const client = createApiClient({ server, caPem, token: renewerToken });
    const forbidden = [
      { method: 'POST', path: `${ACCOUNTS}/rollcall-renewer/token`, body: { spec: {} } },
      { method: 'GET', path: `${ACCOUNTS}/rollcall-functions` },
      { method: 'GET', path: '/api/v1/namespaces/rollcall-system/secrets' },
      { method: 'GET', path: '/api/v1/pods' },
      { method: 'GET', path: '/api/v1/namespaces/default' },
      { method: 'DELETE', path: `${ACCOUNTS}/rollcall-functions` },
    ] as const;
    for (const request of forbidden) {
      assert.equal((await client.request(request)).status, 403, request.path);
    }
    client.close();
  });

  it('ends with its service account: refused, and told; a new one works again', async () => {
    // It looked when there was none, and looks again five seconds later.
    const warm = await pollUntil({ deadlineMs: 120_000, description: 'a look' }, async () => {
      const connection = await connector.connect(world.registered());
      return connection.kind === 'connected' ? connection : undefined;
    });
    const readLease = async (): Promise<string> => {
      const lease = await warm.access.getWatcherLease();
      return lease.kind === 'unavailable' ? lease.message : lease.kind;
    };
    assert.equal(await readLease(), 'missing');
    await world.admin.delete(`${ACCOUNTS}/rollcall-functions`);
    // An API server remembers for some seconds whom it let in.
    const ended = { kind: 'no-token', fault: 'rejected' };
    const options = { deadlineMs: 120_000, description: 'the end of the token' };
    await pollUntil(options, async () => {
      const state = await stateOf(world.newConnector());
      return JSON.stringify(state) === JSON.stringify(ended) ? true : undefined;
    });
    assert.match(await readLease(), /^HTTP 401/);
    const gone = await world.renew(renewerToken);
    assert.equal(gone.exitCode, 1);
    assert.match(gone.output, /not found/);
    await applyFiles(world.admin, [repositoryPath('infra/functions/rbac.yaml')]);
    await renewWhenReady();
    assert.equal((await world.deliver()).length, 2);
    // Whoever was connected goes on with the new one, after the 401 that the old one gets.
    await pollUntil({ deadlineMs: 120_000, description: 'the new token' }, async () =>
      (await readLease()) === 'missing' ? true : undefined,
    );
    assert.equal(await stateOf(connector), 'connected');
  });

  it('is refused with settings that nobody filled in: exit code 2', async () => {
    const settings = { ROLLCALL_CREDENTIALS_KEY_ARN: '<arn of the credentials key>' };
    const { exitCode, output } = await world.renew(renewerToken, settings);
    assert.equal(exitCode, 2);
    assert.match(output, /ROLLCALL_CREDENTIALS_KEY_ARN still is a placeholder/);
  });
});
