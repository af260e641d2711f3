/** `rollcall plan` as a person uses it, over what whole runs left: what it says, what it leaves with, and that it touches nothing. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import type { CommandRun } from '../../../support/command-world.ts';
import { ReconcileWorld, sampleDaemonSet } from '../../../support/reconcile-world.ts';
import type { WorldOptions } from '../../../support/reconcile-world.ts';

const AGENTS = ['plan', 'a', '--daemonset', 'system/agents'];
const IMAGE = [...AGENTS, '--set-image', 'example/agent:2'];

interface World {
  readonly runs: ReconcileWorld;
  readonly commands: CommandWorld;
}

async function settled(options: WorldOptions = {}): Promise<World> {
  const runs = new ReconcileWorld({ nodes: 3, ...options });
  await runs.settle();
  await runs.mirror.sync();
  const commands = new CommandWorld();
  commands.environment = { USER: 'ann' };
  commands.adopt(runs);
  return { runs, commands };
}

function manifestOf(change: Partial<DaemonSetObject['spec']> = {}): Record<string, unknown> {
  const { spec } = sampleDaemonSet();
  const metadata = { namespace: 'system', name: 'agents' };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { ...spec, ...change } };
}

/** The words that plan it. */
function applying(manifest: object): readonly string[] {
  return ['plan', 'a', '--manifest', JSON.stringify(manifest)];
}

interface Told {
  readonly result: string;
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
  readonly steps: readonly { readonly kind: string; readonly nodes: number }[];
  readonly nodes: readonly {
    readonly node: string;
    readonly change: string;
    readonly reason: string;
  }[];
}

function told(run: CommandRun): Told {
  return run.document() as unknown as Told; // the document of the command
}

/** `change reason: node node`, of nodes that do not stay as they are. */
function changes(run: CommandRun): readonly string[] {
  const changing = told(run).nodes.filter(({ change }) => change !== 'unchanged');
  const groups = Map.groupBy(changing, ({ change, reason }) => `${change} ${reason}`);
  return [...groups].map(([name, nodes]) => `${name}: ${nodes.map(({ node }) => node).join(' ')}`);
}

