// `rollcall fleet …`: files in, tables read and written, lines and documents out. No cluster is asked.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { stringify } from 'yaml';
import type { JsonObject } from '@rollcall/base/json.ts';
import { clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import { CommandWorld, type CommandRun } from '../../../support/command-world.ts';
import { fleetDocument, liveOf, manifestOf } from '../../../support/fleet-samples.ts';
import { metaOf, registrationOf, sliceOf, stampAt } from '../../../support/store-suite.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-fleet-'));
after(() => {
  rmSync(directory, { recursive: true });
});

let count = 0;

function fileOf(document: JsonObject): string {
  count += 1;
  const file = path.join(directory, `fleet-${String(count)}.yaml`);
  writeFileSync(file, stringify(document));
  return file;
}

interface ClusterOptions {
  readonly mode?: 'observe' | 'copilot' | 'takeover';
  readonly labels?: Readonly<Record<string, string>>;
  readonly nodes?: number;
  readonly heardAgoMs?: number;
  /** What runs there. */
  readonly manifest?: JsonObject;
}

/** Registers a cluster and writes its view. */
async function addCluster(
  world: CommandWorld,
  id: string,
  options: ClusterOptions = {},
): Promise<void> {
  const { mode = 'takeover', labels = {}, nodes = 2, heardAgoMs = 0, manifest } = options;
  const { registry, view } = world.stores();
  const authentication = { kind: 'bearer', token: 'hunter2' } as const;
  await registry.writeCluster({ ...registrationOf(id), mode, labels, authentication }, 0);
  const cluster = clusterUid(`uid-of-${id}`);
  const stamp = stampAt(1);
  await view.writeSlice(
    { clusterUid: cluster, set: 'nodes', index: 0 },
    sliceOf(stamp, nodes),
    undefined,
  );
  if (manifest !== undefined) {
    const own = uid(`set-of-${id}`);
    await view.writeName(cluster, { namespace: 'monitoring', name: 'agent', uid: own, stamp });
    const object = liveOf(manifest, nodes);
    await view.writeDaemonSet({ clusterUid: cluster, uid: own }, { stamp, object });
  }
  const lastSentAtMs = world.clock.nowMs() - heardAgoMs;
  await view.writeMeta({ ...metaOf(`uid-of-${id}`), isComplete: true, lastSentAtMs });
}

/** As the fleet below renders it. */
const RUNS = { ...manifestOf(), metadata: { annotations: { 'rollcall.dev/rollout': '{}' } } };
const STRATEGY = { stages: [{ name: 'first', clusterNames: ['a'] }] };

async function worldOf(): Promise<CommandWorld> {
  const world = new CommandWorld();
  world.environment = { USER: 'ann' };
  await addCluster(world, 'a', { manifest: manifestOf({}, 'registry.example/agent:0'), nodes: 3 });
  await addCluster(world, 'b', { manifest: RUNS });
  await addCluster(world, 'c');
  await addCluster(world, 'lab', { mode: 'observe', nodes: 7 });
  await addCluster(world, 'ship', { heardAgoMs: 86_400_000 });
  return world;
}

function lines(run: CommandRun): readonly string[] {
  return run.stdout.trimEnd().split('\n');
}

