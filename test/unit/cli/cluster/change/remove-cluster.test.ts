/** `rollcall cluster remove`: forgets a cluster and leaves it working. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { clusterId, clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import { emptyState } from '../../../../../src/core/model/state.ts';
import { CommandWorld } from '../../../../support/command-world.ts';
import { operatorPlace } from '../../../../support/operator-place.ts';
import { metaOf, registrationOf, sliceOf, stampAt } from '../../../../support/store-suite.ts';

const ID = 'prod';
const UID = clusterUid(`uid-of-${ID}`);
const ROOT = new URL('../../../../../', import.meta.url).pathname;

async function worldOf(changes: Partial<ClusterRegistration> = {}): Promise<CommandWorld> {
  const world = new CommandWorld();
  const { registry, credentials } = world.stores();
  await registry.writeCluster({ ...registrationOf(ID), ...changes }, 0);
  await credentials.writeToken(clusterId(ID), 'act', {
    clusterUid: UID,
    ciphertext: 'AAAA',
    issuedAtMs: 1,
    expiresAtMs: 2,
  });
  return world;
}

const eks = { kind: 'eks', clusterName: 'prod', region: 'eu-west-1' } as const;
const takenOver: Partial<ClusterRegistration> = {
  mode: 'takeover',
  authentication: eks,
  takeoverProbedAtMs: 5,
  sentinel: { uid: uid('probe-1'), createdAtMs: 4 },
};

async function isForgotten(world: CommandWorld): Promise<boolean> {
  const { registry, credentials } = world.stores();
  const token = await credentials.readToken(clusterId(ID), 'act');
  return (await registry.readCluster(clusterId(ID))) === undefined && token === undefined;
}

describe('rollcall cluster remove', () => {
  it('has an entry in what happened to the stack, where the cluster is none any more', async () => {
    const world = await worldOf();
    (await world.run(['cluster', 'remove', ID])).expectExit(0);
    const { stdout } = (await world.run(['log'])).expectExit(0);
    assert.match(stdout, /cluster remove prod by .*Admin\/ann/);
  });

  it('forgets an observed cluster: registration, token, view; and says what is left', async () => {
    const world = await worldOf();
    const { view } = world.stores();
    await view.writeMeta({ ...metaOf(UID), isComplete: true });
    await view.writeSlice(
      { clusterUid: UID, set: 'nodes', index: 0 },
      sliceOf(stampAt(1), 1),
      undefined,
    );
    const ref = { clusterUid: UID, uid: uid('u1') };
    await view.writeName(UID, { namespace: 'ops', name: 'logs', uid: ref.uid, stamp: stampAt(1) });
    await view.writeState(ref, emptyState(1));
    await view.writeSlice(
      { clusterUid: UID, set: 'pods/u1', index: 3 },
      sliceOf(stampAt(1), 1),
      undefined,
    );
    const run = (await world.run(['cluster', 'remove', ID])).expectExit(0);
    assert.match(run.stdout, /The controller that looked after its DaemonSets still does/);
    assert.match(run.stdout, /kubectl delete namespace rollcall-system --ignore-not-found/);
    assert.match(run.stdout, /the stack rollcall-dev-cluster-prod/);
    assert.ok(await isForgotten(world));
    const meta = await view.readMeta(UID);
    assert.equal(meta?.isComplete, false, 'only a later snapshot is believed');
    assert.equal(await view.readState(ref), undefined);
    assert.deepEqual((await view.listNames(UID, { limit: 9 })).names, []);
    assert.equal(
      await view.readSlice({ clusterUid: UID, set: 'pods/u1', index: 3 }),
      undefined,
      'whatever the number of slices',
    );
    (await world.run(['cluster', 'remove', ID])).expectExit(1);
  });

  it('keeps the view when told to', async () => {
    const world = await worldOf();
    const { view } = world.stores();
    await view.writeMeta({ ...metaOf(UID), isComplete: true });
    (await world.run(['cluster', 'remove', ID, '--keep-view'])).expectExit(0);
    assert.equal((await view.readMeta(UID))?.isComplete, true);
  });

  it('refuses in takeover until it is handed back (exit 3)', async () => {
    const world = await worldOf(takenOver);
    const run = (await world.run(['cluster', 'remove', ID])).expectExit(3);
    assert.match(run.stderr, /no controller looks after its DaemonSets/);
    assert.equal(await isForgotten(world), false);
    (await world.run(['cluster', 'remove', ID, '--release', '--force'])).expectExit(2);
  });

  it('hands back first with --release', async () => {
    const world = await worldOf(takenOver);
    const place = operatorPlace(UID, world.clock);
    world.cluster = place;
    const run = (await world.run(['cluster', 'remove', ID, '--release', '--json'])).expectExit(0);
    const document = run.document();
    assert.equal(document['wasTakenOver'], true);
    assert.match(JSON.stringify(document['notes']), /It was handed back/);
    assert.match(JSON.stringify(document['leftInCluster']), /delete-access-entry/);
    assert.ok(await isForgotten(world));
    assert.equal(place.access.standing, undefined);
  });

  it('does not remove what could not be handed back', async () => {
    const world = await worldOf(takenOver);
    const place = operatorPlace(UID, world.clock);
    place.access.listAnswer = { kind: 'unavailable', message: 'gone', isRefused: false };
    world.cluster = place;
    const run = (await world.run(['cluster', 'remove', ID, '--release'])).expectExit(1);
    assert.match(run.stderr, /step clean-up/);
    assert.equal(await isForgotten(world), false);
  });

  it('forgets a lost cluster with --force, and says that nobody looks after it', async () => {
    const world = await worldOf(takenOver);
    const run = (await world.run(['cluster', 'remove', ID, '--force'])).expectExit(0);
    assert.match(run.stdout, /No controller looks after its DaemonSets now/);
    assert.ok(await isForgotten(world));
  });

  it('goes on where it ended before, and does not remove what was changed meanwhile', async () => {
    const world = await worldOf();
    const { registry, credentials } = world.stores();
    registry.hooks = {
      before: ({ operation }) => {
        if (operation !== 'removeCluster') return;
        registry.hooks = {};
        registry.seed({ ...registrationOf(ID), isFrozen: true, configVersion: 2 });
      },
    };
    const lost = (await world.run(['cluster', 'remove', ID])).expectExit(1);
    assert.match(lost.stderr, /changed by another operator meanwhile/);
    const failing = credentials.removeTokens.bind(credentials);
    credentials.removeTokens = () => Promise.reject(new Error('throttled'));
    (await world.run(['cluster', 'remove', ID])).expectExit(1);
    credentials.removeTokens = failing;
    const run = (await world.run(['cluster', 'remove', ID])).expectExit(0);
    assert.match(run.stdout, /What an earlier removal had left was removed/);
    assert.ok(await isForgotten(world));
  });

  it('forgets a cluster in copilot without a hand-back, and says what stays', async () => {
    const world = await worldOf({ mode: 'copilot', authentication: eks });
    const run = (await world.run(['cluster', 'remove', ID])).expectExit(0);
    assert.match(run.stdout, /built-in controller looks after its DaemonSets, as before/);
    assert.match(run.stdout, /OnDelete stay so/);
    assert.ok(await isForgotten(world));
  });

  it('names every cluster-wide object that the manifests make', async () => {
    const world = await worldOf();
    const { stdout } = await world.run(['cluster', 'remove', ID]);
    const kinds = /^(ClusterRole|ClusterRoleBinding|ValidatingAdmissionPolicy(Binding)?)$/;
    const files = globSync('infra/{watcher,renewer,functions,admission,copilot}/**/*.yaml', {
      cwd: ROOT,
    });
    const objects = files.flatMap((file) =>
      parseAllDocuments(readFileSync(`${ROOT}${file}`, 'utf8')).map(
        (document) =>
          document.toJS() as {
            readonly kind?: string;
            readonly metadata?: { readonly name: string };
          } | null,
      ),
    );
    const wide = objects.filter((object) => kinds.test(object?.kind ?? ''));
    assert.ok(wide.length > 5);
    for (const object of wide) {
      const pattern = new RegExp(`${object?.kind ?? ''}.* ${object?.metadata?.name ?? ''} `, 'i');
      assert.match(stdout, pattern);
    }
  });
});
