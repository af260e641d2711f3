/** `rollcall cluster list`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { RefusalNote } from '../../../../../src/ports/stores/registry-store.ts';
import { CommandWorld } from '../../../../support/command-world.ts';
import { metaOf, registrationOf } from '../../../../support/store-suite.ts';

async function worldOf(count: number): Promise<CommandWorld> {
  const world = new CommandWorld();
  const { registry } = world.stores();
  for (let index = 0; index < count; index += 1) {
    const id = `c${String(index).padStart(3, '0')}`;
    await registry.writeCluster({ ...registrationOf(id), labels: { ring: String(index % 2) } }, 0);
  }
  return world;
}

describe('rollcall cluster list', () => {
  it('says what to do when there is none', async () => {
    const run = (await new CommandWorld().run(['cluster', 'list'])).expectExit(0);
    assert.equal(run.stdout, 'No clusters. Add one with: rollcall cluster add\n');
  });

  it('shows mode, freeze, endpoint, freshness and troubles of each', async () => {
    const world = await worldOf(3);
    const { registry, view } = world.stores();
    const nowMs = world.clock.nowMs();
    const heard = { ...metaOf('uid-of-c000'), isComplete: true, lastSentAtMs: nowMs - 5000 };
    await view.writeMeta(heard);
    const silent = { ...metaOf('uid-of-c001'), incompleteReason: 'a gap' };
    await view.writeMeta({ ...silent, lastSentAtMs: nowMs - 7_200_000 });
    registry.seed({
      ...registrationOf('c001'),
      mode: 'takeover',
      isFrozen: true,
      configVersion: 7,
      server: 'https://[fd00::1]:6443/prefix',
      rival: { seenAtMs: 1, evidence: 'its status' },
    });
    const run = (await world.run(['cluster', 'list'])).expectExit(0);
    assert.deepEqual(run.stdout.trimEnd().split('\n'), [
      'ID    MODE      STATE       PODS  FROZEN  ENDPOINT         HEARD   VIEW        NOTE',
      'c000  observe   Well        0/0   no      cluster.example  5s ago  complete',
      'c001  takeover  Conflict    ?/0   yes     [fd00::1]:6443   2h ago  incomplete  another controller was seen; its watcher is silent; view incomplete: a gap',
      'c002  observe   NeverHeard  ?/0   no      cluster.example  never   incomplete  its watcher was never heard',
    ]);
  });

  it('says of what is frozen by whom and why, and that the stack holds all of them', async () => {
    const world = await worldOf(2);
    const { registry, freezes } = world.stores();
    const note = { by: 'ann', why: 'bad kernel', atMs: 0 };
    const all = { by: 'bob', why: 'CVE-1', atMs: 1 };
    registry.seed({ ...registrationOf('c001'), isFrozen: true, frozen: note });
    const cells = async (): Promise<readonly (readonly string[])[]> => {
      const { stdout } = (await world.run(['cluster', 'list'])).expectExit(0);
      const lines = stdout.split('\n').filter((line) => /^c\d/.test(line));
      return lines.map((line) => line.split(/ {2,}/)).map((row) => [row[4] ?? '', row[8] ?? '']);
    };
    const never = 'its watcher was never heard';
    const own = `frozen by ann since 1970-01-01T00:00:00.000Z (bad kernel); ${never}`;
    assert.deepEqual(await cells(), [
      ['no', never],
      ['yes', own],
    ]);
    freezes.seed({ all, daemonSets: {} });
    assert.deepEqual(await cells(), [
      ['yes (stack)', never],
      ['yes (stack)', own],
    ]);
    const { clusters } = (await world.run(['cluster', 'list', '--json'])).document() as {
      readonly clusters: readonly { readonly isFrozen: boolean; readonly freezes: unknown }[];
    };
    const stack = { scope: 'stack', note: all };
    assert.deepEqual(
      clusters.map(({ isFrozen, freezes: held }) => [isFrozen, held]),
      [
        [true, [stack]],
        [true, [stack, { scope: 'cluster', note }]],
      ],
    );
  });

  it('sorts numbers within ids by their value', async () => {
    const world = new CommandWorld();
    for (const id of ['local-10', 'local-2', 'local-1'])
      world.stores().registry.seed(registrationOf(id));
    const { clusters } = (await world.run(['cluster', 'list', '--json'])).document() as {
      readonly clusters: readonly { id: string }[];
    };
    assert.deepEqual(
      clusters.map(({ id }) => id),
      ['local-1', 'local-2', 'local-10'],
    );
  });

  it('lists more than a page, filtered by labels, as one document without secrets (S11)', async () => {
    const world = await worldOf(230);
    const authentication = { kind: 'bearer', token: 'hunter2' } as const;
    world.stores().registry.seed({ ...registrationOf('c999'), authentication });
    const all = (await world.run(['cluster', 'list', '--json'])).expectExit(0);
    const { clusters } = all.document() as { readonly clusters: readonly { id: string }[] };
    assert.equal(clusters.length, 231);
    assert.doesNotMatch(all.stdout, /hunter2/);
    const odd = await world.run(['cluster', 'list', '--label', 'ring=1', '--json']);
    const filtered = odd.document() as { readonly clusters: readonly { id: string }[] };
    assert.equal(filtered.clusters.length, 115);
    const both = await world.run(['cluster', 'list', '--label', 'ring=1', '--label', 'x=']);
    assert.equal(both.stdout, 'No cluster has these labels.\n');
    (await world.run(['cluster', 'list', '--label', 'ring'])).expectExit(2);
  });

  it('does not let an unreadable registration hide the others', async () => {
    const world = await worldOf(2);
    const { registry } = world.stores();
    registry.hooks = {
      before: ({ operation, target }) => {
        if (operation !== 'readCluster' || target !== 'c000') return;
        const error = new Error('CLUSTER#c000 is no registration: mode');
        error.name = 'ItemUnreadableError';
        throw error;
      },
    };
    const run = (await world.run(['cluster', 'list'])).expectExit(0);
    assert.match(run.stdout, /c000 +\? +Unreadable .*is no registration: mode/);
    assert.match(run.stdout, /c001 +observe/);
  });

  it('shows what was not finished: an entry of the directory without a registration', async () => {
    const world = await worldOf(1);
    const { registry } = world.stores();
    const clusters = [clusterId('c000'), clusterId('half')];
    registry.listClusters = () => Promise.resolve({ clusters });
    const run = (await world.run(['cluster', 'list'])).expectExit(0);
    assert.match(run.stdout, /half .*adding or removing it was not finished/);
  });

  it('says that a cluster was rebuilt, by what its watcher was refused for (row 90)', async () => {
    const world = await worldOf(2);
    const { registry } = world.stores();
    const nowMs = world.clock.nowMs();
    const noteOf = (detail: string): RefusalNote => ({
      cluster: 'c000',
      sender: 'verified',
      senderRoleId: 'AROA1',
      queue: 'ingest',
      code: 'wrong-cluster-uid',
      detail,
      atMs: nowMs - 60_000,
    });
    await registry.noteRefusal(noteOf('another-uid'));
    const run = (await world.run(['cluster', 'list'])).expectExit(0);
    assert.match(run.stdout, /c000 .*rebuilt: it is another-uid now; rollcall cluster reset c000/);
    assert.match(run.stdout, /c001 .*never heard/);
    const shown = (await world.run(['cluster', 'show', 'c000', '--json'])).expectExit(0);
    assert.match(JSON.stringify(shown.document()['findings']), /"refused-wrong-cluster-uid"/);
    registry.seed({ ...registrationOf('c000'), clusterUid: clusterUid('another-uid') });
    const reset = await world.run(['cluster', 'list']);
    assert.doesNotMatch(reset.stdout, /rebuilt/, 'once it is registered anew');
  });

  it('reads the view by cluster UID', async () => {
    const world = await worldOf(1);
    const other = { ...metaOf('another'), isComplete: true };
    await world.stores().view.writeMeta({ ...other, clusterUid: clusterUid('another') });
    const run = await world.run(['cluster', 'list']);
    assert.match(run.stdout, /never/);
  });
});
