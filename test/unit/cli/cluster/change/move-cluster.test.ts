/** `rollcall cluster move`: two stacks, one watcher; what is told and done. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import type { Json } from '@rollcall/base/json.ts';
import { CommandWorld } from '../../../../support/command-world.ts';
import { operatorPlace } from '../../../../support/operator-place.ts';
import { metaOf, registrationOf, stampAt } from '../../../../support/store-suite.ts';

const ID = 'prod';
const UID = clusterUid(`uid-of-${ID}`);
const argv = ['cluster', 'move', ID, '--to-stage', 'canary'];

/** A watcher that follows as soon as it is told, and is heard only by a stack that knows the cluster. */
async function worldOf(changes: Partial<ClusterRegistration> = {}): Promise<CommandWorld> {
  const world = new CommandWorld();
  await world.stores().registry.writeCluster({ ...registrationOf(ID), ...changes }, 0);
  await world.stores().view.writeMeta({ ...metaOf(UID), isComplete: true });
  const name = { namespace: 'ops', name: 'logs', uid: uid('u1'), stamp: stampAt(1) };
  world.onTick = async () => {
    const { registry, view } = world.stores('canary');
    if ((await registry.readCluster(clusterId(ID))) === undefined) return;
    const meta = (await view.readMeta(UID)) ?? metaOf(UID);
    if (meta.isComplete) return;
    await view.writeName(UID, name);
    await view.writeMeta({ ...meta, isComplete: true });
  };
  return world;
}

