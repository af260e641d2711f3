/** `rollcall cluster show`: everything but secrets, what is wrong, and what to do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid, uid } from '../../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import { CommandWorld } from '../../../../support/command-world.ts';
import { metaOf, registrationOf } from '../../../../support/store-suite.ts';

const ID = 'prod';

async function worldOf(changes: Partial<ClusterRegistration> = {}): Promise<CommandWorld> {
  const world = new CommandWorld();
  const registration = { ...registrationOf(ID), ...changes };
  const { registry } = world.stores();
  await registry.writeCluster(registration, 0);
  if (changes.rival !== undefined) await registry.noteRival(registration, changes.rival);
  return world;
}

async function findingsOf(world: CommandWorld): Promise<readonly string[]> {
  const run = (await world.run(['cluster', 'show', ID, '--json'])).expectExit(0);
  const { findings } = run.document() as { readonly findings: readonly { code: string }[] };
  return findings.map(({ code }) => code);
}

describe('rollcall cluster show', () => {
  it('says that nothing is wrong', async () => {
    const world = await worldOf();
    const { view } = world.stores();
    const nowMs = world.clock.nowMs();
    const recentMs = nowMs - 3000;
    const others = { DaemonSet: recentMs, ControllerRevision: recentMs };
    const heardAtMs = { Node: nowMs - 2000, Pod: recentMs, ...others };
    const heard = { ...metaOf(`uid-of-${ID}`), isComplete: true, lastSentAtMs: nowMs - 65_000 };
    await view.writeMeta({ ...heard, heardAtMs });
    const run = (await world.run(['cluster', 'show', ID])).expectExit(0);
    assert.match(run.stdout, /^id: +prod$/m);
    assert.match(run.stdout, /^last message: +1m ago$/m);
    assert.match(run.stdout, /^streams heard, ago: +Node 2s, Pod 3s, /m);
    assert.match(run.stdout, /Nothing is wrong/);
    assert.deepEqual(await findingsOf(world), []);
  });

  it('shows no secret of any kind of credential (S11)', async () => {
    const secrets = [
      { kind: 'bearer', token: 'hunter2' },
      { kind: 'client-certificate', certificatePem: 'hunter2', keyPem: 'hunter2' },
    ] as const;
    for (const authentication of secrets) {
      const world = await worldOf({ authentication });
      for (const argv of [[], ['--json']]) {
        const run = (await world.run(['cluster', 'show', ID, ...argv])).expectExit(0);
        assert.match(run.stdout, new RegExp(authentication.kind));
        assert.doesNotMatch(run.stdout + run.stderr, /hunter2/);
      }
    }
  });

  it('finds what registry and view tell', async () => {
    const rival = { seenAtMs: 7, evidence: 'its status' };
    const sentinel = { uid: uid('probe-1'), createdAtMs: 4 };
    const noted = await worldOf({ mode: 'takeover', sentinel, isFrozen: true, rival });
    assert.deepEqual(await findingsOf(noted), [
      'frozen',
      'mode-without-credential',
      'never-heard',
      'conflict-noted',
    ]);

    const silent = await worldOf();
    await silent.stores().view.writeMeta({ ...metaOf(`uid-of-${ID}`), incompleteReason: 'a gap' });
    assert.deepEqual(await findingsOf(silent), ['cluster-silent', 'view-incomplete']);

    const eks = { kind: 'eks', clusterName: 'a', region: 'b' } as const;
    const entered = await worldOf({ mode: 'takeover', authentication: eks, takeoverProbedAtMs: 9 });
    const { view } = entered.stores();
    const nowMs = entered.clock.nowMs();
    const heard = { ...metaOf(`uid-of-${ID}`), isComplete: true, lastSentAtMs: nowMs };
    await view.writeMeta({ ...heard, announcedAtMs: 8 });
    const open = { untilMs: nowMs + 5000, delayMs: 5000 };
    const breaker = { version: 0, failures: 0, openings: 1, open };
    await view.writeBreaker(clusterUid(`uid-of-${ID}`), breaker);
    assert.deepEqual(await findingsOf(entered), [
      'stream-silent',
      'view-awaits-snapshot',
      'breaker-open',
    ]);
  });

  it('judges a bound token by its times and its cluster, and shows nothing else of it', async () => {
    const world = await worldOf({
      authentication: { kind: 'bound-token', renewerRoleId: 'AROARENEWER' },
    });
    const { credentials, view } = world.stores();
    const nowMs = world.clock.nowMs();
    const heardAtMs = { Node: nowMs, Pod: nowMs, DaemonSet: nowMs, ControllerRevision: nowMs };
    const heard = { ...metaOf(`uid-of-${ID}`), isComplete: true, lastSentAtMs: nowMs };
    await view.writeMeta({ ...heard, heardAtMs });
    assert.deepEqual(await findingsOf(world), ['credential-missing']);
    const token = {
      clusterUid: clusterUid('another'),
      ciphertext: 'aHVudGVyMg==',
      issuedAtMs: nowMs - 60_000,
      expiresAtMs: nowMs + 3_600_000,
    };
    await credentials.writeToken(clusterId(ID), 'act', token);
    assert.deepEqual(await findingsOf(world), ['credential-other-cluster']);
    const own = { ...token, clusterUid: clusterUid(`uid-of-${ID}`) };
    await credentials.writeToken(clusterId(ID), 'act', own);
    assert.deepEqual(await findingsOf(world), []);
    const run = await world.run(['cluster', 'show', ID]);
    assert.match(run.stdout, /^token: +renewed 1m ago, ends in 1h$/m);
    assert.doesNotMatch(run.stdout, /aHVudGVyMg/);
    await credentials.writeToken(clusterId(ID), 'act', {
      ...own,
      issuedAtMs: nowMs - 50_000,
      expiresAtMs: nowMs - 1000,
    });
    assert.deepEqual(await findingsOf(world), ['credential-expired']);
  });

  it('knows only what is registered', async () => {
    const run = (await new CommandWorld().run(['cluster', 'show', ID])).expectExit(1);
    assert.match(run.stderr, /There is no cluster prod in this stack\.\nList them with/);
  });
});
