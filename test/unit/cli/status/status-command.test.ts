/** `rollcall status` and `rollcall get` over stored clusters: filters, forms, what cannot be read, what is watched. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { CommandWorld } from '../../../support/command-world.ts';
import { breachOf, recordOf } from '../../../support/rollout-records.ts';
import { storeRollout, type StoredRollout } from '../../../support/rollout-stores.ts';

const COUNTS = {
  desiredNumberScheduled: 200,
  updatedNumberScheduled: 200,
  numberAvailable: 200,
  observedGeneration: 9,
};

/** Clusters with `ops/agent`, whose watchers were heard just now, by what each varies. */
async function worldOf(clusters: Readonly<Record<string, StoredRollout>>): Promise<CommandWorld> {
  const world = new CommandWorld();
  for (const [cluster, changes] of Object.entries(clusters)) {
    const lastSentAtMs = world.clock.nowMs();
    const stored = { policy: null, record: null, object: { status: COUNTS } };
    await storeRollout(world.stores(), { cluster, lastSentAtMs, ...stored, ...changes });
  }
  return world;
}

const LACKING: StoredRollout = { object: { status: { ...COUNTS, numberAvailable: 188 } } };
const HALTED: StoredRollout = { policy: 'soak: 10m', record: recordOf({ breach: breachOf() }) };

const unreadable = (id: string) => ({
  before: ({ operation, target }: { operation: string; target: string }) => {
    if (operation !== 'readCluster' || target !== id) return;
    throw Object.assign(new Error('CLUSTER#a is no registration: mode'), {
      name: 'ItemUnreadableError',
    });
  },
});