describe('rollcall fleet plan', () => {
  it('shows stages, clusters, who is not touched and who is offline', async () => {
    const world = await worldOf();
    const file = fileOf(fleetDocument({ strategy: STRATEGY }));
    const run = (await world.run(['fleet', 'plan', '-f', file])).expectExit(0);
    assert.deepEqual(lines(run), [
      'monitoring/agent, as in the file',
      '3 clusters: 1 gets it, 1 changes, 1 has it; 5 nodes change.',
      '',
      'STAGE  CLUSTERS  NODES  AT ONCE  MAY FAIL  SOAK  APPROVAL  WINDOW',
      'first  1         3      1        0         1h    none      any time',
      'rest   2         2      1        0         1h    none      any time',
      '',
      'CLUSTER  STAGE  MODE      CHANGE  NODES  NOW  IMAGES',
      'a        first  takeover  update  3      3    agent: registry.example/agent:0 -> registry.example/agent:1',
      ...lines(run).slice(9, 11),
      '',
      'Not touched, whatever the fleet says:',
      '  lab: mode observe: Rollcall only looks; create, 7 nodes agent: - -> registry.example/agent:1',
      '',
      'Offline: they neither block nor count; they follow in a ring of their own.',
      '  ship: not heard for 1d; as of then: create',
    ]);
    // Their order is the fleet's own.
    assert.deepEqual([...lines(run).slice(9, 11)].sort(), [
      'b        rest   takeover  none    2      2',
      'c        rest   takeover  create  2      ?    agent: - -> registry.example/agent:1',
    ]);
  });

  it('says of a first stage of some nodes where all get it at once, and where they go on', async () => {
    const world = await worldOf();
    const planned = async (clusterNames: readonly string[]): Promise<readonly string[]> => {
      const strategy = { stages: [{ name: 'first', clusterNames, nodes: 1 }, { name: 'then' }] };
      const file = fileOf(fleetDocument({ strategy }));
      return lines((await world.run(['fleet', 'plan', '-f', file])).expectExit(0));
    };
    const cells = (line: string | undefined): string =>
      (line ?? '').split(/ {2,}/).slice(0, 3).join('|');
    const both = await planned(['a', 'c']);
    assert.equal(
      cells(both[4]),
      'first|2|3 (first 1 of each cluster; all at once where none has it yet)',
    );
    assert.equal(cells(both[5]), 'then|1|2');
    assert.deepEqual(
      both
        .slice(8, 10)
        .map((line) => line.split(/ {2,}/).slice(0, 2))
        .sort(),
      [
        ['a', 'first (first 1), then then'],
        ['c', 'first'],
      ],
    );
    assert.equal(cells((await planned(['c']))[4]), 'first|1|2 (all at once: none has it yet)');
    assert.equal(cells((await planned(['a']))[4]), 'first|1|1 (first 1 of each cluster)');
  });

  it('says the same as one document, without credentials or environment variables (S11)', async () => {
    const world = await worldOf();
    const run = await world.run(['fleet', 'plan', '-f', fileOf(fleetDocument()), '--json']);
    const document = run.expectExit(0).document();
    assert.equal(document['kind'], 'FleetPlan');
    assert.deepEqual(document['totals'], {
      clusters: 3,
      created: 1,
      updated: 1,
      adjusted: 0,
      same: 1,
      unknown: 0,
      changedNodes: 5,
      untouched: 1,
      offline: 1,
    });
    assert.doesNotMatch(run.stdout, /hunter2/);
  });

  it('takes a DaemonSet that was deleted for none, and says of one that travelled opaque that it cannot tell', async () => {
    const world = new CommandWorld();
    for (const id of ['gone', 'opaque']) {
      await addCluster(world, id, { manifest: manifestOf() });
      const ref = { clusterUid: clusterUid(`uid-of-${id}`), uid: uid(`set-of-${id}`) };
      const opaque = id === 'opaque' ? { opaqueReason: 'too-large' } : {};
      const item = { stamp: stampAt(2), object: null, ...opaque };
      assert.equal(await world.stores().view.writeDaemonSet(ref, item), 'written');
    }
    const run = (await world.run(['fleet', 'plan', '-f', fileOf(fleetDocument())])).expectExit(0);
    assert.match(run.stdout, /^gone +\w+ +takeover +create /m);
    assert.match(run.stdout, /^opaque +\w+ +takeover +unknown /m);
    assert.match(run.stdout, /^2 clusters: 1 gets it, 0 change, 0 have it, 1 cannot be told/m);
  });

  it('leaves with 3 when some cluster would be given nothing, and shows the others', async () => {
    const world = await worldOf();
    const overrides = [
      { name: 'odd', clusterNames: ['c'], jsonPatch: [{ op: 'remove', path: '/spec/selector' }] },
    ];
    const run = await world.run(['fleet', 'plan', '-f', fileOf(fleetDocument({ overrides }))]);
    run.expectExit(3);
    assert.match(run.stdout, /^ {2}c spec\.selector: must name .*override odd/m);
    assert.match(run.stdout, /^2 clusters/m);
  });

  it('keeps RollingUpdate from clusters in copilot, by their name and with what to do', async () => {
    const world = await worldOf();
    await addCluster(world, 'eks', { mode: 'copilot' });
    const rolling = fileOf(fleetDocument());
    const plan = (await world.run(['fleet', 'plan', '-f', rolling])).expectExit(3);
    assert.match(plan.stdout, /^ {2}eks spec\.updateStrategy\.type: must be OnDelete.*override/m);
    for (const check of [[], ['--no-server-check']]) {
      const apply = await world.run(['fleet', 'apply', '-f', rolling, ...check]);
      assert.match(apply.expectExit(3).stderr, /eks spec\.updateStrategy\.type: must be OnDelete/);
    }
    const strategicMerge = { spec: { updateStrategy: { type: 'OnDelete' } } };
    const overrides = [{ name: 'copilots', clusterNames: ['eks'], strategicMerge }];
    const mended = fileOf(fleetDocument({ overrides }));
    (await world.run(['fleet', 'plan', '-f', mended])).expectExit(0);
    (await world.run(['fleet', 'apply', '-f', mended])).expectExit(0);
  });

  it('reads a file that Helm rendered, beside its own, and names what it leaves out', async () => {
    const world = await worldOf();
    const { spec, ...rest } = fleetDocument();
    const { template: _inline, ...others } = spec as JsonObject;
    writeFileSync(
      path.join(directory, 'rendered.yaml'),
      `${stringify(manifestOf())}---\nkind: ConfigMap\nmetadata: {name: settings}\n`,
    );
    const file = fileOf({ ...rest, spec: { templateFile: 'rendered.yaml', ...others } });
    const run = (await world.run(['fleet', 'plan', '-f', file])).expectExit(0);
    assert.match(run.stdout, /Not part of the fleet, deliver it as before: ConfigMap settings/);
  });

  for (const [what, argv] of [
    ['neither file nor name', ['fleet', 'plan']],
    ['both', ['fleet', 'plan', 'monitoring/agent', '-f', 'x']],
    ['a file that is not there', ['fleet', 'plan', '-f', path.join(directory, 'none')]],
    ['a name that is none', ['fleet', 'diff', 'agent']],
  ] as const) {
    it(`refuses ${what} before any table is opened`, async () => {
      const world = new CommandWorld();
      (await world.run(argv)).expectExit(2);
      assert.equal(world.openCount, 0);
    });
  }

  it('tells every problem of a file by its field, with 2', async () => {
    const file = fileOf(fleetDocument({ placement: {}, strategy: { soak: 'soon' } }));
    const run = (await new CommandWorld().run(['fleet', 'apply', '-f', file])).expectExit(2);
    assert.match(run.stderr, /^ {2}spec\.placement: must have/m);
    assert.match(run.stderr, /^ {2}spec\.strategy\.soak: must be a duration/m);
  });
});