describe('rollcall plan', () => {
  it('says which nodes an image restarts, in which order, and what its times rest on', async () => {
    const { commands } = await settled();
    const { stdout } = (await commands.run(IMAGE)).expectExit(6);
    assert.deepEqual(stdout.trimEnd().split('\n').slice(1, 5), [
      '3 nodes: 3 have their pods replaced.',
      '',
      'CHANGE     NODES  REASON    WHY                        NAMES',
      'restarted  3      Updating  its pod is being replaced  node-0001, node-0002, node-0003',
    ]);
    assert.match(stdout, /^rolling update {2}3 /m);
    assert.match(stdout, /Times are estimates: .* the median of 3 pods of now/);
  });

  it('is a comment for a pull request, in which nothing of a cluster ends a cell', async () => {
    const { commands } = await settled();
    const { stdout } = (await commands.run([...IMAGE, '-o', 'markdown'])).expectExit(6);
    assert.match(
      stdout,
      /^### `a\/system\/agents`\n\n\*\*3 nodes: 3 have their pods replaced\.\*\*/,
    );
    assert.match(stdout, /^\| restarted \| 3 \| .* \| `node-0001, node-0002, node-0003` \|$/m);
  });

  it('leaves with 0 where nothing changes: the manifest that stands, and a cordon', async () => {
    const { commands } = await settled();
    const same = await commands.run([...applying(manifestOf()), '--json']);
    same.expectExit(0);
    assert.equal(told(same).result, 'none');
    assert.equal(same.document()['edit'], 'nothing');
    (await commands.run([...AGENTS, '--cordon', 'node-0001'])).expectExit(0);
  });

  it('takes a manifest as kubectl apply does, from a file or a text', async (t) => {
    const { commands } = await settled();
    const nodeSelector = { pool: 'gpu' };
    const template = { ...sampleDaemonSet().spec.template };
    const spec = { ...template.spec, nodeSelector };
    const manifest = manifestOf({ template: { ...template, spec } });
    const run = await commands.run([...applying(manifest), '--json']);
    assert.deepEqual(changes(run.expectExit(6)), [
      'lost NodeSelectorMismatch: node-0001 node-0002 node-0003',
    ]);
    const labelled = ['--label', 'node-0002=pool=gpu'];
    const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-plan-'));
    t.after(() => {
      rmSync(folder, { recursive: true });
    });
    const file = path.join(folder, 'daemonset.yaml');
    writeFileSync(file, JSON.stringify(manifest));
    const both = await commands.run(['plan', 'a', '-f', file, ...labelled, '--json']);
    assert.deepEqual(changes(both.expectExit(6)), [
      'lost NodeSelectorMismatch: node-0001 node-0003',
      'restarted Updating: node-0002',
    ]);
  });

  it('judges edits of nodes', async () => {
    const { commands } = await settled();
    const taint = ['--taint', 'node-0001=gpu:NoExecute', '--delete-node', 'node-0003'];
    const run = await commands.run([...AGENTS, ...taint, '--json']);
    assert.deepEqual(changes(run.expectExit(6)), [
      'lost TaintNotTolerated: node-0001',
      'lost NotWanted: node-0003',
    ]);
  });

  it('plans a DaemonSet that is not there yet, and one that is deleted', async () => {
    const { commands } = await settled();
    const metadata = { namespace: 'system', name: 'others' };
    const other = applying({ ...manifestOf(), metadata });
    const created = (await commands.run([...other, '--json'])).expectExit(6);
    assert.deepEqual(changes(created), ['gained Creating: node-0001 node-0002 node-0003']);
    const deleted = (await commands.run([...AGENTS, '--delete', '--json'])).expectExit(6);
    assert.deepEqual(changes(deleted), ['lost NotWanted: node-0001 node-0002 node-0003']);
    assert.match(told(deleted).notes.join(), /no mode, freeze, policy or confirmation holds that/);
  });

  it('names the field of what would be refused, and leaves with 3', async () => {
    const { commands } = await settled();
    const other = { matchLabels: { app: 'others' } };
    const template = {
      metadata: { labels: { app: 'others' } },
      spec: { containers: [], tolerations: 'x' },
    };
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [
        ['--manifest', JSON.stringify({ ...manifestOf(), spek: {} })],
        /^spek: is no field of Kubernetes: did you mean spec\?$/,
      ],
      [
        ['--manifest', JSON.stringify(manifestOf({ template: template as never }))],
        /containers: must be a list/,
      ],
      [['--manifest', 'kind: Deployment'], /must hold one DaemonSet, and holds none/],
      [
        [
          '--manifest',
          JSON.stringify(
            manifestOf({
              selector: other,
              template: {
                metadata: { labels: { app: 'others' } },
                spec: sampleDaemonSet().spec.template.spec ?? {},
              },
            }),
          ),
        ],
        /^spec\.selector: cannot be changed/,
      ],
      [
        ['--daemonset', 'system/agents', '--set-image', 'sidecar=x:1'],
        /has no sidecar; there are agent/,
      ],
      [['--daemonset', 'system/agents', '--cordon', 'gone'], /^node gone: is not in the view/],
    ];
    for (const [options, expected] of cases) {
      const run = (await commands.run(['plan', 'a', ...options, '--json'])).expectExit(3);
      assert.equal(told(run).result, 'refused');
      assert.match(told(run).refusals.join('\n'), expected);
    }
  });

  it('does not take two edits of the DaemonSet at once, nor none', async () => {
    const { commands } = await settled();
    (await commands.run(['plan', 'a', '--label', 'node-0001=a=b'])).expectExit(2);
    (await commands.run([...AGENTS, '--manifest', 'x'])).expectExit(2);
    (await commands.run([...AGENTS, '--taint', 'node-0001=gpu:Never'])).expectExit(2);
  });
});

