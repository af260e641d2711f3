/** `rollcall cluster set`: edits, refusals, modes. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { clusterId, clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import { CommandWorld } from '../../../../support/command-world.ts';
import { operatorPlace, type OperatorPlace } from '../../../../support/operator-place.ts';
import { metaOf, registrationOf, stampAt } from '../../../../support/store-suite.ts';

const ID = 'prod-eu-1';
const eks = { kind: 'eks', clusterName: 'prod', region: 'eu-west-1' } as const;

interface Scene {
  readonly world: CommandWorld;
  readonly place: OperatorPlace;
  readonly stored: () => Promise<ClusterRegistration | undefined>;
}

async function sceneOf(changes: Partial<ClusterRegistration> = {}): Promise<Scene> {
  const world = new CommandWorld();
  const { registry } = world.stores();
  const registration = { ...registrationOf(ID), authentication: eks, ...changes };
  await registry.writeCluster(registration, 0);
  if (changes.rival !== undefined) await registry.noteRival(registration, changes.rival);
  const place = operatorPlace(registration.clusterUid, world.clock);
  world.cluster = place;
  return { world, place, stored: () => registry.readCluster(clusterId(ID)) };
}

const takenOver: Partial<ClusterRegistration> = {
  mode: 'takeover',
  takeoverProbedAtMs: 5,
  sentinel: { uid: uid('probe-1'), createdAtMs: 4 },
};

describe('rollcall cluster set: edits', () => {
  it('shows before and after, says so when it is so already, and freezes nothing', async () => {
    const { world, stored } = await sceneOf();
    const argv = ['cluster', 'set', ID, '--label', 'ring=2'];
    const run = (await world.run(argv)).expectExit(0);
    assert.equal(
      run.stdout,
      'prod-eu-1 was changed:\nFIELD       BEFORE  AFTER\nlabel ring  -       2\n',
    );
    const again = (await world.run(argv)).expectExit(0);
    assert.equal(again.stdout, 'prod-eu-1: nothing to change, it is so already.\n');
    assert.equal((await stored())?.configVersion, 2);
    for (const option of ['--freeze', '--unfreeze']) {
      (await world.run(['cluster', 'set', ID, option])).expectExit(2);
    }
  });

  it('sets a start-up taint, keeps what of it is not given, and takes it away', async () => {
    const { world, stored } = await sceneOf();
    const set = ['cluster', 'set', ID];
    const taint = 'example.com/not-ready:NoSchedule';
    const run = (await world.run([...set, '--start-up-taint', taint])).expectExit(0);
    assert.match(run.stdout, /startUp {2}- {7}example\.com\/not-ready:NoSchedule, until labelled/);
    (await world.run([...set, '--start-up-counts', 'all'])).expectExit(0);
    (await world.run([...set, '--start-up-wait', '60'])).expectExit(0);
    assert.deepEqual((await stored())?.startUp, {
      taint: { key: 'example.com/not-ready', effect: 'NoSchedule' },
      counts: 'all',
      waitBoundMs: 60_000,
    });
    const shown = (await world.run(['cluster', 'show', ID])).expectExit(0);
    assert.match(shown.stdout, /start-up taint: +example\.com\/not-ready:NoSchedule, until all/);
    const condition = 'example.com/AgentsReady';
    const instead = (await world.run([...set, '--start-up-condition', condition])).expectExit(0);
    assert.match(instead.stdout, /condition example\.com\/AgentsReady once all DaemonSets there/);
    assert.equal((await stored())?.startUp?.condition, condition);
    (await world.run([...set, '--start-up-taint', taint])).expectExit(0);
    assert.equal((await stored())?.startUp?.condition, undefined);
    (await world.run([...set, '--without-start-up'])).expectExit(0);
    assert.equal((await stored())?.startUp, undefined);
  });

  it('refuses what is no start-up taint, and a part of a setting that is not there', async () => {
    const { world, stored } = await sceneOf();
    const set = ['cluster', 'set', ID];
    for (const wrong of ['agents', 'node.kubernetes.io/not-ready:NoSchedule']) {
      const run = (await world.run([...set, '--start-up-taint', wrong])).expectExit(2);
      assert.match(run.stderr, /is no start-up taint/);
    }
    for (const wrong of ['Ready', 'node.kubernetes.io/Ready', 'readiness.k8s.io/Agents']) {
      const run = (await world.run([...set, '--start-up-condition', wrong])).expectExit(2);
      assert.match(run.stderr, /is no start-up condition/);
    }
    const alone = (await world.run([...set, '--start-up-counts', 'all'])).expectExit(2);
    assert.match(alone.stderr, /has no start-up taint yet/);
    (await world.run([...set, '--start-up-wait', '5', '--without-start-up'])).expectExit(2);
    assert.equal((await stored())?.configVersion, 1);
  });

  it('changes labels, endpoint, ranges and roles in one write', async () => {
    const { world, stored } = await sceneOf();
    const argv = ['cluster', 'set', ID, '--label', 'ring=2', '--label', 'stage-', '--json'];
    argv.push('--server', 'https://10.1.2.3:6443', '--private-range', '10.1.0.0/16');
    argv.push('--role-id', 'AROANEW', '--renewer-role-id', 'AROARENEWER');
    const { changes, configVersion } = (await world.run(argv)).expectExit(0).document() as {
      readonly changes: readonly { readonly field: string; readonly after: string }[];
      readonly configVersion: number;
    };
    assert.deepEqual(
      changes.map(({ field, after }) => `${field}: ${after}`),
      [
        'server: https://10.1.2.3:6443',
        'privateRanges: 10.1.0.0/16',
        'senderRoleId: AROANEW',
        'authentication: bound-token of AROARENEWER',
        'label stage: ',
        'label ring: 2',
      ],
    );
    assert.equal(configVersion, 2);
    const { labels, egress, senderRoleId } = (await stored()) ?? {};
    assert.deepEqual(labels, { ring: '2' });
    assert.deepEqual(egress, { privateRanges: ['10.1.0.0/16'] });
    assert.equal(senderRoleId, 'AROANEW');
    (await world.run(['cluster', 'set', ID, '--public-only'])).expectExit(0);
    assert.equal((await stored())?.egress, undefined);
  });

  it('takes a certificate authority from a file, and never a private key', async () => {
    const { world, stored } = await sceneOf();
    const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-ca-'));
    const file = path.join(directory, 'ca.pem');
    const argv = ['cluster', 'set', ID, '--ca-file', file];
    (await world.run(argv)).expectExit(2);
    await writeFile(file, '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n');
    (await world.run(argv)).expectExit(0);
    assert.match((await stored())?.caPem ?? '', /MII/);
    await writeFile(file, '-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n');
    (await world.run(argv)).expectExit(2);
    (await world.run(['cluster', 'set', ID, '--system-ca'])).expectExit(0);
    assert.equal((await stored())?.caPem, undefined);
    await rm(directory, { recursive: true });
  });

  it('changes nothing with --dry-run', async () => {
    const { world, stored } = await sceneOf();
    const argv = ['cluster', 'set', ID, '--label', 'a=b', '--mode', 'takeover', '--dry-run'];
    const run = (await world.run(argv)).expectExit(0);
    assert.match(run.stdout, /would be changed \(dry run\):/);
    assert.match(run.stdout, /mode +observe +takeover/);
    assert.equal((await stored())?.configVersion, 1);
  });

  it('judges takeover by the credential that the command gives, or takes away', async () => {
    const without = await sceneOf({ authentication: { kind: 'none' } });
    const given = ['--eks-cluster', 'prod', '--eks-region', 'eu-west-1', '--mode', 'takeover'];
    (await without.world.run(['cluster', 'set', ID, ...given, '--dry-run'])).expectExit(0);
    const managed = await sceneOf(takenOver);
    const run = await managed.world.run(['cluster', 'set', ID, '--without-credential']);
    assert.match(run.expectExit(3).stderr, /has no credential/);
    assert.equal((await managed.stored())?.configVersion, 1);
  });

  it('overwrites nothing that was changed meanwhile', async () => {
    const { world, stored } = await sceneOf();
    const { registry } = world.stores();
    let isDisturbed = false;
    registry.hooks = {
      after: async ({ operation }) => {
        if (operation !== 'readCluster' || isDisturbed) return;
        isDisturbed = true;
        const current = await stored();
        if (current !== undefined) registry.seed({ ...current, configVersion: 9 });
      },
    };
    const run = (await world.run(['cluster', 'set', ID, '--label', 'a=b'])).expectExit(1);
    assert.match(run.stderr, /was changed by another operator meanwhile \(it was at version 1\)/);
    assert.deepEqual((await stored())?.labels, { stage: 'test' });
  });

  it('refuses what cannot be, before anything is opened', async () => {
    const { world, stored } = await sceneOf();
    const refused = [
      [],
      ['--label', 'a'],
      ['--label', '__proto__=1'],
      ['--label', 'rollcall.dev/ring-'],
      ['--label', 'a=b c'],
      ['--server', 'http://plain.example'],
      ['--private-range', '8.8.8.0/24'],
      ['--private-range', '127.0.0.0/8'],
      ['--private-range', '10.0.0.0/8', '--public-only'],
      ['--role-id', 'arn:aws:iam::1:role/x'],
      ['--eks-cluster', 'prod'],
      ['--eks-cluster', 'prod', '--eks-region', 'eu-west-1', '--without-credential'],
      ['--mode', 'autopilot'],
    ];
    for (const argv of refused) {
      (await world.run(['cluster', 'set', ID, ...argv])).expectExit(2);
    }
    (await world.run(['cluster', 'set', '../x', '--public-only'])).expectExit(2);
    (await world.run(['cluster', 'set', 'unknown', '--public-only'])).expectExit(1);
    assert.equal((await stored())?.configVersion, 1);
  });
});

describe('rollcall cluster set: modes', () => {
  it('enters takeover through the probe, and says what happens now', async () => {
    const { world, place, stored } = await sceneOf();
    await world.stores().view.writeMeta({ ...metaOf(`uid-of-${ID}`), isComplete: true });
    const run = (await world.run(['cluster', 'set', ID, '--mode', 'takeover'])).expectExit(0);
    assert.match(run.stdout, /mode +observe +takeover/);
    assert.match(run.stdout, /Leave the built-in loop off/);
    const entered = await stored();
    assert.equal(entered?.mode, 'takeover');
    assert.equal(entered.sentinel?.uid, place.access.standing?.metadata.uid);
    assert.equal(place.snapshotRequests.length, 1);
    assert.equal(place.closedCount, 1);
  });

  it('refuses takeover while the built-in loop is on (exit 3)', async () => {
    const { world, place, stored } = await sceneOf();
    place.access.observesAfterMs = 3000;
    const run = (await world.run(['cluster', 'set', ID, '--mode', 'takeover'])).expectExit(3);
    assert.match(run.stderr, /its built-in DaemonSet loop is on/);
    assert.equal((await stored())?.mode, 'observe');
    assert.equal(place.access.standing, undefined, 'the probe is gone');
  });

  it('refuses takeover without a credential, and by the kubeconfig of another cluster (S6)', async () => {
    const without = await sceneOf({ authentication: { kind: 'none' } });
    const argv = ['cluster', 'set', ID, '--mode', 'takeover'];
    (await without.world.run(argv)).expectExit(3);
    const other = await sceneOf();
    other.world.cluster = operatorPlace('another-uid', other.world.clock);
    const run = (await other.world.run(argv)).expectExit(3);
    assert.match(run.stderr, /another cluster \(another-uid\)/);
    assert.equal((await other.stored())?.configVersion, 1);
  });

  it('enters copilot at once and without the cluster: nothing is probed, every DaemonSet is looked at', async () => {
    const { world, stored } = await sceneOf();
    const { view, hints } = world.stores();
    const name = { namespace: 'ops', name: 'cni', uid: uid('u1'), stamp: stampAt(1) };
    await view.writeName(clusterUid(`uid-of-${ID}`), name);
    const run = (await world.run(['cluster', 'set', ID, '--mode', 'copilot'])).expectExit(0);
    assert.match(run.stdout, /nothing was restarted/);
    assert.match(run.stdout, /OnDelete and the annotation rollcall\.dev\/rollout/);
    const after = await stored();
    assert.equal(after?.mode, 'copilot');
    assert.equal(after.sentinel, undefined);
    assert.equal(after.configVersion, 2);
    assert.equal(hints.hints.length, 1);
  });

  it('enters no copilot without a credential (exit 3)', async () => {
    const { world, stored } = await sceneOf({ authentication: { kind: 'none' } });
    const run = (await world.run(['cluster', 'set', ID, '--mode', 'copilot'])).expectExit(3);
    assert.match(run.stderr, /nothing could be done there in copilot/);
    assert.equal((await stored())?.mode, 'observe');
  });

  it('leaves copilot without the cluster, and says what stays and what would follow from changing it', async () => {
    const { world, place, stored } = await sceneOf({ mode: 'copilot' });
    const run = (await world.run(['cluster', 'set', ID, '--mode', 'observe'])).expectExit(0);
    assert.match(run.stdout, /every pod was left as it is/);
    assert.match(run.stdout, /OnDelete stay so.*replaces at once, within maxUnavailable/);
    assert.doesNotMatch(run.stdout, /sentinel is still there|-daemonset-controller/);
    assert.equal((await stored())?.mode, 'observe');
    assert.equal((await stored())?.isFrozen, false);
    assert.equal(place.closedCount, 0, 'it was never opened');
  });

  it('goes from takeover to copilot by the hand-back: no sentinel stays', async () => {
    const { world, stored } = await sceneOf(takenOver);
    const run = (await world.run(['cluster', 'set', ID, '--mode', 'copilot'])).expectExit(0);
    assert.match(run.stdout, /until the built-in controller is switched on/);
    assert.doesNotMatch(run.stdout, /built-in controller goes on in|Nothing of Rollcall acts/);
    const after = await stored();
    assert.equal(after?.mode, 'copilot');
    assert.equal(after.sentinel, undefined);
    assert.equal(after.takeoverProbedAtMs, undefined);
  });

  it('enters takeover anew after a rival, and forgets it', async () => {
    const rival = { seenAtMs: 7, evidence: 'its status' };
    const { world, stored } = await sceneOf({ ...takenOver, rival });
    (await world.run(['cluster', 'set', ID, '--mode', 'takeover'])).expectExit(0);
    assert.equal((await stored())?.rival, undefined);
    const again = (await world.run(['cluster', 'set', ID, '--mode', 'takeover'])).expectExit(0);
    assert.match(again.stdout, /nothing to change/, 'no probe without need');
  });

  it('leaves takeover by the hand-back: waits, removes the sentinel, says who takes care now', async () => {
    const { world, place, stored } = await sceneOf();
    (await world.run(['cluster', 'set', ID, '--mode', 'takeover'])).expectExit(0);
    const startedMs = world.clock.nowMs();
    const run = (await world.run(['cluster', 'set', ID, '--mode', 'observe'])).expectExit(0);
    assert.ok(world.clock.nowMs() - startedMs >= 75_000, 'a turn of fleet and twice a request');
    assert.match(run.stdout, /every pod was left as it is/);
    const left = await stored();
    assert.equal(left?.mode, 'observe');
    assert.equal(left.isFrozen, false);
    assert.equal(left.sentinel, undefined);
    assert.equal(place.access.standing, undefined);
  });

  it('leaves takeover without the cluster, and says what is left there', async () => {
    const { world, stored } = await sceneOf(takenOver);
    world.cluster = undefined;
    const argv = ['cluster', 'set', ID, '--mode', 'observe'];
    (await world.run(argv)).expectExit(2);
    assert.equal((await stored())?.mode, 'takeover');
    const run = (await world.run([...argv, '--without-cluster'])).expectExit(0);
    assert.match(run.stdout, /kubectl -n rollcall-system delete daemonset rollcall-takeover-probe/);
    assert.equal((await stored())?.mode, 'observe');
  });
});