describe('rollcall fleet diff', () => {
  it('tells fields, and values only where they are no secrets; leaves with 6', async () => {
    const world = new CommandWorld();
    const live = manifestOf({
      containers: [
        { name: 'agent', image: 'agent:0', env: [{ name: 'TOKEN', value: 'geheim' }], args: ['x'] },
      ],
      hostNetwork: true,
    });
    await addCluster(world, 'a', { manifest: live });
    const file = fileOf(fleetDocument());
    const run = (await world.run(['fleet', 'diff', '-f', file])).expectExit(6);
    assert.deepEqual(lines(run), [
      'monitoring/agent, as in the file',
      'a (stage canary, 2 nodes): differs',
      '  metadata.annotations[rollcall.dev/rollout] missing',
      '  spec.template.spec.containers[agent].image: agent:0 -> registry.example/agent:1',
      '  spec.template.spec.containers[agent].env[TOKEN].value changed',
      '  spec.template.spec.containers[agent].args extra',
      '  spec.template.spec.hostNetwork: true -> -',
    ]);
    const json = await world.run(['fleet', 'diff', '-f', file, '--json']);
    assert.doesNotMatch(json.stdout, /geheim|hunter2/);
  });

  it('leaves with 0 when nothing differs that Rollcall may change', async () => {
    const world = new CommandWorld();
    await addCluster(world, 'a', { manifest: RUNS });
    const file = fileOf(fleetDocument());
    const same = (await world.run(['fleet', 'diff', '-f', file])).expectExit(0);
    assert.match(same.stdout, /Nothing differs\./);
    await addCluster(world, 'lab', { mode: 'observe' });
    const observed = (await world.run(['fleet', 'diff', '-f', file])).expectExit(0);
    assert.match(observed.stdout, /^lab \(untouched: observe, 2 nodes\): has none$/m);
  });
});

