// `rollcall fleet status`, its orders, undo and history: records in tables, lines and documents out. No cluster is asked.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetRecord } from '../../../../src/core/fleet/rollout/fleet-record.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import { CommandWorld, type CommandRun } from '../../../support/command-world.ts';
import { fleetRecord } from '../../../support/fleet-records.ts';
import { wholeClusterRecord } from '../../../support/fleet-rollout-store-suite.ts';
import { poolOf } from '../../../support/fleet-pools.ts';
import { fleetDocument, manifestOf } from '../../../support/fleet-samples.ts';
import { metaOf, registrationOf } from '../../../support/store-suite.ts';

const FLEET = 'monitoring/agent';
const KEY = { namespace: 'monitoring', name: 'agent' };
const BREACH = {
  cause: 'ClustersFailed',
  atMs: 4000,
  message: '1 of 1 clusters failed',
  clusters: [clusterId('a')],
} as const;

const EMPTY = { id: '', count: 0 };

/** A world with generation 2 applied, and a record of it. */
async function worldOf(changes: Partial<FleetRecord> = {}): Promise<CommandWorld> {
  const world = new CommandWorld();
  world.environment = { USER: 'anna' };
  const { fleets } = world.stores();
  for (const generation of [1, 2]) {
    const former = (await fleets.readFleet(KEY))?.head;
    const document = fleetDocument({
      template: manifestOf({}, `registry.example/agent:${String(generation)}`),
    });
    const history = former === undefined ? [] : [releaseFrom(former.documentId)];
    const written = await fleets.writeFleet(
      {
        ...KEY,
        uid: 'uid-1',
        generation,
        appliedAtMs: 1000,
        appliedBy: 'somebody',
        contentHash: `content-${String(generation)}`,
        history,
        document,
      },
      former,
    );
    assert.equal(written, 'written');
  }
  const { documentId = '' } = (await fleets.readFleet(KEY))?.head ?? {};
  const release = { ...fleetRecord().release, documentId };
  const dueAtMs = world.clock.nowMs() + 86_400_000;
  const stages = fleetRecord().stages.map((stage) => ({ ...stage, members: EMPTY }));
  await write(world, fleetRecord({ release, stages, dueAtMs, ...changes, version: 0 }));
  return world;
}

function releaseFrom(documentId: string): FleetRecord['release'] {
  return { ...fleetRecord().release, generation: 1, documentId, contentHash: 'content-1' };
}

async function write(world: CommandWorld, record: FleetRecord): Promise<void> {
  assert.equal(await world.stores().rollouts.writeRecord(record), 'written');
}

async function recordIn(world: CommandWorld): Promise<FleetRecord> {
  return (await world.stores().rollouts.readRecord(KEY)) ?? assert.fail();
}

const lines = (run: CommandRun): readonly string[] => run.stdout.trimEnd().split('\n');

