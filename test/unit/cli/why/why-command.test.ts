/** `rollcall why` as a person uses it: why there is a pod on each node, or none, over what whole runs left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ItemUnreadableError } from '../../../../src/adapters/dynamodb/item-codec.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { registrationOf } from '../../../support/store-suite.ts';

const AGENTS = ['system/agents', '--cluster', 'a'];

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
  it('tells which nodes lack a serving pod by reason, with what to do, and counts the others', async () => {
    const { stdout } = (await (await world()).run(['why', ...AGENTS])).expectExit(0);
    assert.deepEqual(stdout.trimEnd().split('\n').map(timeless), [
      'a/system/agents: 3 Running, 1 Creating, 1 NotWanted; told at T',
      '  1 coming: node-late (Creating: matches the template and has no taint that it does not tolerate; pod P is being created)',
      '  1 not wanted: tainted  (TaintNotTolerated: has taint gpu:NoSchedule which the template does not tolerate; no pod belongs there)',
      '    do: add the toleration {key: gpu, operator: Exists, effect: NoSchedule} to the template, or remove the taint: kubectl taint node NODE gpu:NoSchedule-',
    ]);
  });

  it('tells what is the same of many nodes once, with their names', async () => {
    const runs = new ReconcileWorld({ nodes: 1 });
    await runs.settle();
    for (const number of [1, 2, 3, 4]) runs.addNode(`late-${String(number)}`);
    await runs.mirror.sync();
    const commands = new CommandWorld();
    commands.environment = { USER: 'ann' };
    commands.adopt(runs);
    (await commands.run(['freeze', '--why', 'CVE-1', '--yes'])).expectExit(0);
    const { stdout } = (await commands.run(['why', ...AGENTS])).expectExit(0);
    assert.deepEqual(stdout.trimEnd().split('\n').slice(-2), [
      '  4 held: late-1, late-2, late-3, late-4 (frozen: needs a change, which waits: The whole stack is frozen by ann (Admin/ann) (CVE-1); only its status is kept up to date)',
      '    do: rollcall thaw --yes',
    ]);
    (await commands.run(['thaw', '--yes'])).expectExit(0);
    (await commands.run(['freeze', '--cluster', 'a', '--why', 'CVE-1'])).expectExit(0);
    const ofCluster = (await commands.run(['why', ...AGENTS])).expectExit(0).stdout;
    assert.match(ofCluster, /^ +do: rollcall thaw --cluster a$/m);
  });

  it('tells no budget of a policy that no plan of now goes by: it is not that of the strategy', async () => {
    const runs = new ReconcileWorld({ nodes: 5 });
    await runs.settle();
    runs.cluster.change('daemonsets', { namespace: 'system', name: 'agents' }, (set) => ({
      ...set,
      metadata: { ...set.metadata, annotations: { 'rollcall.dev/rollout': 'maxUnavailable: 3' } },
    }));
    await runs.mirror.sync();
    await runs.settle();
    const commands = new CommandWorld();
    commands.adopt(runs);
    const budgetOf = async (): Promise<unknown> => {
      const { answers } = (await commands.run(['why', ...AGENTS, '--json']))
        .expectExit(0)
        .document();
      const [answer] = answers as readonly { budget?: { unavailableNodesMax: number } }[];
      return answer?.budget?.unavailableNodesMax;
    };
    assert.equal(await budgetOf(), 3);
    (await commands.run(['freeze', '--cluster', 'a', '--why', 'CVE-1'])).expectExit(0);
    assert.equal(await budgetOf(), undefined);
  });

  it('asks every cluster where none is named, and says which cannot be read', async () => {
    const commands = await world();
    const { registry } = commands.stores();
    for (const id of ['b', 'broken']) registry.seed(registrationOf(id));
    registry.hooks.before = ({ target }) => {
      if (target === 'broken')
        throw new ItemUnreadableError({ pk: 'c', sk: 'r' }, 'of a newer release');
    };
    const run = (await commands.run(['why', 'system/agents'])).expectExit(1);
    assert.match(run.stdout, /^a\/system\/agents: 3 Running/m);
    assert.match(
      run.stdout,
      /^broken\/system\/agents: its nodes cannot be judged.*broken cannot be read/m,
    );
    assert.doesNotMatch(run.stdout, /^b\//m);
  });

  it('tells of every DaemonSet of a node, whatever its code', async () => {
    const argv = ['why', '--cluster', 'a', '--node', 'node-0001'];
    const { stdout } = (await (await world()).run(argv)).expectExit(0);
    assert.match(stdout, /^a\/system\/agents: 1 Running; told at /m);
    assert.match(stdout, /^ {2}1 serving: node-0001 \(Running: has ready pod /m);
  });

  it('tells of one node whatever its code, and never steers the terminal', async () => {
    const node = 'tainted\u001b';
    const run = await (await world()).run(['why', ...AGENTS, '--node', node]);
    const { stdout } = run.expectExit(0);
    assert.match(stdout, /1 not wanted: tainted .*taint/m);
    assert.doesNotMatch(stdout, /\u001b/);
  });

  it('shows nodes with a serving pod when asked to', async () => {
    const run = await (await world()).run(['why', ...AGENTS, '--all']);
    assert.match(run.expectExit(0).stdout, /^ {2}3 serving: node-0001, node-0002, node-0003 /m);
  });

  it('has a document with groups, and each node of them with its placement and sentence', async () => {
    const run = await (await world()).run(['why', ...AGENTS, '--all', '--json']);
    const { kind, answers } = run.expectExit(0).document();
    assert.equal(kind, 'Explanation');
    const [answer] = answers as readonly {
      readonly counts: Readonly<Record<string, number>>;
      readonly groups: readonly { readonly kind: string; readonly nodes: readonly string[] }[];
      readonly nodes: readonly { readonly placement: string; readonly message: string }[];
    }[];
    assert.equal(answer?.counts['Running'], 3);
    assert.deepEqual(
      answer.groups.map(({ kind: of, nodes }) => [of, nodes.length]),
      [
        ['coming', 1],
        ['not-wanted', 1],
        ['serving', 3],
      ],
    );
    assert.deepEqual(answer.nodes.map(({ placement }) => placement).toSorted(), [
      ...['keep', 'run', 'run', 'run', 'run'],
    ]);
    assert.ok(answer.nodes.every(({ message }) => message.startsWith('Node ')));
  });

  it('leaves with 1 for what is not there, and while nothing can be told', async () => {
    const commands = await world();
    const unknown = await commands.run(['why', ...AGENTS, '--node', 'n9']);
    assert.match(unknown.expectExit(1).stderr, /The view of a has no node n9/);
    const other = await commands.run(['why', 'system/other']);
    assert.match(other.expectExit(1).stderr, /There is no DaemonSet system\/other in any cluster/);
    (await commands.run(['why', 'agents'])).expectExit(2);
    (await commands.run(['why', '--node', 'n1'])).expectExit(2);
    const unseen = new ReconcileWorld({ nodes: 1 });
    await unseen.mirror.sync();
    commands.adopt(unseen);
    const early = await commands.run(['why', ...AGENTS]);
    assert.match(
      early.expectExit(1).stderr,
      /The nodes of .* cannot be judged now.* no run has looked/,
    );
  });
});

/** Without times, names of pods, and what a terminal would not be given. */
function timeless(line: string): string {
  return line.replaceAll(/\d{4}-\S+Z/g, 'T').replaceAll(/pod agents-\w+/g, 'pod P');
}
