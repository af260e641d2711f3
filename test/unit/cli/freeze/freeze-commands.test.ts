/** `rollcall freeze` and `rollcall thaw`: one write each, who and why, and what a thaw wakes (issue 18). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, uid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { registrationOf, stampAt } from '../../../support/store-suite.ts';

const DNS = 'kube-system/dns';

async function sceneOf(
  clusters: readonly (Partial<Omit<ClusterRegistration, 'id'>> & { readonly id: string })[] = [],
): Promise<CommandWorld> {
  const world = new CommandWorld();
  world.environment = { USER: 'ann' };
  const { registry, view } = world.stores();
  for (const { id, ...changes } of clusters) {
    const registration = { ...registrationOf(id), mode: 'takeover' as const, ...changes };
    await registry.writeCluster(registration, 0);
    for (const name of ['dns', 'logs']) {
      await view.writeName(registration.clusterUid, {
        namespace: 'kube-system',
        name,
        uid: uid(`${id}-${name}`),
        stamp: stampAt(1),
      });
    }
  }
  return world;
}

const documentOf = ({ stdout }: { readonly stdout: string }): Record<string, unknown> =>
  JSON.parse(stdout) as Record<string, unknown>;

const hinted = (world: CommandWorld): readonly string[] =>
  world
    .stores()
    .hints.hints.map(({ key }) => `${key.cluster} ${key.namespace}/${key.name}`)
    .sort();

describe('rollcall freeze', () => {
  it('freezes the whole stack by one write, once it is confirmed', async () => {
    const world = await sceneOf([{ id: 'west' }, { id: 'east' }]);
    const { freezes, registry } = world.stores();
    const argv = ['freeze', '--why', 'CVE-1'];
    const asked = (await world.run(argv)).expectExit(3);
    assert.match(asked.stderr, /every cluster of the stack.*Nothing was written/s);
    assert.equal(freezes.peek().version, 0);
    const writes = registry.calls.filter(({ isWrite }) => isWrite).length;
    const run = (await world.run([...argv, '--yes', '--json'])).expectExit(0);
    const note = { by: 'ann (Admin/ann)', why: 'CVE-1', atMs: freezes.peek().all?.atMs };
    assert.deepEqual(freezes.peek(), { version: 1, all: note, daemonSets: {} });
    assert.equal(registry.calls.filter(({ isWrite }) => isWrite).length, writes);
    const { apiVersion: _version, ...document } = documentOf(run);
    assert.deepEqual(document, { kind: 'Freeze', scope: 'stack', result: 'frozen', ...note });
    assert.deepEqual(hinted(world), [], 'nobody needs to look');
  });

  it('is one, however often it is given, and keeps who was first', async () => {
    const world = await sceneOf();
    await world.run(['freeze', '--daemon-set', DNS, '--why', 'drops packets']);
    world.environment = { USER: 'bob' };
    const again = (await world.run(['freeze', '--daemon-set', DNS, '--why', 'me too'])).expectExit(
      0,
    );
    assert.match(
      again.stdout,
      /Frozen before: the DaemonSet kube-system\/dns.* by ann .*\(drops packets\)/,
    );
    assert.equal(world.stores().freezes.peek().version, 1);
    const json = documentOf(
      await world.run(['freeze', '--daemon-set', DNS, '--why', 'x', '--json']),
    );
    assert.deepEqual(
      [json['result'], json['by'], json['daemonSet']],
      ['was-frozen', 'ann (Admin/ann)', DNS],
    );
  });

  it('freezes one cluster by its registration', async () => {
    const world = await sceneOf([{ id: 'west' }]);
    const { registry, freezes } = world.stores();
    (await world.run(['freeze', '--cluster', 'west', '--why', 'network'])).expectExit(0);
    const stored = await registry.readCluster(clusterId('west'));
    assert.deepEqual(
      [stored?.isFrozen, stored?.frozen?.by, stored?.frozen?.why],
      [true, 'ann (Admin/ann)', 'network'],
    );
    assert.equal(freezes.peek().version, 0);
    world.environment = { USER: 'bob' };
    const again = (await world.run(['freeze', '--cluster', 'west', '--why', 'too'])).expectExit(0);
    assert.match(again.stdout, /Frozen before: the cluster west by ann/);
    (await world.run(['freeze', '--cluster', 'unknown', '--why', 'x'])).expectExit(1);
  });

  it('tries again beside others, and gives up with nothing changed', async () => {
    const world = await sceneOf();
    const { freezes } = world.stores();
    let disturbed = 0;
    freezes.hooks = {
      after: ({ operation }) => {
        if (operation !== 'readFreeze' || (disturbed += 1) > 3) return;
        freezes.seed({
          daemonSets: { [`ns/other-${String(disturbed)}`]: { by: 'bob', why: '', atMs: 1 } },
        });
      },
    };
    (await world.run(['freeze', '--why', 'x', '--yes'])).expectExit(0);
    assert.deepEqual(Object.keys(freezes.peek().daemonSets), ['ns/other-3'], 'theirs stand');
    freezes.seed({ daemonSets: {} });
    freezes.hooks = {
      after: ({ operation }) => {
        if (operation === 'readFreeze') freezes.seed({ daemonSets: {} });
      },
    };
    (await world.run(['freeze', '--why', 'x', '--yes'])).expectExit(1);
    (await world.run(['thaw', '--yes'])).expectExit(0);
  });

  it('of a cluster is tried again where its registration was changed meanwhile', async () => {
    const world = await sceneOf([{ id: 'west' }]);
    const { registry } = world.stores();
    const id = clusterId('west');
    let reads = 0;
    registry.hooks = {
      after: async ({ operation }) => {
        if (operation !== 'readCluster' || (reads += 1) !== 2) return;
        const current = await registry.readCluster(id);
        if (current !== undefined) registry.seed({ ...current, configVersion: 9 });
      },
    };
    (await world.run(['freeze', '--cluster', 'west', '--why', 'network'])).expectExit(0);
    const stored = await registry.readCluster(id);
    assert.deepEqual([stored?.isFrozen, stored?.configVersion], [true, 10]);
  });

  it('says when a hundred DaemonSets are frozen by name', async () => {
    const world = await sceneOf();
    const note = { by: 'bob', why: '', atMs: 1 };
    const many = Array.from({ length: 100 }, (_, index) => [`ns/set-${String(index)}`, note]);
    world
      .stores()
      .freezes.seed({ daemonSets: Object.fromEntries(many) as Record<string, typeof note> });
    const run = (await world.run(['freeze', '--daemon-set', DNS, '--why', 'x'])).expectExit(1);
    assert.match(run.stderr, /no more can be/);
  });

  it('refuses what cannot be, before anything is opened', async () => {
    const world = await sceneOf();
    for (const argv of [
      ['freeze', '--yes'],
      ['freeze', '--yes', '--why', '  '],
      ['freeze', '--yes', '--why', 'x'.repeat(257)],
      ['freeze', '--yes', '--why', 'two\nlines'],
      ['freeze', '--cluster', 'a', '--daemon-set', DNS, '--why', 'x'],
      ['freeze', '--cluster', '../x', '--why', 'x'],
      ['freeze', '--daemon-set', 'dns', '--why', 'x'],
      ['thaw', '--daemon-set', 'UPPER/case'],
      ['thaw', '--cluster', 'a', '--daemon-set', DNS],
    ]) {
      (await world.run(argv)).expectExit(2);
    }
    assert.equal(world.openCount, 0);
    assert.equal(world.stores().freezes.peek().version, 0);
  });
});

describe('rollcall thaw', () => {
  it('thaws the stack once it is confirmed, and wakes what may act', async () => {
    const world = await sceneOf([
      { id: 'west' },
      { id: 'east', mode: 'copilot' },
      { id: 'looked-at', mode: 'observe' },
      { id: 'held', isFrozen: true },
    ]);
    const { freezes } = world.stores();
    await world.run(['freeze', '--why', 'CVE-1', '--yes']);
    await world.run(['freeze', '--daemon-set', DNS, '--why', 'drops packets']);
    assert.match((await world.run(['thaw'])).expectExit(3).stderr, /rollcall thaw --yes/);
    assert.notEqual(freezes.peek().all, undefined);
    const run = (await world.run(['thaw', '--yes'])).expectExit(0);
    assert.match(run.stdout, /^Thawed: the whole stack, which was frozen by ann .*\(CVE-1\)/);
    assert.match(
      run.stdout,
      /! Still: The DaemonSet kube-system\/dns is frozen in every cluster by ann/,
    );
    assert.equal(freezes.peek().all, undefined);
    const both = ['kube-system/dns', 'kube-system/logs'];
    assert.deepEqual(
      hinted(world),
      ['east', 'west'].flatMap((id) => both.map((name) => `${id} ${name}`)),
    );
  });

  it('of a DaemonSet wakes it alone, in each cluster that has it', async () => {
    const world = await sceneOf([{ id: 'west' }, { id: 'east' }]);
    const { view } = world.stores();
    const gone = { namespace: 'kube-system', name: 'dns', uid: null, stamp: stampAt(2) };
    await view.writeName(registrationOf('east').clusterUid, gone);
    await world.run(['freeze', '--daemon-set', DNS, '--why', 'x']);
    const run = await world.run(['thaw', '--daemon-set', DNS, '--json']);
    const document = documentOf(run.expectExit(0));
    assert.deepEqual(
      [document['result'], document['hints'], document['failed']],
      ['thawed', 1, []],
    );
    assert.deepEqual(hinted(world), ['west kube-system/dns']);
  });

  it('of a cluster wakes its keys, and says what of the stack still holds them', async () => {
    const world = await sceneOf([{ id: 'west', isFrozen: true }]);
    await world.run(['freeze', '--why', 'CVE-1', '--yes']);
    const run = (await world.run(['thaw', '--cluster', 'west'])).expectExit(0);
    assert.match(run.stdout, /Thawed: the cluster west/);
    assert.match(run.stdout, /! Still: The whole stack is frozen by ann/);
    assert.equal((await world.stores().registry.readCluster(clusterId('west')))?.isFrozen, false);
    assert.equal(hinted(world).length, 2);
  });

  it('of a cluster is over with its write, though the queue refuses hints', async () => {
    const world = await sceneOf([{ id: 'west', isFrozen: true }]);
    const { registry, hints } = world.stores();
    hints.failNext(1);
    const run = (await world.run(['thaw', '--cluster', 'west'])).expectExit(0);
    assert.match(run.stdout, /west: .*within six hours: they could not be hinted/);
    assert.equal((await registry.readCluster(clusterId('west')))?.isFrozen, false);
  });

  it('may be repeated: it wakes nobody then, unless it is told to', async () => {
    const world = await sceneOf([{ id: 'west' }]);
    const run = (await world.run(['thaw', '--yes'])).expectExit(0);
    assert.equal(run.stdout, 'Not frozen: the whole stack. Nothing was changed.\n');
    assert.deepEqual(hinted(world), []);
    const woken = documentOf(await world.run(['thaw', '--yes', '--wake', '--json']));
    assert.deepEqual([woken['result'], woken['hints']], ['was-not-frozen', 2]);
  });

  it('is over with its write: what cannot be hinted is told, and holds up no other', async () => {
    const world = await sceneOf([{ id: 'east' }, { id: 'west' }]);
    await world.run(['freeze', '--why', 'x', '--yes']);
    world.stores().registry.hooks = {
      before: ({ operation, target }) => {
        if (operation === 'readCluster' && target === 'east') throw new Error('throttled');
      },
    };
    const run = (await world.run(['thaw', '--yes'])).expectExit(0);
    assert.match(run.stdout, /east: .*within six hours.*\(throttled\)/);
    assert.equal(hinted(world).length, 2, 'those of west');
    assert.equal(world.stores().freezes.peek().all, undefined);
  });

  it('goes through clusters by pages, and says how far it is', async () => {
    const ids = Array.from({ length: 250 }, (_, index) => `c${String(index).padStart(3, '0')}`);
    const world = await sceneOf(ids.map((id) => ({ id, mode: 'observe' })));
    await world.run(['freeze', '--why', 'x', '--yes']);
    const run = (await world.run(['thaw', '--yes'])).expectExit(0);
    assert.match(run.stderr, /200 clusters gone through/);
  });
});

describe('a frozen stack', () => {
  it('is entered by no mode, and left by each: that makes it stiller', async () => {
    const authentication = { kind: 'eks', clusterName: 'prod', region: 'eu-west-1' } as const;
    const world = await sceneOf([
      { id: 'west', mode: 'observe', authentication },
      { id: 'east', mode: 'copilot', authentication },
    ]);
    await world.run(['freeze', '--why', 'CVE-1', '--yes']);
    for (const mode of ['copilot', 'takeover']) {
      const argv = ['cluster', 'set', 'west', '--mode', mode, '--label', 'ring=1'];
      const run = (await world.run(argv)).expectExit(3);
      assert.match(run.stderr, /The whole stack is frozen by ann \(Admin\/ann\) \(CVE-1\)/);
    }
    const stored = await world.stores().registry.readCluster(clusterId('west'));
    assert.deepEqual([stored?.mode, stored?.configVersion], ['observe', 1], 'nor is its label');
    (await world.run(['cluster', 'set', 'west', '--label', 'ring=1'])).expectExit(0);
    (await world.run(['cluster', 'set', 'east', '--mode', 'observe'])).expectExit(0);
  });

  it('is shown above the list of clusters', async () => {
    const world = await sceneOf([{ id: 'west' }]);
    assert.doesNotMatch((await world.run(['cluster', 'list'])).stdout, /^!/m);
    await world.run(['freeze', '--why', 'CVE-1', '--yes']);
    await world.run(['freeze', '--daemon-set', DNS, '--why', 'drops packets']);
    const { stdout } = (await world.run(['cluster', 'list'])).expectExit(0);
    assert.match(
      stdout,
      /^! The whole stack is frozen by ann \(Admin\/ann\) \(CVE-1\), since .*thaw --yes\n! The DaemonSet kube-system\/dns/,
    );
  });
});