describe('rollcall fleet status', () => {
  it('tells what small clusters show together, where there are any', async () => {
    const told = await (await worldOf({ pool: poolOf() })).run(['fleet', 'status', FLEET]);
    assert.match(
      told.stdout,
      /^evidence: +2 of 2 nodes of clusters that were given it are bad, 0 of 7 of others .*: E = 28\.\d, 20 halts$/m,
    );
    const none = poolOf({ places: [] });
    const quiet = await (await worldOf({ pool: none })).run(['fleet', 'status', FLEET]);
    assert.doesNotMatch(quiet.stdout, /evidence/);
  });

  it('shows stages with their gates, and the clusters that are not well, the worst first', async () => {
    const world = await worldOf();
    const { rollouts, registry, view } = world.stores();
    const ids = ['a', 'b', 'c', 'd', 'e'].map(clusterId);
    for (const id of ids) {
      await registry.writeCluster({ ...registrationOf(id), mode: 'takeover' }, 0);
      await view.writeMeta({
        ...metaOf(`uid-of-${id}`),
        ...(id === 'a' ? { incompleteReason: 'a message was lost' } : { isComplete: true }),
        lastSentAtMs: world.clock.nowMs() - (id === 'c' ? 1_800_000 : 0),
      });
    }
    const record = await recordIn(world);
    const list = await rollouts.writeMembers(record, ids);
    const [stage] = record.stages;
    assert.ok(stage !== undefined);
    await write(world, { ...record, stages: [{ ...stage, members: list }] });
    const given = (id: string, changes: object): Promise<unknown> => {
      const { failure: _none, ...whole } = wholeClusterRecord(id);
      const record_ = { ...whole, place: 0, contentHash: 'content', ...changes };
      return rollouts.writeClusterRecord(record, record_);
    };
    const failure = { cause: 'Halted/StartFailure', message: 'no image', atMs: 1, nodes: [] };
    await given('d', { phase: 'failed', nodes: { updated: 1, desired: 9 }, failure });
    await given('c', { phase: 'rolling', nodes: { updated: 0, desired: 5 } });
    await given('a', { phase: 'rolling', nodes: { updated: 2, desired: 5 } });
    await given('b', { phase: 'well', nodes: { updated: 7, desired: 7 } });
    const run = (await world.run(['fleet', 'status', FLEET])).expectExit(0);
    const shown = lines(run);
    assert.equal(shown[0], 'monitoring/agent: Progressing');
    const table = shown.slice(shown.findIndex((line) => line.startsWith('STAGE')));
    assert.deepEqual(table.slice(0, 2), [
      'STAGE  STATE  CLUSTERS  FAILED  WELL  ROLLING  WAITING  NODES',
      'first  open   5         1       1     2        1        10/26',
    ]);
    const rows = table.slice(4).map((line) => line.split(/ {2,}/));
    assert.deepEqual(
      rows.slice(0, 3).map(([id, , state, nodes, , why]) => [id, state, nodes, why]),
      [
        ['d', 'failed', '1/9', 'Halted/StartFailure: no image'],
        ['c', 'rolling', '0/5', 'offline: not heard for 30 minutes'],
        [
          'a',
          'rolling',
          '2/5',
          'its view is not whole (a message was lost), so it holds its stage; rollcall cluster doctor says more',
        ],
      ],
    );
    assert.equal(shown.at(-1), 'and 1 waiting, 1 well: -o wide shows them');
    const wide = (await world.run(['fleet', 'status', FLEET, '-o', 'wide'])).expectExit(0);
    assert.match(wide.stdout, /^e +first +waiting +- +-/m);
    const document = (await world.run(['fleet', 'status', FLEET, '--json'])).document();
    const clusters = document['clusters'] as readonly { readonly cluster: string }[];
    assert.deepEqual(
      clusters.map(({ cluster }) => cluster),
      ['d', 'c', 'a', 'e', 'b'],
    );
  });

  it('counts the cluster of a first stage of some nodes once, where it goes on', async () => {
    const world = await worldOf();
    const { rollouts } = world.stores();
    const record = await recordIn(world);
    const canary = await rollouts.writeMembers(record, ['a'].map(clusterId));
    const early = await rollouts.writeMembers(record, ['a', 'b', 'c'].map(clusterId));
    const stages = [
      { name: 'canary', members: canary, namesNobody: false },
      { name: 'early', members: early, namesNobody: false },
    ];
    const { failure: _none, ...whole } = wholeClusterRecord('a');
    await rollouts.writeClusterRecord(record, {
      ...whole,
      ...{ place: 0, contentHash: 'content', phase: 'rolling', isPartial: true },
      nodes: { updated: 1, desired: 24 },
    });
    const tableAt = async (stage: number): Promise<readonly string[]> => {
      await write(world, { ...(await recordIn(world)), stages, stage });
      const shown = lines((await world.run(['fleet', 'status', FLEET])).expectExit(0));
      return shown.slice(shown.findIndex((line) => line.startsWith('STAGE')));
    };
    const during = await tableAt(0);
    assert.deepEqual(during.slice(1, 3), [
      'canary  open   1         0       0     1        0        1/24',
      'early   waits  2         0       0     0        2        -',
    ]);
    assert.match(
      during[5] ?? '',
      /^a +canary +rolling +1\/24 .* its first nodes alone: the others/,
    );
    const after = await tableAt(1);
    assert.deepEqual(after.slice(1, 3), [
      'canary  passed  in early',
      'early   open    3         0       0     1        2        1/24',
    ]);
    const { stages: told, clusters } = (
      await world.run(['fleet', 'status', FLEET, '--json'])
    ).document() as {
      readonly stages: readonly Readonly<Record<string, unknown>>[];
      readonly clusters: readonly unknown[];
    };
    assert.deepEqual(
      told.map(({ name, clusters: of, goesOnIn }) => [name, of, goesOnIn]),
      [
        ['canary', 0, 'early'],
        ['early', 3, undefined],
      ],
    );
    assert.equal(clusters.length, 3);
  });

  it('says what halted it, where, and who ordered what', async () => {
    const world = await worldOf({ gate: { kind: 'breach' }, breach: BREACH });
    const run = (await world.run(['fleet', 'status', FLEET])).expectExit(0);
    assert.match(
      run.stdout,
      /^monitoring\/agent: Halted\n.*\nstep: +stage first .*\ngate: +halted: ClustersFailed at \S+: 1 of 1 clusters failed$/m,
    );
    assert.match(run.stdout, /^halted on: +a$/m);
  });

  it('says of a halt that takes nobody back what to do, by what it rests on', async () => {
    const shown = async (grounds: 'place' | 'one-cluster'): Promise<string> => {
      const good = [
        { ...releaseFrom('x'), id: releaseFrom('x').contentHash, goodAtMs: 1, isBaseline: false },
      ];
      const breach = { ...BREACH, grounds };
      const world = await worldOf({ gate: { kind: 'breach' }, breach, good });
      return (await world.run(['fleet', 'status', FLEET])).expectExit(0).stdout;
    };
    assert.match(
      await shown('place'),
      /^! Nothing speaks against the release: .* Mend what keeps it from a, then resume it: (?:.*\n)+next:\n(?:(?! undo ).*\n)* {2}rollcall fleet resume monitoring\/agent --why '…' --yes {2}# overrules .*\n$/m,
    );
    assert.match(
      await shown('one-cluster'),
      /^! One cluster alone shows it, so no other one goes back by itself\. If it lies with a (?:.*\n)+next:\n(?:.*\n)* {2}rollcall fleet undo monitoring\/agent {2}/m,
    );
  });

  it('tells of what was just applied, before and after there is a record', async () => {
    const world = await worldOf({ gate: { kind: 'done' }, stage: 3 });
    const former = (await world.stores().fleets.readFleet(KEY))?.head;
    const document = fleetDocument();
    await world.stores().fleets.writeFleet(
      {
        ...KEY,
        uid: 'uid-1',
        generation: 3,
        appliedAtMs: world.clock.nowMs(),
        appliedBy: 'x',
        contentHash: 'c',
        history: [],
        document,
      },
      former,
    );
    const run = (await world.run(['fleet', 'status', FLEET])).expectExit(0);
    assert.match(run.stdout, /^monitoring\/agent: Progressing/m);
    assert.match(run.stdout, /^! Generation 3 was applied since/m);
    await world.stores().rollouts.removeRollout({ ...KEY, uid: 'uid-1' });
    const none = (await world.run(['fleet', 'status', FLEET])).expectExit(0);
    assert.match(none.stdout, /generation 3 was applied: the function fleet begins/);
  });

  it('watches until it is held (5), done (0) or the time is over (4)', async () => {
    const world = await worldOf();
    let looks = 0;
    world.onTick = async () => {
      looks += 1;
      if (looks !== 3) return;
      const record = await recordIn(world);
      await write(world, { ...record, gate: { kind: 'breach' }, breach: BREACH });
    };
    const run = (await world.run(['fleet', 'status', FLEET, '--watch'])).expectExit(5);
    assert.match(run.stderr, /Progressing: .*\n.*Halted: /);
    const done = await worldOf({ gate: { kind: 'done' }, stage: 3 });
    (await done.run(['fleet', 'status', FLEET, '--watch'])).expectExit(0);
    const slow = await worldOf();
    (await slow.run(['fleet', 'status', FLEET, '--watch', '--timeout', '5'])).expectExit(4);
  });
});

