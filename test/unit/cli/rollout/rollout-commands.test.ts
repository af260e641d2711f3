/** `rollcall rollout …` as a person uses it: status, orders, watching, exit codes (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { DaemonSetItem } from '../../../../src/core/model/view-items.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { DaemonSetState } from '../../../../src/core/model/state.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { STARTED_MS, breachOf, recordOf, stepOf } from '../../../support/rollout-records.ts';
import { agentRef, storeRollout } from '../../../support/rollout-stores.ts';
import type { StoredRollout } from '../../../support/rollout-stores.ts';
import { stampAt } from '../../../support/store-suite.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';

const AGENT = ['prod', 'ops/agent'];
const DONE = recordOf({ step: stepOf({ kind: 'done', updatedNodes: 50 }) });
const PROVEN = { hash: 'old', provenAtMs: STARTED_MS - 1000, isBaseline: true };
const COUNTERS = {
  desiredNumberScheduled: 50,
  updatedNumberScheduled: 50,
  numberAvailable: 50,
  observedGeneration: 1,
};

async function worldWith(options: StoredRollout = {}): Promise<CommandWorld> {
  const world = new CommandWorld();
  world.environment = { USER: 'ann' };
  await storeRollout(world.stores(), options);
  return world;
}

async function setRecord(world: CommandWorld, change: Partial<RolloutRecord>): Promise<void> {
  const { view } = world.stores();
  const state = await view.readState(agentRef());
  assert.ok(state?.rollout !== undefined);
  const written = { ...state, rollout: { ...state.rollout, ...change } };
  assert.equal(await view.writeState(agentRef(), written), 'written');
}

async function edit(world: CommandWorld, generation: number): Promise<void> {
  const { view } = world.stores();
  const item = await view.readDaemonSet(agentRef());
  assert.ok(item?.object !== null && item !== undefined);
  const { object } = item;
  const metadata = { ...object.metadata, generation };
  assert.ok(object.status !== undefined);
  const status = { ...object.status, observedGeneration: generation };
  const edited = { ...object, metadata, status };
  await view.writeDaemonSet(agentRef(), { stamp: stampAt(9), object: edited });
}

async function makeOpaque(
  world: CommandWorld,
  itemOf: (object: DaemonSetObject) => Partial<DaemonSetItem>,
): Promise<void> {
  const { view } = world.stores();
  const item = await view.readDaemonSet(agentRef());
  assert.ok(item?.object !== null && item !== undefined);
  const opaque = { stamp: stampAt(9), object: null, ...itemOf(item.object) };
  await view.writeDaemonSet(agentRef(), opaque);
}

/** A message of the watcher comes in. */
async function hear(world: CommandWorld): Promise<void> {
  const { view } = world.stores();
  const { clusterUid } = agentRef();
  const meta = await view.readMeta(clusterUid);
  assert.ok(meta !== undefined);
  await view.writeMeta({ ...meta, lastSentAtMs: meta.lastSentAtMs + 1000 });
}

async function setCopies(world: CommandWorld, copies: DaemonSetState['copies']): Promise<void> {
  const { view } = world.stores();
  const state = await view.readState(agentRef());
  assert.ok(state !== undefined && copies !== undefined);
  assert.equal(await view.writeState(agentRef(), { ...state, copies }), 'written');
}