describe('rollcall status', () => {
  it('tells what is not well, each with what to do, and then what is', async () => {
    const world = await worldOf({ a: LACKING, b: HALTED, c: {} });
    const { stdout } = (await world.run(['status'])).expectExit(8);
    assert.match(
      stdout,
      /^Halted +ops\/agent: in b, .*\n +next: rollcall why ops\/agent --cluster b$/m,
    );
    const wide = (await world.run(['status', '-o', 'wide'])).expectExit(8).stdout;
    assert.match(wide, / or: rollcall rollout resume b ops\/agent --why '…' --yes {2}# overrules/);
    assert.match(stdout, /^Lacking +ops\/agent: lacks 12 of 200 pods in a/m);
    assert.match(stdout, /^ +next: rollcall why ops\/agent --cluster a$/m);
    assert.match(stdout, /\n1 of 3 clusters, 1 of 3 DaemonSets, 588 of 600 pods are well\n$/);
  });

  it('says that no cluster is registered, and leaves with 8', async () => {
    const { stdout } = (await new CommandWorld().run(['status'])).expectExit(8);
    assert.match(
      stdout,
      /^NoClusters {2}no cluster is registered.*\n +next: rollcall cluster add\n/,
    );
  });

  it('is not well while a registration cannot be read, and shows the others', async () => {
    const world = await worldOf({ a: {}, b: {} });
    world.stores().registry.hooks = unreadable('a');
    const { stdout } = (await world.run(['status'])).expectExit(8);
    assert.match(stdout, /^Unreadable {2}a: its registration cannot be read.*mode\n/);
    assert.match(stdout, /\n1 of 2 clusters, 1 of 1 DaemonSets/);
    // It may have any label.
    const labelled = (await world.run(['status', '--label', 'stage=none'])).expectExit(8);
    assert.match(labelled.stdout, /^Unreadable {2}a: its registration cannot be read/);
  });

  it('is not well while the state of one DaemonSet cannot be read', async () => {
    const world = await worldOf({ a: {}, b: {} });
    world.stores().view.hooks = {
      before: ({ operation, target }) => {
        if (operation !== 'readState' || !target.includes('uid-of-a')) return;
        throw Object.assign(new Error('of a newer release'), { name: 'ItemUnreadableError' });
      },
    };
    const { stdout } = (await world.run(['status'])).expectExit(8);
    assert.match(stdout, /^Unknown {2}ops\/agent: how it stands in a is not known: of a newer/);
  });

  it('fails where a table fails: nothing is told as well', async () => {
    const world = await worldOf({ a: {} });
    world.stores().view.hooks = {
      before: ({ operation }) => {
        if (operation === 'readMeta') throw new Error('throttled');
      },
    };
    const run = (await world.run(['status'])).expectExit(1);
    assert.equal(run.stdout, '');
  });

  it('asks of the clusters, the namespace and the labels that are given', async () => {
    const labels = { registration: { labels: { ring: '1' } } };
    const world = await worldOf({ a: LACKING, b: labels });
    (await world.run(['status', '--label', 'ring=1'])).expectExit(0);
    (await world.run(['status', '--cluster', 'b'])).expectExit(0);
    (await world.run(['status', '--cluster', 'a'])).expectExit(8);
    (await world.run(['status', '-n', 'ops'])).expectExit(8);
    const empty = (await world.run(['status', '-n', 'kube-system'])).expectExit(1);
    assert.match(empty.stderr, /No cluster has a DaemonSet in the namespace kube-system/);
    (await world.run(['status', '--label', 'ring=2'])).expectExit(1);
    const unknown = (await world.run(['status', '--cluster', 'bb'])).expectExit(1);
    assert.match(unknown.stderr, /There is no cluster bb/);
  });

  it('prints the same as json, yaml and names', async () => {
    const world = await worldOf({ a: LACKING, b: HALTED });
    const json = (await world.run(['status', '-o', 'json'])).expectExit(8);
    assert.equal((await world.run(['status', '--json'])).stdout, json.stdout);
    assert.equal(json.document()['kind'], 'FleetHealth');
    assert.deepEqual(parse((await world.run(['status', '-o', 'yaml'])).stdout), json.document());
    const names = (await world.run(['status', '-o', 'name'])).expectExit(8);
    assert.equal(names.stdout, 'rollout/b/ops/agent\ndaemonset/ops/agent\n');
    const failure = (await world.run(['status', '-o', 'json', '--cluster', 'x'])).expectExit(1);
    assert.equal(failure.document()['kind'], 'CommandError');
  });

  it('only counts the sixth of a kind, unless all are asked for', async () => {
    const names = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'];
    const world = await worldOf(Object.fromEntries(names.map((name) => [name, HALTED])));
    const { stdout } = await world.run(['status']);
    assert.match(stdout, /^Halted +and 2 more: -o wide shows them$/m);
    assert.match((await world.run(['status', '-o', 'wide'])).stdout, /in c7, /);
  });

  it('watches: says it again only when it changes, until Ctrl-C', async () => {
    const world = await worldOf({ a: {} });
    let looks = 0;
    world.onTick = () => {
      looks += 1;
      if (looks === 30) world.stores().registry.hooks = unreadable('a');
      if (looks === 60) world.controller.abort();
    };
    const run = (await world.run(['status', '--watch'])).expectExit(130);
    assert.equal(run.stderr.match(/ are well/g)?.length, 2);
    (await world.run(['status', '--watch', '-o', 'json'])).expectExit(2);
  });

  it('touches nothing: it only reads', async () => {
    const world = await worldOf({ a: LACKING, b: HALTED });
    const { registry, view, freezes, hints } = world.stores();
    const stores = [registry, view, freezes];
    const writes = (): number =>
      stores.flatMap(({ calls }) => calls.filter(({ isWrite }) => isWrite)).length;
    const before = writes();
    await world.run(['status']);
    await world.run(['get', 'daemonsets']);
    assert.deepEqual([writes() - before, hints.hints.length], [0, 0]);
  });
});

describe('rollcall get', () => {
  it('shows DaemonSets and rollouts with their state', async () => {
    const world = await worldOf({ a: LACKING, b: HALTED, c: {} });
    const rows = async (what: string): Promise<readonly string[]> => {
      const { stdout } = (await world.run(['get', what])).expectExit(0);
      const cells = stdout.trimEnd().split('\n').slice(1);
      return cells.map((line) => line.split(/ {2,}/).slice(0, 5).join(' '));
    };
    assert.deepEqual(await rows('daemonsets'), [
      'a ops agent Lacking 200',
      'b ops agent Halted 200',
      'c ops agent Well 200',
    ]);
    const [rollout = ''] = await rows('rollouts');
    assert.match(rollout, /^b ops agent Halted /);
    (await world.run(['get', 'pods'])).expectExit(2);
  });

  it('notes at a cluster which rollouts are halted, as cluster list does', async () => {
    const world = await worldOf({ b: HALTED });
    const { stdout } = (await world.run(['get', 'clusters'])).expectExit(0);
    assert.match(stdout, /^b +takeover +Halted +200\/200 .* halted: ops\/agent$/m);
    assert.equal((await world.run(['cluster', 'list'])).stdout, stdout);
  });

  it('names a DaemonSet that is frozen by name at each cluster that has it', async () => {
    const world = await worldOf({ a: {} });
    const note = { by: 'ann', why: 'CVE-1', atMs: 0 };
    world.stores().freezes.seed({ daemonSets: { 'ops/agent': note } });
    assert.match((await world.run(['cluster', 'list'])).stdout, /^a .* frozen: ops\/agent$/m);
  });
});