describe('rollcall fleet apply, get, describe, delete', () => {
  const fleet = 'monitoring/agent';

  it('stores what was applied, once; raises the generation when it changes', async () => {
    const world = await worldOf();
    const apply = async (spec: JsonObject): Promise<readonly unknown[]> => {
      const run = await world.run(['fleet', 'apply', '-f', fileOf(fleetDocument(spec)), '--json']);
      const { result, generation, placedClusters } = run.expectExit(0).document();
      return [result, generation, placedClusters];
    };
    assert.deepEqual(await apply({}), ['created', 1, 5]);
    assert.deepEqual(await apply({}), ['unchanged', 1, 5]);
    assert.deepEqual(await apply({ placement: { clusterNames: ['a'] } }), ['changed', 2, 1]);
    const plan = (await world.run(['fleet', 'plan', fleet])).expectExit(0);
    assert.match(plan.stdout, /^monitoring\/agent, generation 2$/m);
    const list = (await world.run(['fleet', 'get'])).expectExit(0);
    assert.match(list.stdout, /^monitoring\/agent +2 +\d+s ago +ann \(Admin\/ann\)$/m);
  });

  it('stores nothing of which some cluster could be given nothing, whatever its mode', async () => {
    const world = await worldOf();
    const overrides = [
      { name: 'odd', clusterNames: ['lab'], strategicMerge: { metadata: { name: 'other' } } },
    ];
    const file = fileOf(fleetDocument({ overrides }));
    const run = (await world.run(['fleet', 'apply', '-f', file])).expectExit(3);
    assert.match(run.stderr, /^ {2}lab metadata\.name: /m);
    assert.match((await world.run(['fleet', 'get'])).stdout, /^No FleetDaemonSets/);
  });

  it('refuses when somebody else applied meanwhile, and changes nothing', async () => {
    const world = await worldOf();
    await world.run(['fleet', 'apply', '-f', fileOf(fleetDocument())]);
    const { fleets } = world.stores();
    const write = fleets.writeFleet.bind(fleets);
    fleets.writeFleet = async (written, former) => {
      fleets.writeFleet = write;
      await write({ ...written, appliedBy: 'other', document: { other: true } }, former);
      return write(written, former);
    };
    const file = fileOf(fleetDocument({ placement: { clusterNames: ['a'] } }));
    (await world.run(['fleet', 'apply', '-f', file])).expectExit(3);
    const stored = await fleets.readFleet({ namespace: 'monitoring', name: 'agent' });
    assert.deepEqual(stored?.document, { other: true });
    // What a newer release wrote is told, not guessed.
    const run = (await world.run(['fleet', 'describe', fleet])).expectExit(1);
    assert.match(run.stderr, /^ {2}other: is not known here/m);
  });

  it('prints what was applied so that it can be applied again', async () => {
    const world = await worldOf();
    await world.run(['fleet', 'apply', '-f', fileOf(fleetDocument())]);
    const got = (await world.run(['fleet', 'get', fleet])).expectExit(0);
    const file = path.join(directory, 'again.yaml');
    writeFileSync(file, got.stdout);
    const again = await world.run(['fleet', 'apply', '-f', file, '--json']);
    assert.equal(again.expectExit(0).document()['result'], 'unchanged');
  });

  it('describes one: what it is, and how its clusters stand to it', async () => {
    const world = await worldOf();
    await world.run(['fleet', 'apply', '-f', fileOf(fleetDocument({ strategy: STRATEGY }))]);
    const run = (await world.run(['fleet', 'describe', fleet])).expectExit(0);
    assert.match(run.stdout, /^images: +agent: registry\.example\/agent:1$/m);
    assert.match(run.stdout, /^3 clusters: 1 gets it, 1 changes, 1 has it/m);
    assert.match(run.stdout, /^How far it is: rollcall fleet status monitoring\/agent$/m);
  });

  it('forgets one, and leaves clusters alone', async () => {
    const world = await worldOf();
    await world.run(['fleet', 'apply', '-f', fileOf(fleetDocument())]);
    (await world.run(['fleet', 'delete', fleet])).expectExit(0);
    for (const words of [['plan'], ['get'], ['describe'], ['delete'], ['diff']]) {
      (await world.run(['fleet', ...words, fleet])).expectExit(1);
    }
    assert.deepEqual(world.stores().hints.sends, []);
  });

  it('a cluster whose registration cannot be read hides no other', async () => {
    const world = await worldOf();
    const { registry } = world.stores();
    const readCluster = registry.readCluster.bind(registry);
    registry.readCluster = (id) =>
      id === 'c'
        ? Promise.reject(Object.assign(new Error('c is damaged'), { name: 'ItemUnreadableError' }))
        : readCluster(id);
    const run = (await world.run(['fleet', 'plan', '-f', fileOf(fleetDocument())])).expectExit(0);
    assert.match(run.stdout, /^! c cannot be read: c is damaged$/m);
    assert.match(run.stdout, /^2 clusters/m);
  });
});