describe('rollcall rollout status', () => {
  it('shows step, gate, evidence and what is proven, and what silence proves', async () => {
    const world = await worldWith({
      record: recordOf({ step: stepOf({ wellSinceMs: Date.UTC(2100, 0) }) }),
    });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /^prod\/ops\/agent: Progressing\n/);
    assert.match(stdout, /revision: +new, since 2026-11-25T09:00:00Z/);
    assert.match(stdout, /step: +canary of 3 nodes, .*; 3 of 50 nodes updated/);
    assert.match(stdout, /gate: +soaks until 2100-01-01T00:10:00Z/);
    assert.match(
      stdout,
      /evidence: +nodes lost: 0 of 3 updated, 0 of 47 others; E = 1\.0, halts at 25\n/,
    );
    assert.match(stdout, /that 3 updated nodes are not lost proves only .* 63 % would be/);
    assert.match(stdout, /baseline: +old, since .*, as found and never soaked\n/);
  });

  it('shows a breach with its cause, nodes and numbers, as text and as a document', async () => {
    const refused = [{ id: 'new', hash: 'new', cause: 'OOMKilled', atMs: STARTED_MS }] as const;
    const world = await worldWith({ record: recordOf({ breach: breachOf(), refused }) });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /Halted/);
    assert.match(stdout, /OOMKilled at .*: 1 of 3 canaries was killed for its memory\n/);
    assert.match(stdout, /refused: +new: OOMKilled at/);
    assert.doesNotMatch(stdout, /evidence/);
    const document = (await world.run(['rollout', 'status', ...AGENT, '--json'])).document();
    assert.equal(document['kind'], 'RolloutStatus');
    assert.equal(document['phase'], 'Halted');
    const { gate, breach } = document['staged'] as Readonly<Record<string, unknown>>;
    assert.deepEqual([gate, breach], [{ kind: 'breach' }, breachOf()]);
  });

  it('says whether a copy stands of what a rollback leads to, and nothing of copies in copilot', async () => {
    const world = await worldWith({ record: recordOf({ former: PROVEN, proven: PROVEN }) });
    const none = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(none.stdout, /copies: +none is known; none is known of old: where admission/);
    await setCopies(world, { held: [{ slot: 'b', hash: 'old', seenAtMs: 5 }] });
    const one = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(one.stdout, /copies: +old as proven-b\n/);
    const document = (await world.run(['rollout', 'status', ...AGENT, '--json'])).document();
    const { copies } = document['staged'] as Readonly<Record<string, unknown>>;
    assert.deepEqual(copies, {
      held: [{ revision: 'old', place: 'proven-b', seenAtMs: 5 }],
      back: { revision: 'old', isHeld: true },
    });
    const registration = { mode: 'copilot' } as const;
    const beside = await worldWith({ registration, record: recordOf({ former: PROVEN }) });
    const run = (await beside.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.doesNotMatch(run.stdout, /copies/);
  });

  it('follows a breach that sends the nodes back, until all of them are', async () => {
    const status = { ...COUNTERS, updatedNumberScheduled: 2 };
    const record = recordOf({ breach: breachOf(), former: PROVEN });
    const policy = 'onHalt: rollback';
    const world = await worldWith({ policy, record, object: { status } });
    assert.match((await world.run(['rollout', 'status', ...AGENT])).stdout, /: Returning\n/);
    const back = { ...COUNTERS, updatedNumberScheduled: 0 };
    const there = await worldWith({ policy, record, object: { status: back } });
    assert.match((await there.run(['rollout', 'status', ...AGENT])).stdout, /: Halted\n/);
  });

  it('never lets what a cluster said steer the terminal', async () => {
    const breach = breachOf({ message: 'node a\u001b[2J', nodes: [nodeName('a\u001b[2J')] });
    const world = await worldWith({ record: recordOf({ breach }) });
    const run = await world.run(['rollout', 'status', ...AGENT, '--watch']);
    assert.doesNotMatch(run.stdout + run.stderr, /\u001b/);
  });

  it('tells an update without a policy as kubectl rollout status does', async () => {
    const status = { ...COUNTERS, updatedNumberScheduled: 20 };
    const world = await worldWith({ policy: null, record: null, object: { status } });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /: Progressing: 20 of 50 pods have been updated\n/);
    const done = await worldWith({ policy: null, record: null, object: { status: COUNTERS } });
    assert.match((await done.run(['rollout', 'status', ...AGENT])).stdout, /: Done: every node/);
  });

  it('tells that OnDelete waits for a person, where kubectl refuses to tell', async () => {
    const status = { ...COUNTERS, updatedNumberScheduled: 20 };
    const spec = { updateStrategy: { type: 'OnDelete' } };
    const world = await worldWith({ policy: null, record: null, object: { status, spec } });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /Waiting: 20 of 50 updated; each other pod waits until it is deleted/);
  });

  it('names the field that makes a policy invalid, and what else keeps it', async () => {
    const world = await worldWith({ policy: 'soak: soon', registration: { isFrozen: true } });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /: Invalid\n/);
    assert.match(stdout, /policy: +soak: /);
    assert.match(stdout, /! The cluster is frozen/);
    assert.match(stdout, /! Its policy is invalid/);
  });

  it('holds what no run could begin, says so, and how to mend it', async () => {
    const status = { ...COUNTERS, updatedNumberScheduled: 20 };
    const stored = { policy: 'soak: soon', record: null, object: { status } };
    const { stdout } = (
      await (await worldWith(stored)).run(['rollout', 'status', ...AGENT])
    ).expectExit(0);
    assert.match(stdout, /: Invalid: held, because its policy is invalid\n/);
    assert.match(stdout, /edit daemonset\/agent +# mend what is written above/);
    const watched = await worldWith(stored);
    (await watched.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(5);
    const whole = (await (await worldWith(stored)).run(['status'])).expectExit(8).stdout;
    assert.match(
      whole,
      /^Invalid +ops\/agent: in prod, held, because its policy is invalid\n +next: kubectl/m,
    );
    const looking = await worldWith({ ...stored, registration: { mode: 'observe' } });
    assert.match((await looking.run(['rollout', 'status', ...AGENT])).stdout, /: Progressing: 20/);
  });

  it('says why a policy is not followed beside the built-in controller', async () => {
    const registration = { mode: 'copilot' } as const;
    const world = await worldWith({ registration, record: null });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /! .*OnDelete/);
  });

  it('does not say done of a template that no run has looked at', async () => {
    const history = {
      generation: 1,
      uid: agentRef().uid,
      name: 'x',
      hash: 'newer',
      lookedUpAt: '',
    };
    const world = await worldWith({ record: DONE, state: { history: history as never } });
    const run = await world.run(['rollout', 'status', ...AGENT]);
    assert.match(run.stdout, /Progressing\n.*gate: +a newer template waits for the next look/s);
  });

  it('leaves with 1 for what is not there, and with 2 for what is no name', async () => {
    const world = await worldWith();
    const missing = await world.run(['rollout', 'status', 'prod', 'ops/other']);
    assert.match(missing.expectExit(1).stderr, /There is no DaemonSet prod\/ops\/other/);
    const unknown = await world.run(['rollout', 'status', 'nowhere', 'ops/agent']);
    assert.match(
      unknown.expectExit(1).stderr,
      /There is no cluster nowhere in this stack\.\nList them with: rollcall cluster list/,
    );
    const key = ['prd', 'ops/agent'];
    for (const words of [
      ['rollout', 'status', ...key],
      ['rollout', 'pause', ...key],
      ['why', 'ops/agent', '--cluster', 'prd'],
    ]) {
      const near = await world.run(words);
      assert.match(near.expectExit(1).stderr, /no cluster prd in .*\nDid you mean prod\? /);
    }
    (await world.run(['rollout', 'status', 'prod', 'agent'])).expectExit(2);
    (await world.run(['rollout', 'status', 'prod', 'ops/agent/x'])).expectExit(2);
  });
});

