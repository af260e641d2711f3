/** `rollcall cost` as a person uses it, also in the worst hour. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ItemUnreadableError } from '../../../../src/adapters/dynamodb/item-codec.ts';
import { addMessage } from '../../../../src/core/cost/counted.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { metaOf, registrationOf } from '../../../support/store-suite.ts';

const HOUR_MS = 3_600_000;

/** Clusters by name, each with as many messages an hour, for so many hours until now. */
async function worldOf(
  messages: Readonly<Record<string, number>>,
  hours = 48,
): Promise<CommandWorld> {
  const commands = new CommandWorld();
  const { registry, view } = commands.stores();
  const nowMs = commands.clock.nowMs();
  for (const [name, count] of Object.entries(messages)) {
    const uid = clusterUid(`uid-${name}`);
    const labels = { stage: name === 'lab' ? 'test' : 'prod' };
    const registration = { ...registrationOf(clusterId(name)), clusterUid: uid, labels };
    assert.equal(await registry.writeCluster(registration, 0), 'written');
    let { days } = metaOf(uid);
    for (let hour = hours; hour === hours || hour > 0; hour -= 1) {
      for (let each = 0; each < count; each += 1) {
        days = addMessage(days, { atMs: nowMs - hour * HOUR_MS, sliceUnits: 3 });
      }
    }
    const meta = { ...metaOf(uid), version: 0, lastSentAtMs: nowMs };
    assert.equal(await view.writeMeta(days === undefined ? meta : { ...meta, days }), 'written');
  }
  return commands;
}

async function stdoutOf(commands: CommandWorld, ...options: readonly string[]): Promise<string> {
  return (await commands.run(['cost', ...options])).expectExit(0).stdout;
}

describe('rollcall cost', () => {
  it('tells of each cluster, the dearest first, of each cause, and the sum with the fixed price', async () => {
    const commands = await worldOf({ calm: 5, busy: 100 });
    const stdout = await stdoutOf(commands);
    assert.match(stdout, /^Counted over the last 2\.0 days, at list prices of us-east-1/m);
    assert.match(
      stdout,
      /^CLUSTER +MESSAGES +RUNS +\$ A MONTH +NOTE\nbusy +73000 +0 +\d\.\d\d.*\ncalm +3650/m,
    );
    assert.match(stdout, /^messages of watchers.* +\d\.\d\d$/m);
    assert.match(stdout, /^the stack itself: alarms +6\.30$/m);
    assert.match(stdout, /^together +3\d\.\d\d$/m);
    assert.match(stdout, /NAT gateways/);
  });

  it('has a document whose sum is that of its parts', async () => {
    const commands = await worldOf({ a: 5, b: 7 });
    const document = (await commands.run(['cost', '--json'])).expectExit(0).document();
    const { kind, byCause, ofClusters, ofStack, total } = document;
    assert.equal(kind, 'Cost');
    const parts = Object.values(byCause as Readonly<Record<string, number>>);
    const sum = parts.reduce((all, part) => all + part, 0);
    assert.ok(Math.abs(sum - Number(ofClusters)) < 1e-9);
    assert.equal(Number(ofClusters) + Number(ofStack), total);
  });

  it('takes one cluster, or those with a label', async () => {
    const commands = await worldOf({ lab: 5, shop: 5 });
    assert.doesNotMatch(await stdoutOf(commands, '--label', 'stage=test'), /^shop/m);
    assert.doesNotMatch(await stdoutOf(commands, '--cluster', 'shop'), /^lab/m);
    assert.match(
      await stdoutOf(commands, '--label', 'stage=none'),
      /^No cluster has these labels\.$/m,
    );
    (await commands.run(['cost', '--cluster', 'shop', '--label', 'a=b'])).expectExit(2);
    (await commands.run(['cost', '--cluster', 'shopp'])).expectExit(1);
  });

  it('says that a month of less than a day is a guess', async () => {
    assert.match(await stdoutOf(await worldOf({ a: 5 }, 6)), /^! .*less than a day.*6\.0 hours/m);
    const early = await stdoutOf(await worldOf({ a: 5 }, 0.5));
    assert.match(
      early,
      /^Counted over the last 30 minutes.*\n! .*\. Less than an hour is taken for/m,
    );
    assert.match(early, /^a +3650 /m);
  });

  it('tells what was counted also by a clock that is behind', async () => {
    const stdout = await stdoutOf(await worldOf({ a: 5 }, -1));
    assert.match(stdout, /^Counted over the last 1 minute,/);
  });

  it('tells the fixed price alone where nothing was counted, with or without clusters', async () => {
    for (const commands of [await worldOf({}), await worldOf({ a: 0 })]) {
      const stdout = await stdoutOf(commands);
      assert.match(stdout, /^Nothing was counted yet: what follows is the fixed price alone\.$/m);
      assert.match(stdout, /^together +3\d\.\d\d$/m);
    }
  });

  it('says since when nothing came of a cluster, and that the stack is stopped', async () => {
    const commands = await worldOf({ a: 5 });
    const atMs = commands.clock.nowMs();
    await commands
      .stores()
      .freezes.writeStop({ by: 'ann', why: 'INC-1', atMs, functions: ['reconcile'] });
    await commands.clock.advance(3 * 24 * HOUR_MS);
    const stdout = await stdoutOf(commands);
    assert.match(stdout, /^! stopped since .* by ann \(INC-1\)/);
    assert.match(stdout, /^a +\d+ +0 +\S+ +nothing for 3d$/m);
  });

  it('names an item that cannot be read, and tells of the others', async () => {
    const commands = await worldOf({ a: 5, b: 5 });
    const { view } = commands.stores();
    const readMeta = view.readMeta.bind(view);
    view.readMeta = (cluster) =>
      cluster === 'uid-a'
        ? Promise.reject(new ItemUnreadableError({ pk: 'CLUSTER#a', sk: 'META' }, 'damaged'))
        : readMeta(cluster);
    const stdout = await stdoutOf(commands);
    assert.match(stdout, /^a +.*counts are missing: CLUSTER#a META: damaged/m);
    assert.match(stdout, /^b +3650/m);
  });

  it('counts runs of whole worlds: those that made pods, and those that looked', async () => {
    const runs = new ReconcileWorld({ nodes: 3 });
    await runs.settle();
    const commands = new CommandWorld();
    commands.adopt(runs);
    const document = (await commands.run(['cost', '--json'])).expectExit(0).document();
    const [cluster] = document['clusters'] as readonly {
      readonly dollars: Readonly<Record<string, number>>;
      readonly runs: number;
    }[];
    assert.ok(cluster !== undefined && cluster.runs > 0);
    assert.ok(Number(cluster.dollars['acts']) > 0);
  });

  it('names a cluster that cannot be read under each label: it may have it', async () => {
    const commands = await worldOf({ lab: 5, shop: 5 });
    commands.stores().registry.hooks = {
      before: ({ operation, target }) => {
        if (operation !== 'readCluster' || target !== 'lab') return;
        throw Object.assign(new Error('damaged'), { name: 'ItemUnreadableError' });
      },
    };
    const stdout = await stdoutOf(commands, '--label', 'stage=none');
    assert.match(stdout, /^! lab cannot be read, and is not in it: /m);
  });
});