describe('orders to a fleet', () => {
  it('pause and resume, with who gave them; given twice they do one thing', async () => {
    const world = await worldOf();
    const paused = (await world.run(['fleet', 'pause', FLEET, '--json'])).expectExit(0).document();
    assert.deepEqual([paused['order'], paused['phase']], ['given', 'Paused']);
    assert.equal((await recordIn(world)).orders.paused?.by, 'anna (Admin/ann)');
    const again = await world.run(['fleet', 'pause', FLEET]);
    assert.match(again.stdout, /^It stood so already: ordered by anna \(Admin\/ann\) at /);
    (await world.run(['fleet', 'resume', FLEET])).expectExit(0);
    assert.deepEqual((await recordIn(world)).orders, {});
    (await world.run(['fleet', 'resume', FLEET])).expectExit(1);
  });

  it('of two operators who approve at once one gate opens', async () => {
    const world = await worldOf({ gate: { kind: 'approval', stepIndex: 2 } });
    const { rollouts } = world.stores();
    const writeRecord = rollouts.writeRecord.bind(rollouts);
    rollouts.writeRecord = async (record) => {
      rollouts.writeRecord = writeRecord;
      // The other one is a moment faster.
      const stored = await recordIn(world);
      const approved = { by: 'ben', atMs: 9, stepIndex: 2 };
      await writeRecord({ ...stored, gate: { kind: 'next' }, orders: { approved } });
      return writeRecord(record);
    };
    const run = (await world.run(['fleet', 'approve', FLEET])).expectExit(0);
    assert.match(run.stdout, /^It stood so already: ordered by ben /);
    assert.equal((await recordIn(world)).orders.approved?.by, 'ben');
    // Also of one who comes when nothing waits any more.
    (await world.run(['fleet', 'approve', FLEET])).expectExit(0);
  });

  it('refuse to approve what was not seen, or what nobody asks for', async () => {
    const world = await worldOf({ gate: { kind: 'approval', stepIndex: 2 } });
    (await world.run(['fleet', 'approve', FLEET, '--gate', '4'])).expectExit(1);
    (await world.run(['fleet', 'approve', FLEET, '--gate', 'x'])).expectExit(2);
    const halted = await worldOf({ gate: { kind: 'breach' }, breach: BREACH });
    (await halted.run(['fleet', 'approve', FLEET])).expectExit(3);
    const rolling = await worldOf();
    const refused = (await rolling.run(['fleet', 'approve', FLEET])).expectExit(1);
    assert.match(refused.stderr, /rollcall fleet status monitoring\/agent/);
  });

  it('hold a fleet that no step has seen, from its first moment', async () => {
    const world = await worldOf();
    await world.stores().rollouts.removeRollout({ ...KEY, uid: 'uid-1' });
    for (const word of ['resume', 'approve', 'undo']) {
      (await world.run(['fleet', word, FLEET])).expectExit(1);
    }
    (await world.run(['fleet', 'pause', FLEET])).expectExit(0);
    const record = await recordIn(world);
    assert.equal(record.orders.paused?.by, 'anna (Admin/ann)');
    assert.deepEqual([record.uid, record.release.generation, record.stages], ['uid-1', 2, []]);
  });

  it('overrule the breach that was seen', async () => {
    const world = await worldOf({ gate: { kind: 'breach' }, breach: BREACH });
    const refused = (await world.run(['fleet', 'resume', FLEET, '--yes'])).expectExit(3);
    assert.match(refused.stderr, /1 of 1 clusters failed\. .*fleet resume .* --why '…' --yes/);
    assert.deepEqual((await recordIn(world)).breach, BREACH);
    const argv = ['fleet', 'resume', FLEET, '--why', 'the zone was down', '--yes'];
    const run = (await world.run(argv)).expectExit(0);
    const { breach, orders } = await recordIn(world);
    assert.deepEqual([breach, orders.resumed?.breach.atMs], [undefined, 4000]);
    assert.match(
      run.stdout,
      /resumed: +by anna \(Admin\/ann\) at \S+ \(the zone was down\), overruling ClustersFailed at \S+: 1 of 1/,
    );
  });
});

