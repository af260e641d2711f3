/** `rollcall cluster reset`: a rebuilt cluster under its old name (row 90). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import { CommandWorld } from '../../../../support/command-world.ts';
import { operatorPlace } from '../../../../support/operator-place.ts';
import { answerJson, startScriptedApiServer } from '../../../../support/scripted-api-server.ts';
import { registrationOf } from '../../../../support/store-suite.ts';

const ID = 'edge-7';
const REBUILT = '01234567-89ab-cdef-0123-456789abcdef';

const takenOver: Partial<ClusterRegistration> = {
  mode: 'takeover',
  isFrozen: true,
  labels: { ring: '1' },
  takeoverProbedAtMs: 5,
  sentinel: { uid: uid('probe-1'), createdAtMs: 4 },
  rival: { seenAtMs: 6, evidence: 'its status' },
  authentication: { kind: 'bound-token', renewerRoleId: 'AROARENEWER' },
};

async function sceneOf(
  changes: Partial<ClusterRegistration> = {},
  stage = 'dev',
): Promise<{
  readonly world: CommandWorld;
  readonly stored: () => Promise<ClusterRegistration | undefined>;
}> {
  const world = new CommandWorld();
  const { registry } = world.stores(stage);
  await registry.writeCluster({ ...registrationOf(ID), ...changes }, 0);
  return { world, stored: () => registry.readCluster(clusterId(ID)) };
}

describe('rollcall cluster reset', () => {
  it('asks for confirmation, then forgets what was true of the old cluster (row 90)', async () => {
    const { world, stored } = await sceneOf(takenOver);
    world.cluster = operatorPlace(REBUILT, world.clock);
    const token = {
      clusterUid: clusterUid(`uid-of-${ID}`),
      ciphertext: 'AAAA',
      issuedAtMs: 1,
      expiresAtMs: 2,
    };
    const { credentials } = world.stores();
    await credentials.writeToken(clusterId(ID), 'act', token);
    const argv = ['cluster', 'reset', ID, '--context', 'edge-7'];
    const asked = (await world.run(argv)).expectExit(3);
    assert.match(asked.stderr, /is another cluster now: 01234567.* instead of uid-of-edge-7/);
    assert.equal((await stored())?.configVersion, 1);

    const run = (await world.run([...argv, '--yes'])).expectExit(0);
    assert.match(run.stdout, /clusterUid +uid-of-edge-7 +01234567/);
    assert.match(run.stdout, /enter takeover anew, with its probe/);
    assert.deepEqual(await stored(), {
      ...registrationOf(ID),
      clusterUid: REBUILT,
      labels: { ring: '1' },
      isFrozen: true,
      authentication: takenOver.authentication,
      configVersion: 2,
    });
    assert.equal(
      await credentials.readToken(clusterId(ID), 'act'),
      undefined,
      'the old token is gone',
    );
    const again = (await world.run([...argv, '--yes'])).expectExit(0);
    assert.match(again.stdout, /nothing to reset/);
  });

  it('takes the new certificate authority where the kubeconfig names the same endpoint', async () => {
    const caPem = '-----BEGIN CERTIFICATE-----\nnew';
    for (const server of ['https://cluster.example', 'https://other.example']) {
      const { world, stored } = await sceneOf({ caPem: 'old' });
      world.cluster = { ...operatorPlace(REBUILT, world.clock), server, caPem };
      (await world.run(['cluster', 'reset', ID, '--kubeconfig', 'x', '--yes'])).expectExit(0);
      assert.equal(
        (await stored())?.caPem,
        server === 'https://cluster.example' ? caPem : 'old',
        server,
      );
    }
  });

  it('asks the registered endpoint with the registered credential when told nothing else', async () => {
    const server = await startScriptedApiServer();
    server.answerWith(({ path, headers }, response) => {
      assert.equal(path, '/api/v1/namespaces/kube-system');
      assert.equal(headers.authorization, 'Bearer hunter2');
      const metadata = { name: 'kube-system', uid: REBUILT, resourceVersion: '1' };
      answerJson(response, { status: 200, body: { kind: 'Namespace', metadata } });
    });
    const { url, caPem } = server;
    const authentication = { kind: 'bearer', token: 'hunter2' } as const;
    const { world, stored } = await sceneOf({ server: url, caPem, authentication }, 'local');
    const argv = ['cluster', 'reset', ID, '--yes', '--stage', 'local'];
    const run = (await world.run(argv)).expectExit(0);
    assert.equal((await stored())?.clusterUid, REBUILT);
    assert.doesNotMatch(run.stdout + run.stderr, /hunter2/);
    await server.close();
    const gone = (await world.run(argv)).expectExit(1);
    assert.match(gone.stderr, /could not be asked who it is now/);
  });

  it('says what to pass where there is no credential, or the endpoint is refused (S12)', async () => {
    const without = await sceneOf();
    const run = (await without.world.run(['cluster', 'reset', ID, '--yes'])).expectExit(1);
    assert.match(run.stderr, /Pass --kubeconfig or --context of the rebuilt cluster/);
    const authentication = { kind: 'bearer', token: 'hunter2' } as const;
    const looped = await sceneOf({ server: 'https://127.0.0.1:6443', authentication });
    const refused = (await looped.world.run(['cluster', 'reset', ID, '--yes'])).expectExit(1);
    assert.match(refused.stderr, /server is refused: loopback/);
  });

  it('refuses to forget a takeover of a cluster that is still itself', async () => {
    const { world, stored } = await sceneOf(takenOver);
    const argv = ['cluster', 'reset', ID, '--cluster-uid', `uid-of-${ID}`, '--yes'];
    const run = (await world.run(argv)).expectExit(3);
    assert.match(run.stderr, /set edge-7 --mode observe/);
    assert.equal((await stored())?.mode, 'takeover');
  });

  it('gives no cluster two registrations, and changes nothing with --dry-run (S6)', async () => {
    const { world, stored } = await sceneOf();
    await world.stores().registry.writeCluster(registrationOf('twin'), 0);
    const argv = ['cluster', 'reset', ID, '--cluster-uid', 'uid-of-twin'];
    (await world.run([...argv, '--yes'])).expectExit(3);
    (await world.run([...argv, '--dry-run'])).expectExit(0);
    (await world.run(['cluster', 'reset', ID, '--cluster-uid', 'no uid'])).expectExit(2);
    assert.equal((await stored())?.configVersion, 1);
  });
});