describe('orders', () => {
  it('pauses and resumes, says who, and shows how it stands then', async () => {
    const world = await worldWith();
    const paused = await world.run(['rollout', 'pause', ...AGENT, '--json']);
    const document = paused.expectExit(0).document();
    assert.equal(document['order'], 'given');
    assert.equal(document['phase'], 'Paused');
    const again = (await world.run(['rollout', 'pause', ...AGENT])).expectExit(0);
    assert.match(again.stdout, /It stood so already: ordered by ann \(Admin\/ann\) at/);
    const resumed = (await world.run(['rollout', 'resume', ...AGENT])).expectExit(0);
    assert.match(resumed.stdout, /The order stands/);
    assert.doesNotMatch(resumed.stdout, /Paused/);
    const nothing = (await world.run(['rollout', 'resume', ...AGENT])).expectExit(1);
    assert.match(nothing.stderr, /neither paused nor halted/);
  });

  it('with --watch tells the order before what comes of it', async () => {
    const world = await worldWith();
    const run = (await world.run(['rollout', 'pause', ...AGENT, '--watch'])).expectExit(5);
    assert.match(run.stderr, /^The order stands; .*\n\S+ Paused: /);
    assert.doesNotMatch(run.stdout, /The order stands/);
  });

  it('resumes what is halted only with --why and --yes, and goes on telling what was overruled', async () => {
    const world = await worldWith({ record: recordOf({ breach: breachOf() }) });
    const resume = ['rollout', 'resume', ...AGENT];
    for (const half of [[], ['--yes'], ['--why', 'a bad node'], ['--yes', '--why', ' ']]) {
      const { stderr } = (await world.run([...resume, ...half])).expectExit(3);
      assert.match(stderr, /is halted, and a resume overrules that\. Nothing was changed\./);
      assert.match(
        stderr,
        /OOMKilled at .*rollcall rollout resume prod ops\/agent --why '…' --yes/,
      );
    }
    const { stdout } = (await world.run([...resume, '--why', 'a bad node', '--yes'])).expectExit(0);
    assert.match(
      stdout,
      /resumed: +by ann \(Admin\/ann\) at \S+ \(a bad node\), overruling OOMKilled at \S+: 1 of 3 canaries was killed/,
    );
    const document = (await world.run(['rollout', 'status', ...AGENT, '--json'])).document();
    assert.match(String(document['summary']), / \(OOMKilled overruled\)$/);
    assert.equal(document['phase'], 'Progressing');
  });

  it('approves the step that waits, or one ahead by its number', async () => {
    const world = await worldWith({ policy: 'approval: after-canary\nsoak: 1s' });
    assert.match(
      (await world.run(['rollout', 'approve', ...AGENT, '--step', '1'])).expectExit(0).stdout,
      /approved: +up to step 1 by ann \(Admin\/ann\) at/,
    );
    (await world.run(['rollout', 'approve', ...AGENT, '--step', '0'])).expectExit(2);
    (await world.run(['rollout', 'approve', ...AGENT, '--step', '2'])).expectExit(1);
  });

  it('asks for the good revision in takeover, and prints the command elsewhere', async () => {
    const status = { ...COUNTERS, updatedNumberScheduled: 0 };
    const world = await worldWith({ object: { status } });
    const undone = (await world.run(['rollout', 'undo', ...AGENT])).expectExit(0);
    assert.match(undone.stdout, /Returned\n.*undo: +to old by ann/s, 'no node was updated');
    assert.match(undone.stdout, /^step: .*; 0 of 50 nodes updated$/m);
    const watched = (await world.run(['rollout', 'undo', ...AGENT, '--watch'])).expectExit(0);
    assert.match(
      watched.stderr,
      /Returned: all nodes are back at revision old; revision new is held, asked for/,
    );
    (await world.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(5);
    const beside = await worldWith({ registration: { mode: 'copilot' } });
    const refused = await beside.run(['rollout', 'undo', ...AGENT]);
    assert.match(refused.expectExit(3).stderr, /kubectl --namespace ops rollout/);
  });

  it('shows what is held with the command that lets it go, and says nothing of it as it stands', async () => {
    const held = {
      token: 'x7',
      heldAtMs: 1,
      pods: 12,
      basePods: 50,
      cause: 'n1\u001b lost a label',
    };
    const world = await worldWith({ state: { shrink: { placement: 1, held } } });
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(
      stdout,
      /! 12 of 50 pods go .*: n1  lost a label\. .*rollout confirm prod ops\/agent/,
    );
    (await world.run(['rollout', 'confirm', ...AGENT])).expectExit(0);
  });
});

describe('an object that could not be sent', () => {
  const outlined = (object: DaemonSetObject): Partial<DaemonSetItem> => ({
    opaqueReason: 'too-large',
    outline: { bytes: 170_000, bytesMax: 153_600, object },
  });
  const kinds: readonly (readonly [string, (object: DaemonSetObject) => Partial<DaemonSetItem>])[] =
    [
      ['with an outline', outlined],
      ['of which nothing is known', () => ({ opaqueReason: 'undecodable' })],
    ];
  for (const [how, itemOf] of kinds) {
    it(`is Halted (5) as its record says, ${how}`, async () => {
      const world = await worldWith({ record: recordOf({ breach: breachOf() }) });
      await makeOpaque(world, itemOf);
      const run = (await world.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(5);
      assert.match(run.stdout, /^prod\/ops\/agent: Halted\n[^]*OOMKilled at /);
      assert.match(run.stdout, /! Told without its nodes, as /);
    });
  }

  it('is told with its size and the limit, and explain does not say that no run looked', async () => {
    const world = await worldWith({ record: DONE });
    await makeOpaque(world, outlined);
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /: Done\n[^]*50 updated, 50 available, of 50\n/);
    const size = /its object has 167 KiB, and a watcher sends at most 150 KiB of one/;
    assert.match(stdout, size);
    const explained = (await world.run(['why', 'ops/agent', '--cluster', 'prod'])).expectExit(1);
    assert.match(explained.stderr, size);
    assert.doesNotMatch(explained.stderr, /no run has looked/);
  });

  it('is not told as done where nothing is known of its pods', async () => {
    const world = await worldWith({ record: DONE });
    await makeOpaque(world, () => ({ opaqueReason: 'too-large' }));
    const { stdout } = (await world.run(['rollout', 'status', ...AGENT])).expectExit(0);
    assert.match(stdout, /: Progressing\n[^]*whether its pods are available is not known/);
  });
});

describe('--watch', () => {
  it('says each change once, and ends with 0 when it is done', async () => {
    const world = await worldWith();
    let ticks = 0;
    world.onTick = async () => {
      ticks += 1;
      if (ticks === 5) await setRecord(world, { step: stepOf({ updatedNodes: 20 }) });
      if (ticks === 9) await setRecord(world, DONE);
    };
    const run = (await world.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(0);
    const said = run.stderr.trimEnd().split('\n');
    assert.equal(said.length, 3, run.stderr);
    assert.match(said[1] ?? '', /20 of 50 nodes updated/);
    assert.match(said[2] ?? '', /Done: revision new is rolled out\./);
  });

  it('ends with 5 when it is halted or paused', async () => {
    const world = await worldWith();
    let ticks = 0;
    world.onTick = async () => {
      ticks += 1;
      if (ticks === 5) await setRecord(world, { breach: breachOf() });
    };
    const run = await world.run(['rollout', 'status', ...AGENT, '--watch', '--json']);
    assert.equal(run.expectExit(5).document()['phase'], 'Halted');
    const paused = await worldWith();
    (await paused.run(['rollout', 'pause', ...AGENT, '--watch'])).expectExit(5);
  });

  it('ends with 4 when the time is over, and with 130 on Ctrl-C', async () => {
    const world = await worldWith();
    const watch = ['rollout', 'status', ...AGENT, '--watch'];
    const run = await world.run([...watch, '--timeout', '10', '--json']);
    assert.equal(run.expectExit(4).document()['kind'], 'RolloutStatus');
    world.onTick = () => {
      world.controller.abort();
    };
    (await world.run(watch)).expectExit(130);
  });

  it('ends when the DaemonSet goes', async () => {
    const world = await worldWith();
    let ticks = 0;
    world.onTick = async () => {
      ticks += 1;
      if (ticks === 3) await world.stores().view.removeDaemonSet(agentRef());
    };
    (await world.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(1);
  });

  it('takes no end for that of what was applied just before, which the watcher is to tell of yet', async () => {
    const world = await worldWith({ record: DONE });
    let ticks = 0;
    world.onTick = async () => {
      ticks += 1;
      if (ticks === 5) await setRecord(world, { step: stepOf({ updatedNodes: 20 }) });
      if (ticks === 30) await setRecord(world, DONE);
    };
    const run = (await world.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(0);
    const phases = run.stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/[ :]/)[3]);
    assert.deepEqual(phases, ['Done', 'Progressing', 'Done']);
  });

  it('takes an end for it once the watcher was heard of, else after ten seconds', async () => {
    const world = await worldWith({ record: DONE });
    let ticks = 0;
    world.onTick = () => {
      ticks += 1;
    };
    (await world.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(0);
    assert.ok(ticks >= 10, `${ticks} s`);
    const heard = await worldWith({ record: DONE });
    ticks = 0;
    heard.onTick = async () => {
      ticks += 1;
      if (ticks === 1) await hear(heard);
    };
    (await heard.run(['rollout', 'status', ...AGENT, '--watch'])).expectExit(0);
    assert.ok(ticks < 8, `${ticks} s`);
  });

  it('with --generation waits until the view has that one, and says of which it tells', async () => {
    const world = await worldWith({ record: DONE, object: { metadata: { generation: 6 } } });
    const watch = ['rollout', 'status', ...AGENT, '--watch', '--generation', '7'];
    const early = (await world.run([...watch, '--timeout', '60', '--json'])).expectExit(4);
    const { phase, summary, notes } = early.document();
    assert.deepEqual(
      [phase, summary, notes],
      [
        'Progressing',
        'waits until the watcher reports generation 7',
        ['What is told here is of generation 6.'],
      ],
    );
    let ticks = 0;
    world.onTick = async () => {
      ticks += 1;
      if (ticks === 20) await edit(world, 8);
    };
    assert.match((await world.run(watch)).expectExit(0).stderr, /Progressing[^]*Done/);
    const told = ['rollout', 'status', ...AGENT, '--generation', '9'];
    assert.match((await world.run(told)).expectExit(0).stdout, /Progressing[^]*of generation 8/);
    (await world.run([...watch.slice(0, -1), '0'])).expectExit(2);
  });
});