describe('rollcall fleet undo and history', () => {
  const good = [
    { ...releaseFrom('x'), id: releaseFrom('x').contentHash, goodAtMs: 1, isBaseline: false },
  ];

  it('sends clusters back to what was proven, and is done when they are', async () => {
    const world = await worldOf({ good });
    world.onTick = async () => {
      const record = await recordIn(world);
      if (record.gate.kind === 'returning')
        await write(world, { ...record, gate: { kind: 'returned' } });
    };
    const run = (await world.run(['fleet', 'undo', FLEET, '--watch'])).expectExit(0);
    assert.match(run.stderr, /clusters go back to generation 1, asked for by anna/);
  });

  it('says what to do where nothing was proven before', async () => {
    const none = (await (await worldOf()).run(['fleet', 'undo', FLEET])).expectExit(1);
    assert.match(none.stderr, /--to-generation N/);
    const same = await worldOf({
      good: good.map((one) => ({ ...one, id: 'content', contentHash: 'content' })),
    });
    (await same.run(['fleet', 'undo', FLEET])).expectExit(1);
  });

  it('applies a generation that is kept anew, as one of its own', async () => {
    const world = await worldOf();
    const run = await world.run(['fleet', 'undo', FLEET, '--to-generation', '1', '--json']);
    const { result, generation, ofGeneration } = run.expectExit(0).document();
    assert.deepEqual([result, generation, ofGeneration], ['changed', 3, 1]);
    const stored = await world.stores().fleets.readFleet(KEY);
    assert.deepEqual(
      stored?.document,
      fleetDocument({ template: manifestOf({}, 'registry.example/agent:1') }),
    );
    assert.equal(stored.head.appliedBy, 'anna (Admin/ann)');
    const unknown = await world.run(['fleet', 'undo', FLEET, '--to-generation', '7']);
    assert.match(
      unknown.expectExit(1).stderr,
      /^List them with: rollcall fleet history monitoring\/agent$/m,
    );
    (await world.run(['fleet', 'undo', FLEET, '--to-generation', '0'])).expectExit(2);
    (await world.run(['fleet', 'undo', FLEET, '--to-generation', '1', '--watch'])).expectExit(2);
  });

  it('lists generations with what they are to the rollout', async () => {
    const refused = [
      { contentHash: 'content-2', cause: 'ClustersFailed', atMs: 1 },
      { contentHash: 'content-1', cause: 'Undone', atMs: 1 },
    ] as const;
    const world = await worldOf({ refused });
    const record = await recordIn(world);
    const [kept] = (await world.stores().fleets.readFleet(KEY))?.head.history ?? [];
    assert.ok(kept !== undefined);
    await write(world, {
      ...record,
      good: [{ ...kept, id: kept.contentHash, goodAtMs: 1, isBaseline: false }],
    });
    const run = (await world.run(['fleet', 'history', FLEET])).expectExit(0);
    assert.deepEqual(
      lines(run).map((line) => line.split(/ {2,}/)),
      [
        ['GENERATION', 'APPLIED', 'BY', 'CONTENT', 'IS'],
        [
          '2',
          lines(run)[1]?.split(/ {2,}/)[1],
          'somebody',
          'content-2',
          'applied, rolled out, halted',
        ],
        ['1', lines(run)[2]?.split(/ {2,}/)[1], 'somebody', 'content-1', 'good, way back, undone'],
      ],
    );
  });

  it('is gone when it is deleted; its record is left to the function, which hides its mirror as well', async () => {
    const world = await worldOf();
    (await world.run(['fleet', 'delete', FLEET])).expectExit(0);
    assert.equal((await recordIn(world)).uid, 'uid-1');
    for (const word of ['status', 'pause', 'resume', 'approve', 'undo', 'history']) {
      (await world.run(['fleet', word, FLEET])).expectExit(1);
    }
  });
});
