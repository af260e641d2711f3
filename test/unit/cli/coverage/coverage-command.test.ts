/** `rollcall coverage` as a person uses it, also in the worst hour. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ItemUnreadableError } from '../../../../src/adapters/dynamodb/item-codec.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { CoverageScene } from '../../../support/coverage-scene.ts';

const HOUR_MS = 3_600_000;

interface Document {
  readonly rows: readonly {
    readonly ownerLabel?: string;
    readonly coverage?: number;
    readonly days: readonly {
      readonly day: string;
      readonly coveredMinutes: number;
      readonly uncoveredMinutes: number;
      readonly unknownMinutes: number;
    }[];
    readonly timeToDaemon: { readonly nodes: number; readonly p50Ms?: number };
  }[];
}

/** Commands over a scene of three nodes that were served for a day. */
async function sceneOf(hours = 24): Promise<{ scene: CoverageScene; commands: CommandWorld }> {
  const scene = new CoverageScene(1, 3);
  await scene.begin();
  await scene.pass(hours * HOUR_MS);
  const commands = new CommandWorld();
  commands.adopt(scene.world);
  await commands.clock.advance(scene.world.clock.nowMs() - commands.clock.nowMs());
  return { scene, commands };
}

async function documentOf(commands: CommandWorld): Promise<Document> {
  const answer = await commands.run(['coverage', '-o', 'json']);
  return answer.expectExit(0).document() as unknown as Document; // the document of the command
}

async function stdoutOf(commands: CommandWorld, ...options: readonly string[]): Promise<string> {
  return (await commands.run(['coverage', ...options])).expectExit(0).stdout;
}

function sumOf({ rows }: Document): readonly number[] {
  const days = rows.flatMap((row) => row.days);
  const sum = (of: (day: (typeof days)[number]) => number): number =>
    Math.round(days.reduce((total, day) => total + of(day), 0));
  return [
    sum(({ coveredMinutes }) => coveredMinutes),
    sum(({ uncoveredMinutes }) => uncoveredMinutes),
    sum(({ unknownMinutes }) => unknownMinutes),
  ];
}

describe('rollcall coverage', () => {
  it('tells days up to now, though nothing was written since', async () => {
    const { commands } = await sceneOf();
    const document = await documentOf(commands);
    const [covered = 0, ...others] = sumOf(document);
    assert.ok(Math.abs(covered - 3 * 24 * 60) <= 3, String(covered));
    assert.deepEqual(others, [0, 0]);
    assert.equal(document.rows[0]?.coverage, 1);
    assert.match(await stdoutOf(commands), /^a +system +agents +100\.00 % +0\.00 % +0 +- +- +-$/m);
  });

  it('knows nothing of the time since the watcher was heard last', async () => {
    const { commands } = await sceneOf();
    await commands.clock.advance(10 * HOUR_MS);
    const [, , unknown = 0] = sumOf(await documentOf(commands));
    assert.ok(unknown > 3 * 590 && unknown <= 3 * 614, String(unknown));
  });

  it('knows nothing of the time since the stack was stopped, and says who stopped it', async () => {
    const { scene, commands } = await sceneOf();
    const atMs = scene.world.clock.nowMs() - HOUR_MS;
    const note = { by: 'ann', why: 'INC-1', atMs, functions: ['reconcile'] };
    await commands.stores().freezes.writeStop(note);
    const [, , unknown] = sumOf(await documentOf(commands));
    assert.equal(unknown, 180);
    assert.match(await stdoutOf(commands), /^! stopped since .* by ann \(INC-1\)/);
  });

  it('knows nothing of a stop that is over', async () => {
    const { scene, commands } = await sceneOf();
    const nowMs = scene.world.clock.nowMs();
    // Before the last count nothing changes any more.
    await commands.stores().freezes.writeStops([[nowMs - 60_000, nowMs]]);
    const [, , unknown] = sumOf(await documentOf(commands));
    assert.equal(unknown, 3);
  });

  it('prints a line for each day as CSV', async () => {
    const { commands } = await sceneOf();
    const lines = (await stdoutOf(commands, '-o', 'csv')).trimEnd().split('\n');
    const [headings, first = ''] = lines;
    assert.equal(
      headings,
      'cluster,namespace,name,owner,day,covered_minutes,uncovered_minutes,unknown_minutes',
    );
    assert.match(first, /^a,system,agents,,\d{4}-\d\d-\d\d,[\d.]+,0,0$/);
  });

  it('adds up by cluster and by owner', async () => {
    const { scene, commands } = await sceneOf();
    scene.world.cluster.change('daemonsets', { namespace: 'system', name: 'agents' }, (set) => ({
      ...set,
      metadata: { ...set.metadata, labels: { team: 'net' } },
    }));
    await scene.world.mirror.sync();
    const byOwner = await stdoutOf(commands, '--by', 'owner', '--owner-label', 'team');
    assert.match(byOwner, /^OWNER +COVERAGE.*\nnet +100\.00 %/m);
    assert.match(await stdoutOf(commands, '--by', 'cluster'), /^CLUSTER +COVERAGE.*\na +100/m);
  });

  it('says that nothing was counted, with or without clusters', async () => {
    assert.equal(await stdoutOf(new CommandWorld()), 'Nothing was counted in that time.\n');
    const { commands } = await sceneOf();
    (await commands.run(['coverage', '--since', 'soon'])).expectExit(2);
  });

  it('begins with the oldest day that is kept, however long ago was asked for, and not tomorrow', async () => {
    const { commands } = await sceneOf();
    const day = new Date(commands.clock.nowMs() - 365 * 24 * HOUR_MS).toISOString().slice(0, 10);
    for (const since of ['2001-01-01', '999999d']) {
      assert.match(await stdoutOf(commands, '--since', since), new RegExp(`^Since ${day} `));
    }
    (await commands.run(['coverage', '--since', '2099-01-01'])).expectExit(2);
  });

  it('has no owner where the label is a word of every object in JavaScript', async () => {
    const { commands } = await sceneOf();
    const owners = ['--by', 'owner', '--owner-label'];
    assert.match(await stdoutOf(commands, ...owners, 'constructor'), /^- +100\.00 %/m);
  });

  it('names what cannot be read, and tells the rest', async () => {
    const { commands } = await sceneOf();
    const { view } = commands.stores();
    view.readState = () =>
      Promise.reject(new ItemUnreadableError({ pk: 'DS#x', sk: 'STATE' }, 'damaged'));
    const stdout = await stdoutOf(commands);
    assert.match(stdout, /^! cannot be read, and is not in it: a: DS#x STATE: damaged/);
  });

  it('tells how long nodes that joined waited for their pod', async () => {
    const { scene, commands } = await sceneOf(1);
    await scene.join();
    await scene.pass(60_000);
    await commands.clock.advance(scene.world.clock.nowMs() - commands.clock.nowMs());
    const [row] = (await documentOf(commands)).rows;
    assert.equal(row?.timeToDaemon.nodes, 1);
    assert.ok((row.timeToDaemon.p50Ms ?? Infinity) <= 5_000);
  });

  it('names a cluster that cannot be read under each label: it may have it', async () => {
    const commands = (await sceneOf(1)).commands;
    commands.stores().registry.hooks = {
      before: ({ operation, target }) => {
        if (operation !== 'readCluster' || target !== 'a') return;
        throw Object.assign(new Error('damaged'), { name: 'ItemUnreadableError' });
      },
    };
    const stdout = await stdoutOf(commands, '--label', 'stage=none');
    assert.match(stdout, /^! cannot be read, and is not in it: a: /m);
  });
});
