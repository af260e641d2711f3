/** `rollcall why` as a person uses it: why there is a pod on each node, or none, over what whole runs left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandWorld } from '../../../support/command-world.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const AGENTS = ['a', 'system/agents'];

/** Three nodes with their pods; one without, as it has a taint; one whose pod was just deleted. */
async function world(): Promise<CommandWorld> {
  const runs = new ReconcileWorld({ nodes: 3 });
  runs.addNode('tainted\u001b', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  await runs.settle();
  runs.addNode('node-late');
  await runs.mirror.sync();
  const commands = new CommandWorld();
  commands.adopt(runs);
  return commands;
}

describe('rollcall why', () => {
  it('tells of each node of which there is something to say, and counts the others', async () => {
    const { stdout } = (await (await world()).run(['why', ...AGENTS])).expectExit(0);
    assert.match(stdout, /^a\/system\/agents: .*3 Running/);
    assert.match(stdout, /1 NotWanted/);
    assert.match(stdout, /^NODE +CODE +WHY$/m);
    assert.match(stdout, /^node-late +\w+ +Node node-late /m);
    assert.equal(stdout.trimEnd().split('\n').length, 3, stdout);
  });

  it('tells what is the same of many nodes once, with how many they are', async () => {
    const runs = new ReconcileWorld({ nodes: 1 });
    await runs.settle();
    for (const number of [1, 2, 3, 4]) runs.addNode(`late-${String(number)}`);
    await runs.mirror.sync();
    const commands = new CommandWorld();
    commands.environment = { USER: 'ann' };
    commands.adopt(runs);
    (await commands.run(['freeze', '--why', 'CVE-1', '--yes'])).expectExit(0);
    const { stdout } = (await commands.run(['why', ...AGENTS])).expectExit(0);
    assert.deepEqual(stdout.trimEnd().split('\n').at(-1)?.split(/ {2,}/), [
      '4 nodes: late-1, late-2, late-3, …',
      'WaitingForCluster',
      'needs a change, which waits: The whole stack is frozen by ann (Admin/ann) (CVE-1); only its status is kept up to date.',
    ]);
  });

  it('tells of one node whatever its code, and never steers the terminal', async () => {
    const node = 'tainted\u001b';
    const run = await (await world()).run(['why', ...AGENTS, '--node', node]);
    const { stdout } = run.expectExit(0);
    assert.match(stdout, /^tainted +NotWanted +.*taint/m);
    assert.doesNotMatch(stdout, /\u001b/);
  });

  it('has a document with each node, its placement and the sentence', async () => {
    const run = await (await world()).run(['why', ...AGENTS, '--json']);
    const { kind, counts, nodes } = run.expectExit(0).document();
    assert.equal(kind, 'Explanation');
    assert.equal((counts as Readonly<Record<string, number>>)['Running'], 3);
    const all = nodes as readonly { readonly placement: string; readonly message: string }[];
    assert.deepEqual(all.map(({ placement }) => placement).toSorted(), [
      ...['keep', 'run', 'run', 'run', 'run'],
    ]);
    assert.ok(all.every(({ message }) => message.startsWith('Node ')));
  });

  it('leaves with 1 for what is not there, and while nothing can be told', async () => {
    const commands = await world();
    const unknown = await commands.run(['why', ...AGENTS, '--node', 'n9']);
    assert.match(
      unknown.expectExit(1).stderr,
      /The view of \S+ has no node n9\.\nIts nodes by name: kubectl get nodes, or .* --json/,
    );
    (await commands.run(['why', 'a', 'system/other'])).expectExit(1);
    (await commands.run(['why', 'a', 'agents'])).expectExit(2);
    const unseen = new ReconcileWorld({ nodes: 1 });
    await unseen.mirror.sync();
    commands.adopt(unseen);
    const early = await commands.run(['why', ...AGENTS]);
    assert.match(early.expectExit(1).stderr, /Nothing can be told .* no run has looked/);
  });
});
