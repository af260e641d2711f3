/** One fleet over three real control planes, two in copilot and one in takeover: a rollout, a halt, a rollback (issue 18). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { FIRST_NODES, FleetStage, NODES_COUNT, namesOfClusters } from './fleet-stage.ts';

const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs control planes of its own';

describe('a fleet of three real clusters', { timeout: 1_500_000, skip }, () => {
  let stage: FleetStage;

  before(async () => {
    stage = await FleetStage.open();
  });
  after(async () => {
    await (stage as FleetStage | undefined)?.close();
  });

  it('gets a DaemonSet that no cluster had, ring by ring', async () => {
    await stage.apply('one');
    await stage.until('Done');
    await stage.untilAt('one');
  });

  it('gets a release: some nodes of the first cluster, the others, then the second ring', async () => {
    await stage.apply('two');
    await stage.until('Done');
    await stage.untilAt('two');
  });

  it('holds a stage one of whose clusters would refuse it, changes nothing there, and goes on once it takes it', async () => {
    const others = ['eu-2', 'us-1'] as const;
    const templates = (): Promise<readonly string[]> =>
      Promise.all(others.map((name) => stage.templateIn(name)));
    const before = await templates();
    await stage.apply('asked');
    await stage.takeRights('eu-2');
    const held = (await stage.until('Waiting')).record;
    assert.equal(held?.gate.kind, 'refused');
    assert.equal(held.gate.cluster, 'eu-2');
    assert.match(held.gate.message ?? '', /forbidden|cannot patch/);
    assert.deepEqual(await templates(), before, 'a dry run changes nothing');
    for (const name of others) assert.equal(stage.everAt(name, 'asked'), 0, name);
    const shown = await stage.rollcall('fleet', 'status', 'default/agent');
    assert.match(shown.stdout, /eu-2 .*rollcall fleet rights eu-2/s);
    await stage.grantRights('eu-2');
    const done = (await stage.until('Done')).record;
    assert.equal(done?.breach, undefined);
    assert.deepEqual(done?.refused, []);
    await stage.untilAt('asked');
  });

  it('halts a bad release on the nodes of the first ring, names the cause, and touches nobody else', async () => {
    await stage.apply('crashes');
    const breach = (await stage.until('Halted')).record?.breach;
    assert.equal(breach?.cause, 'ClustersFailed');
    assert.match(breach.message, /eu-1: Halted\/Restarts/);
    assert.ok(stage.everAt('eu-1', 'crashes') <= FIRST_NODES);
    for (const name of ['eu-2', 'us-1'] as const) {
      assert.equal(stage.everAt(name, 'crashes'), 0, name);
      assert.equal(stage.nodesAt(name, 'asked'), NODES_COUNT, name);
    }
    const shown = await stage.rollcall('fleet', 'status', 'default/agent');
    assert.match(shown.stdout, /ClustersFailed/);
  });

  it('goes back to what was proven when it is undone', async () => {
    const undone = await stage.rollcall('fleet', 'undo', 'default/agent');
    assert.equal(undone.code, 0, undone.stderr);
    await stage.until('Returned');
    await stage.untilAt('asked');
  });

  it('goes back by itself where the strategy says so, and holds the same release when it comes again', async () => {
    await stage.apply('cannot-pull', 'rollback');
    await stage.until('Returned');
    await stage.untilAt('asked');
    await stage.apply('asked', 'rollback');
    await stage.until('Done');
    await stage.apply('cannot-pull', 'rollback');
    const breach = (await stage.until('Returned')).record?.breach;
    assert.equal(breach?.cause, 'KnownBad');
    for (const name of namesOfClusters()) assert.equal(stage.nodesAt(name, 'asked'), NODES_COUNT);
  });

  it('stops at a freeze, whoever approves meanwhile, and goes on after the thaw', async () => {
    const frozen = await stage.rollcall(
      ...['freeze', '--daemon-set', 'default/agent', '--why', 'an incident'],
    );
    assert.equal(frozen.code, 0, frozen.stderr);
    await stage.apply('found-bad');
    await stage.until('Frozen');
    for (const name of namesOfClusters()) assert.equal(stage.everAt(name, 'found-bad'), 0);
    const thawed = await stage.rollcall('thaw', '--daemon-set', 'default/agent');
    assert.equal(thawed.code, 0, thawed.stderr);
    await stage.until('Done');
    await stage.untilAt('found-bad');
  });

  it('goes back at once from a release found bad afterwards, whatever steps would wait for: by an apply of the former content', async () => {
    await stage.apply('asked', 'halt', 'guarded');
    await stage.until('Done');
    await stage.untilAt('asked');
  });

  it('goes back from a release found bad afterwards by fleet undo, holds that release, and the apply that follows changes no pod', async () => {
    await stage.apply('found-late');
    await stage.until('Done');
    await stage.untilAt('found-late');
    const undone = await stage.rollcall('fleet', 'undo', 'default/agent');
    assert.equal(undone.code, 0, undone.stderr);
    await stage.until('Returned');
    await stage.untilAt('asked');
    // A GitOps tool applies what it has.
    await stage.apply('found-late');
    await stage.until('Returned');
    await stage.apply('asked', 'halt', 'guarded');
    await stage.until('Done');
    await stage.apply('found-late');
    assert.equal((await stage.until('Halted')).record?.breach?.cause, 'KnownBad');
    for (const name of namesOfClusters()) assert.equal(stage.nodesAt(name, 'asked'), NODES_COUNT);
  });
});
