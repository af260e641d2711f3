/** `rollcall log` as a person uses it: what happened, over what whole runs left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import { NO_POSITION } from '../../../../src/core/model/view-items.ts';
import type { LogItem } from '../../../../src/core/model/log-entry.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

/** Three nodes were given their pods a moment ago. */
async function world(): Promise<CommandWorld> {
  const runs = new ReconcileWorld({ nodes: 3 });
  await runs.settle();
  const commands = new CommandWorld();
  commands.adopt(runs);
  return commands;
}

describe('rollcall log', () => {
  it('tells what was sent to which nodes, and what came of it', async () => {
    const { stdout } = (await (await world()).run(['log'])).expectExit(0);
    const [headings = '', ...rows] = stdout.trimEnd().split('\n');
    assert.match(headings, /^TIME +CLUSTER +ABOUT +WHAT$/);
    assert.equal(rows.length, 1, stdout);
    assert.match(
      rows[0] ?? '',
      /Z {2}a +system\/agents +create 3 pods: 3 done: node-0001, node-0002, node-0003$/,
    );
  });

  it('is of one DaemonSet or of one node where that is asked, and of no other time', async () => {
    const commands = await world();
    const linesOf = async (...argv: readonly string[]): Promise<number> => {
      const { stdout } = (await commands.run(['log', ...argv])).expectExit(0);
      return stdout.split('\n').filter((line) => line.includes('create')).length;
    };
    assert.equal(await linesOf('system/agents'), 1);
    assert.equal(await linesOf('system/others'), 0);
    assert.equal(await linesOf('node-0002'), 1);
    assert.equal(await linesOf('node-0009'), 0);
    assert.equal(await linesOf('--until', '1h'), 0);
    assert.equal(await linesOf('--cluster', 'a', '--since', '1d'), 1);
  });

  it('has a document with every entry, in codes and in words', async () => {
    const run = await (await world()).run(['log', '--json']);
    const { kind, entries } = run.expectExit(0).document();
    assert.equal(kind, 'Log');
    const [entry] = entries as readonly Readonly<Record<string, unknown>>[];
    assert.equal(entry?.['effect'], 'create');
    assert.match(String(entry?.['text']), /^create 3 pods/);
  });

  it('shows so many, and says how to see more', async () => {
    const commands = await world();
    const freeze = ['freeze', '--daemon-set', 'system/agents', '--why', 'INC-1'];
    (await commands.run(freeze)).expectExit(0);
    const { stdout } = (await commands.run(['log', '--limit', '1'])).expectExit(0);
    assert.match(stdout, /^1 older entries are not shown: --limit 2/);
    const whole = (await commands.run(['log'])).expectExit(0).stdout;
    assert.match(whole, /- +system\/agents +freeze by .*: INC-1$/m);
  });

  it('says first that the stack is stopped, or what is frozen cannot be read, and tells all else', async () => {
    const commands = await world();
    const { freezes } = commands.stores();
    await freezes.writeStop({ by: 'ann', why: 'INC-1', atMs: 0, functions: ['reconcile'] });
    const stopped = (await commands.run(['log'])).expectExit(0).stdout;
    assert.match(stopped, /^! stopped since .* by ann \(INC-1\)/);
    freezes.hooks = {
      before: ({ operation }) => {
        if (operation !== 'readFreeze') return;
        throw Object.assign(new Error('no freeze'), { name: 'ItemUnreadableError' });
      },
    };
    const { stdout } = (await commands.run(['log'])).expectExit(0);
    assert.match(stdout, /^! what is frozen cannot be read: everything counts as frozen/m);
    assert.match(stdout, /create 3 pods: 3 done/);
  });

  it('refuses what is no time', async () => {
    const run = await (await world()).run(['log', '--since', 'yesterday']);
    assert.match(run.expectExit(2).stderr, /yesterday is no time/);
  });

  it('follows until Ctrl-C', async () => {
    const commands = await world();
    let ticks = 0;
    commands.onTick = () => {
      ticks += 1;
      if (ticks === 3) commands.controller.abort();
    };
    const { stderr } = await commands.run(['log', '--follow']);
    assert.equal(stderr.split('\n').filter((line) => line.includes('create 3 pods')).length, 1);
  });

  it('follows with a document a line, each with what is new', async () => {
    const commands = await world();
    let ticks = 0;
    commands.onTick = async () => {
      ticks += 1;
      if (ticks === 3) {
        const item = { kind: 'order', order: 'freeze', atMs: commands.clock.nowMs(), by: 'ann' };
        const log = { subject: { kind: 'stack' }, entries: [item], atMs: item.atMs, token: 't' };
        await commands.stores().view.putLogItem(undefined, log as LogItem);
      }
      if (ticks === 20) commands.controller.abort();
    };
    const { stdout, stderr } = await commands.run(['log', '--follow', '--json']);
    const documents = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; entries?: { kind: string }[] });
    assert.deepEqual(
      documents.map(({ kind, entries = [] }) => [kind, ...entries.map((entry) => entry.kind)]),
      [['Log', 'effect'], ['Log', 'order'], ['CommandError']],
    );
    assert.doesNotMatch(stderr, /create 3 pods/);
  });

  it('reads again, of a look to the next, only states of what moved and some in their turn', async () => {
    const runs = new ReconcileWorld({ nodes: 3 });
    await runs.settle();
    const commands = new CommandWorld();
    commands.adopt(runs);
    const { view } = runs;
    const meta = await view.readMeta(clusterUid('cluster-a-uid'));
    assert.ok(meta !== undefined);
    const { uid } = runs.daemonSet.metadata;
    await view.writeMeta({ ...meta, positions: { [uid]: NO_POSITION } });
    const readsOf = (operation: string): number =>
      view.calls.filter((call) => call.operation === operation).length;
    view.calls.length = 0;
    let ticks = 0;
    commands.onTick = () => {
      ticks += 1;
      if (ticks === 58) commands.controller.abort();
    };
    await commands.run(['log', '--follow']);
    const looks = readsOf('readMeta');
    assert.ok(looks >= 10, String(looks));
    assert.ok(
      readsOf('readState') <= 2,
      `${String(readsOf('readState'))} in ${String(looks)} looks`,
    );
    assert.equal(readsOf('listNames'), 1);
  });
});
