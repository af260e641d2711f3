/** `rollcall get nodes` in each state of the worst hour: no node is shown as well of which that is not known. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandWorld } from '../../../support/command-world.ts';
import { ItemUnreadableError } from '../../../../src/adapters/dynamodb/item-codec.ts';
import { Scene, type State } from '../../../support/answer-scene.ts';

interface Drawn {
  readonly clusters: readonly {
    readonly state: string;
    readonly isKnown: boolean;
    readonly unknown?: string;
    readonly names: readonly string[];
    readonly reason: readonly number[];
    readonly daemonSet: readonly number[];
  }[];
  readonly reasons: readonly string[];
}

/** State of the cluster, how many nodes are named, and their codes, each once; `?`: not known. */
async function seenIn(scene: Scene): Promise<string> {
  const run = (await scene.commands.run(['get', 'nodes', '--json'])).expectExit(0);
  const { clusters, reasons } = run.document() as unknown as Drawn; // the document of the command
  const [one] = clusters;
  assert.ok(one !== undefined);
  assert.equal(one.isKnown, one.unknown === undefined);
  const codes = new Set(one.reason.map((index) => reasons[index] ?? '?'));
  const known = one.isKnown ? '' : ` (${one.unknown ?? ''})`;
  return `${one.state}: ${String(one.names.length)} ${[...codes].join(', ')}${known}`;
}

const SEEN: Readonly<Record<State, RegExp>> = {
  well: /^Well: 3 Running$/,
  stopped: /^Stopped: 3 \? \(stopped since /,
  frozen: /^Lacking: 3 frozen$/,
  'watcher gone': /^Silent: 3 \? \(nothing was heard of the watcher of a since /,
  'watcher stood by': /^StandsBy: 3 \? \(the watcher of a stands by since /,
  'reconcile behind': /^Behind: 3 \? \(a look has been due since /,
  'all functions behind': /^Stopped: 3 \? \(no function has come to its turn since /,
  'API server gone': /^Unreachable: 3 \? \(the API server of a does not answer /,
  'first release': /^Lacking: 3 Running, Pending$/,
  'nothing eligible': /^Well: 3 NodeSelectorMismatch$/,
  halted: /^Halted: 3 Running$/,
  'object too large': /^Well: 3 \?$/,
  'held by a fleet': /^Well: 3 Running$/,
};

describe('rollcall get nodes', () => {
  for (const [state, expected] of Object.entries(SEEN)) {
    it(`tells what is known: ${state}`, async () => {
      assert.match(await seenIn(await Scene.make(state as State)), expected);
    });
  }

  it('shows a line for each node, and above them of which cluster nothing is known', async () => {
    const well = await Scene.make('well');
    const { stdout } = (await well.commands.run(['get', 'nodes'])).expectExit(0);
    assert.match(stdout, /^CLUSTER +NODE +REASON +DAEMONSET +RELEASE\n/);
    assert.equal(stdout.match(/^a +node-000\d +Running +system\/agents +\w+$/gm)?.length, 3);
    const none = (await new CommandWorld().run(['get', 'nodes'])).expectExit(0).stdout;
    assert.equal(none, 'No nodes.\n');
    const silent = await Scene.make('watcher gone');
    const lines = (await silent.commands.run(['get', 'nodes'])).expectExit(0).stdout;
    assert.match(lines, /^! a: nothing was heard of the watcher/m);
    assert.equal(lines.match(/^a +node-000\d +\? +\? +\?$/gm)?.length, 3);
  });

  it('names a cluster whose registration cannot be read, and judges nothing of it', async () => {
    const scene = await Scene.make('well');
    scene.stores.registry.hooks.before = ({ operation }) => {
      if (operation !== 'readCluster') return;
      throw new ItemUnreadableError({ pk: 'c', sk: 'r' }, 'of a newer release');
    };
    assert.match(await seenIn(scene), /^Unreadable: 0 {2}\(.*of a newer release/);
  });

  it('asks for one DaemonSet, and says where there is none of that name', async () => {
    const { commands } = await Scene.make('well');
    (await commands.run(['get', 'nodes', '--daemonset', 'system/agents'])).expectExit(0);
    const none = (await commands.run(['get', 'nodes', '--daemonset', 'ops/other'])).expectExit(1);
    assert.match(none.stderr, /There is no DaemonSet ops\/other in any cluster/);
    (await commands.run(['get', 'clusters', '--daemonset', 'system/agents'])).expectExit(2);
  });
});