describe('rollcall plan in the worst hour', () => {
  it('says that it is held, by whom, and what would happen else', async () => {
    const { commands } = await settled();
    (await commands.run(['freeze', '--why', 'CVE-1', '--yes'])).expectExit(0);
    const run = (await commands.run([...IMAGE, '--json'])).expectExit(6);
    assert.deepEqual(changes(run), ['held frozen: node-0001 node-0002 node-0003']);
    assert.match(
      told(run).notes.join(),
      /Held, as it is frozen: .*by ann.*[^.]\. Go on: rollcall thaw --yes\./,
    );
    assert.deepEqual(told(run).steps, []);
  });

  it('leaves with 7 where the watcher is silent, and says since when', async () => {
    const { runs, commands } = await settled();
    await commands.clock.advance(runs.clock.nowMs() + 3_600_000 - commands.clock.nowMs());
    const run = (await commands.run([...IMAGE, '--json'])).expectExit(7);
    assert.deepEqual(changes(run), ['held cluster-silent: node-0001 node-0002 node-0003']);
    const { stdout } = await commands.run(IMAGE);
    assert.match(stdout, /^! nothing was heard of the watcher of a since /);
  });

  it('holds everything on a view that is not whole', async () => {
    const { runs, commands } = await settled();
    const meta = await runs.view.readMeta(runs.registration.clusterUid);
    assert.ok(meta !== undefined);
    await runs.view.writeMeta({ ...meta, isComplete: false, incompleteReason: 'gap' });
    const run = (await commands.run([...IMAGE, '--json'])).expectExit(6);
    assert.deepEqual(changes(run), ['held view-incomplete: node-0001 node-0002 node-0003']);
  });

  it('says that there is no such cluster or DaemonSet, and that no run has looked yet', async () => {
    const { commands } = await settled();
    (await commands.run(['plan', 'b', '--daemonset', 'system/agents'])).expectExit(1);
    (await commands.run(['plan', 'a', '--daemonset', 'system/none'])).expectExit(1);
    const fresh = new ReconcileWorld({ nodes: 1 });
    await fresh.mirror.sync();
    commands.adopt(fresh);
    const run = (await commands.run(IMAGE)).expectExit(1);
    assert.match(run.stderr, /no run has looked at it yet/);
  });

  it('reads tables alone: it writes nothing and asks no cluster', async () => {
    const { runs, commands } = await settled();
    const writes = (): number => runs.view.calls.filter(({ isWrite }) => isWrite).length;
    const before = writes();
    const requests = runs.cluster.requests.length;
    runs.registry.hooks.before = ({ isWrite }) => {
      if (isWrite) throw new Error('a plan writes nothing');
    };
    (await commands.run(IMAGE)).expectExit(6);
    const other = { ...manifestOf(), metadata: { namespace: 'system', name: 'others' } };
    (await commands.run(applying(other))).expectExit(6);
    assert.equal(writes(), before);
    assert.equal(runs.cluster.requests.length, requests);
    assert.deepEqual(commands.stores().hints.hints, []);
  });
});

describe('rollcall plan by mode', () => {
  it('says that the built-in controller acts where Rollcall only looks', async () => {
    const { commands } = await settled({ mode: 'observe' });
    const run = await commands.run([...IMAGE, '--json']);
    assert.match(told(run).notes.join(), /only observed: the built-in controller acts/);
  });

  it('says that a policy which cannot be read holds every node', async () => {
    const { runs, commands } = await settled();
    runs.cluster.change('daemonsets', { namespace: 'system', name: 'agents' }, (set) => ({
      ...set,
      metadata: { ...set.metadata, annotations: { 'rollcall.dev/rollout': 'soak: soon' } },
    }));
    await runs.mirror.sync();
    const run = (await commands.run([...IMAGE, '--json'])).expectExit(6);
    assert.deepEqual(changes(run), ['held WaitingForRollout: node-0001 node-0002 node-0003']);
    assert.match(told(run).notes.join(), /Its policy is invalid: no pod is updated until/);
  });

  it('says what OnDelete without a policy leaves as it is', async () => {
    const onDelete = (object: DaemonSetObject): DaemonSetObject => ({
      ...object,
      spec: { ...object.spec, updateStrategy: { type: 'OnDelete' } },
    });
    const { commands } = await settled({ daemonSet: onDelete });
    const run = (await commands.run([...IMAGE, '--json'])).expectExit(6);
    assert.deepEqual(changes(run), ['held Outdated: node-0001 node-0002 node-0003']);
  });
});