describe('rollcall cluster move', () => {
  it('moves, prints the one change to the watcher, and wakes every key in the new stack', async () => {
    const world = await worldOf();
    const run = (await world.run(argv)).expectExit(0);
    assert.match(run.stdout, /^prod is in canary\.eu-west-1 now; no pod was touched\.$/m);
    assert.match(
      run.stderr,
      /kubectl -n rollcall-system patch configmap rollcall-watcher --type merge -p '\{"data":\{"ROLLCALL_EVENTS_QUEUE_URL":"https:\/\/sqs\.eu-west-1\.amazonaws\.com\/1\/canary-EventsQueueUrl"/,
    );
    assert.match(run.stderr, /patch deployment rollcall-watcher/);
    assert.equal(await world.stores().registry.readCluster(clusterId(ID)), undefined);
    assert.deepEqual(
      world.stores('canary').hints.hints.map(({ key }) => key.name),
      ['logs'],
    );
    const again = (await world.run([...argv, '--json'])).expectExit(0).document();
    assert.equal(again['isMoved'], false);
  });

  it('changes the watcher itself with a kubeconfig, each object once', async () => {
    const authentication = { kind: 'bound-token', renewerRoleId: 'AROAOLD' } as const;
    const world = await worldOf({ authentication });
    const { credentials } = world.stores('canary');
    const requests: { readonly method: string; readonly path: string; readonly body?: string }[] =
      [];
    const place = operatorPlace(UID, world.clock);
    const cronJob = { spec: { jobTemplate: { spec: { template: { spec: {} } } } } };
    world.cluster = {
      ...place,
      transport: {
        send: async (request) => {
          requests.push(request);
          if (request.method === 'POST') {
            await credentials.writeToken(clusterId(ID), 'act', {
              clusterUid: UID,
              ciphertext: 'AAAA',
              issuedAtMs: 1,
              expiresAtMs: 2,
            });
          }
          const body: Json = request.method === 'GET' ? cronJob : {};
          return { kind: 'answered', status: 200, body };
        },
      },
    };
    const roles = ['--role-id', 'AROANEW', '--role-arn', 'arn:aws:iam::1:role/rollcall/canary/w'];
    const renewer = ['--renewer-role-id', 'AROARENEWER'];
    const all = [...argv, ...roles, ...renewer, '--context', 'prod'];
    (await world.run(all)).expectExit(0);
    const base = '/api/v1/namespaces/rollcall-system';
    assert.deepEqual(
      requests.map(({ method, path }) => `${method} ${path.replace(base, '…')}`),
      [
        'PATCH …/configmaps/rollcall-watcher',
        'PATCH …/serviceaccounts/rollcall-watcher',
        'PATCH …/configmaps/rollcall-renewer',
        'PATCH /apis/apps/v1/namespaces/rollcall-system/deployments/rollcall-watcher',
        'GET /apis/batch/v1/namespaces/rollcall-system/cronjobs/rollcall-renewer',
        'POST /apis/batch/v1/namespaces/rollcall-system/jobs',
      ],
    );
    const dataOf = (index: number): unknown =>
      (JSON.parse(requests[index]?.body ?? '{}') as { readonly data?: unknown }).data;
    const { outputs, aws } = world.open({ stage: 'canary' });
    assert.deepEqual(dataOf(0), {
      ROLLCALL_EVENTS_QUEUE_URL: outputs.EventsQueueUrl,
      AWS_REGION: aws.region,
    });
    assert.deepEqual(dataOf(2), {
      ROLLCALL_CREDENTIALS_QUEUE_URL: outputs.CredentialsQueueUrl,
      ROLLCALL_CREDENTIALS_KEY_ARN: outputs.CredentialsKeyArn,
      AWS_REGION: aws.region,
    });
    const moved = await world.stores('canary').registry.readCluster(clusterId(ID));
    assert.equal(moved?.senderRoleId, 'AROANEW');
    assert.deepEqual(moved.authentication, { kind: 'bound-token', renewerRoleId: 'AROARENEWER' });
  });

  it('stays frozen in both when the API server refuses, and goes on later', async () => {
    const world = await worldOf();
    const place = operatorPlace(UID, world.clock);
    world.cluster = {
      ...place,
      transport: {
        send: () =>
          Promise.resolve({ kind: 'answered', status: 403, body: { message: 'forbidden' } }),
      },
    };
    const run = (await world.run([...argv, '--context', 'prod'])).expectExit(1);
    assert.match(run.stderr, /could not be turned: patching configmap rollcall-watcher: forbidden/);
    for (const stage of ['dev', 'canary']) {
      const one = await world.stores(stage).registry.readCluster(clusterId(ID));
      assert.equal(one?.isFrozen, true, stage);
    }
    (await world.run(argv)).expectExit(0);
  });

  it('leaves with 4 when no view comes, and is called back', async () => {
    const world = await worldOf();
    const { onTick } = world;
    world.onTick = () => undefined;
    const run = (await world.run([...argv, '--timeout', '60'])).expectExit(4);
    assert.match(run.stderr, /It is frozen in both stacks; its pods run on\./);
    assert.match(run.stderr, /to go back, repeat it with --back/);
    world.onTick = async () => {
      const { view } = world.stores();
      const meta = await view.readMeta(UID);
      if (meta?.isComplete === false) await view.writeMeta({ ...meta, isComplete: true });
    };
    const back = (await world.run([...argv, '--back'])).expectExit(0);
    assert.match(back.stdout, /^prod is in dev\.eu-west-1 now/);
    assert.equal((await world.stores().registry.readCluster(clusterId(ID)))?.isFrozen, false);
    (await world.run([...argv, '--back'])).expectExit(3);
    world.onTick = onTick;
    (await world.run(argv)).expectExit(0);
    const arrived = (await world.run([...argv, '--back'])).expectExit(3);
    assert.match(arrived.stderr, /Move it in the other direction/);
  });

  it('does not turn the watcher of another cluster (S6)', async () => {
    const world = await worldOf();
    world.cluster = operatorPlace('another', world.clock);
    (await world.run([...argv, '--kubeconfig', 'x'])).expectExit(3);
  });

  it('needs two stacks', async () => {
    const world = await worldOf();
    (await world.run(['cluster', 'move', ID])).expectExit(2);
    (await world.run(['cluster', 'move', ID, '--to-stage', 'dev'])).expectExit(2);
    (await world.run([...argv, '--timeout', '0'])).expectExit(2);
    (await world.run([...argv, '--role-id', 'arn:x'])).expectExit(2);
    (await world.run(['cluster', 'move', 'none', '--to-stage', 'canary'])).expectExit(1);
    const region = ['--to-region', 'eu-central-1'];
    (await world.run(['cluster', 'move', 'none', '--to-stage', 'dev', ...region])).expectExit(1);
  });
});
