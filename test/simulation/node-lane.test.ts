// The node lane (ADR 0058): rollouts that share nodes, their order, and entries that nobody is behind any more.
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import type { LaneEntry } from '../../src/core/lane/lane.ts';
import { nodeName, uid } from '../../src/core/model/identifiers.ts';
import { POLICY_ANNOTATION } from '../../src/core/policy/rollout-policy.ts';
import { setImage } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';
import { controllerUid } from '../support/simulated-objects.ts';
import { nodeOf } from '../support/simulated-cluster.ts';

const NODES = ['n1', 'n2', 'n3', 'n4'];
const POLICY = 'maxUnavailable: 100%\ncanary: {nodes: 1}\nsoak: 1s';
const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } };

interface Rolled {
  readonly world: World;
  /** `set node`, in the order in which deletes of ours took effect. */
  readonly taken: string[];
}

/** DaemonSets at rest, by name with what their policies say besides. */
async function resting(sets: Readonly<Record<string, string>>): Promise<Rolled> {
  const world = await World.start({ seed: 1, nodes: NODES });
  for (const [name, more] of Object.entries(sets)) {
    const annotations = { [POLICY_ANNOTATION]: `${POLICY}\n${more}` };
    world.addDaemonSet(name, { annotations, spec: { updateStrategy, minReadySeconds: 0 } });
  }
  await world.settle();
  const taken: string[] = [];
  const { onPodDelete } = world.api.hooks;
  world.api.hooks.onPodDelete = (pod) => {
    const owner = world.api
      .list('daemonsets')
      .find(({ metadata }) => metadata.uid === controllerUid(pod));
    taken.push(`${owner?.metadata.name ?? '?'} ${nodeOf(pod) ?? '?'}`);
    onPodDelete?.(pod);
  };
  return { world, taken };
}

function setUid(world: World, name: string): string {
  const set = world.api.find('daemonsets', name, 'ns');
  assert.ok(set !== undefined);
  return set.metadata.uid;
}

function podOn(world: World, set: string, node: string): string {
  const pod = world.api
    .list('pods')
    .find((each) => controllerUid(each) === setUid(world, set) && nodeOf(each) === node);
  assert.ok(pod !== undefined);
  return pod.metadata.uid;
}

/** An entry that some run left in the lane. */
async function leave(
  world: World,
  entry: Pick<LaneEntry, 'owner' | 'pod'>,
  deadInMs: number,
): Promise<void> {
  const { clusterUid } = world.api;
  const lane = (await world.view.readLane(clusterUid)) ?? { version: 0, waiters: [], entries: [] };
  const nowMs = world.functionClock.nowMs();
  const times = { claimedAtMs: nowMs - 60_000, deadAtMs: nowMs + deadInMs };
  const left = { node: nodeName('n1'), namespace: 'ns', name: 'cni', ...times, ...entry };
  const entries = [...lane.entries.filter(({ node }) => node !== 'n1'), left];
  assert.equal(await world.view.writeLane(clusterUid, { ...lane, entries }), 'written');
}

describe('S15: three rollouts at once', () => {
  test('never take two daemons of a node, end soon, and leave an empty lane', async () => {
    const { world, taken } = await resting({ agent: '', proxy: '', logger: '' });
    const fromMs = world.clock.monotonicMs();
    for (const name of ['agent', 'proxy', 'logger']) setImage(world, name, 'two');
    await world.converge();
    assert.equal(taken.length, 12);
    assert.ok(world.site.lane.judged >= 12, 'nothing was judged');
    assert.ok(world.clock.monotonicMs() - fromMs < 3 * 60_000, 'waiters were not woken');
    await world.settle();
    assert.deepEqual((await world.view.readLane(world.api.clusterUid))?.entries, []);
  });

  test('wake who waits once a node is free, however long that took', async () => {
    const { world, taken } = await resting({ agent: '', cni: '' });
    const old = podOn(world, 'cni', 'n1');
    world.api.subscribe((commit) => {
      // The new pod does not start before somebody mends the node.
      if (commit?.type === 'deleted' && commit.object.metadata.uid === old) {
        world.controllers.deadNodes.add('n1');
      }
    });
    setImage(world, 'cni', 'two');
    while (!taken.includes('cni n1')) await world.advance(100);
    setImage(world, 'agent', 'two');
    await world.advance(20 * 60_000);
    assert.ok(!taken.includes('agent n1'), taken.join());
    world.controllers.deadNodes.delete('n1');
    world.controllers.lookAtEverything();
    await world.advance(10_000);
    assert.ok(taken.includes('agent n1'), 'nobody was woken');
    world.assertSafe();
  });

  test('go one after the other on each node where a policy says after', async () => {
    const { world, taken } = await resting({ agent: 'after: [cni]', cni: '' });
    for (const name of ['agent', 'cni']) setImage(world, name, 'two');
    await world.converge();
    for (const node of NODES) {
      const [first, second] = [taken.indexOf(`cni ${node}`), taken.indexOf(`agent ${node}`)];
      assert.ok(first !== -1 && first < second, `${node}: ${taken.join(', ')}`);
    }
  });

  test('wait for one that is halted, as long as it is, and go on once it is mended', async () => {
    const { world, taken } = await resting({ agent: 'after: [cni]', cni: '' });
    setImage(world, 'cni', 'two-simulate-bad-image');
    await world.advance(5 * 60_000);
    const halted = taken.filter((each) => each.startsWith('cni'));
    assert.equal(halted.length, 1, 'the canary alone');
    setImage(world, 'agent', 'two');
    await world.advance(3 * 60 * 60_000);
    // Where the halted one stands is no place for it either: nothing of it is available there.
    assert.deepEqual(taken, halted);
    const reasons = world.api.list('events').map((each) => each['reason']);
    assert.ok(reasons.includes('RolloutHalted'), reasons.join());
    world.assertSafe();
    setImage(world, 'cni', 'three');
    await world.converge();
    for (const node of NODES) {
      const [first, second] = [taken.lastIndexOf(`cni ${node}`), taken.indexOf(`agent ${node}`)];
      assert.ok(first !== -1 && first < second, `${node}: ${taken.join(', ')}`);
    }
  });

  test('end what they have begun on a node, though one that goes first waits for that very node', async () => {
    const { world, taken } = await resting({ agent: 'after: [cni]', cni: '' });
    setImage(world, 'agent', 'two-simulate-bad-image');
    await world.advance(5 * 60_000);
    const [halted = '', ...others] = taken;
    assert.match(halted, /^agent /);
    assert.deepEqual(others, [], 'the canary alone');
    const node = halted.replace('agent ', '');
    // Each has an old pod there now: the one that goes first finds the node taken, and the other one is to wait for it.
    setImage(world, 'cni', 'two');
    setImage(world, 'agent', 'three');
    await world.converge();
    const [mended, first] = [taken.lastIndexOf(halted), taken.indexOf(`cni ${node}`)];
    assert.ok(mended !== 0 && mended < first, taken.join(', '));
    for (const other of NODES.filter((each) => each !== node)) {
      const order = [taken.indexOf(`cni ${other}`), taken.indexOf(`agent ${other}`)];
      assert.ok(order[0] !== -1 && Number(order[0]) < Number(order[1]), taken.join(', '));
    }
  });

  test('that name each other, or nobody who is there, end all the same', async () => {
    const { world, taken } = await resting({
      agent: 'after: [cni, nobody]',
      cni: 'after: [agent]',
    });
    for (const name of ['agent', 'cni']) setImage(world, name, 'two');
    await world.converge();
    assert.equal(taken.length, 8);
  });
});

describe('S15: daemons that wait for each other in a circle', () => {
  test('end all the same, and are told of it', async () => {
    const { world, taken } = await resting({
      agent: 'after: [cni]',
      cni: 'after: [storage]',
      storage: 'after: [agent]',
    });
    for (const name of ['agent', 'cni', 'storage']) setImage(world, name, 'two');
    await world.converge();
    assert.equal(taken.length, 12);
    const told = world.api.list('events').filter((each) => each['reason'] === 'RolloutOrderCircle');
    assert.match(String(told[0]?.['message']), /does not wait for ns\/(cni|storage), which/);
    assert.ok(told.length <= 2, `${told.length} events`);
  });

  test('still let the one that is before them go first', async () => {
    const { world, taken } = await resting({
      agent: 'after: [cni, node]',
      cni: 'after: [agent]',
      node: '',
    });
    for (const name of ['agent', 'cni', 'node']) setImage(world, name, 'two');
    await world.converge();
    for (const node of NODES) {
      const [first, second] = [taken.indexOf(`node ${node}`), taken.indexOf(`agent ${node}`)];
      assert.ok(first !== -1 && first < second, `${node}: ${taken.join(', ')}`);
    }
  });
});

describe('S15: an entry that a run left', () => {
  test('holds its node while that run may still send, and not a moment longer than the next look', async () => {
    const { world, taken } = await resting({ agent: '', cni: '' });
    const entry = { owner: uid(setUid(world, 'cni')), pod: uid(podOn(world, 'cni', 'n1')) };
    await leave(world, entry, 40_000);
    setImage(world, 'agent', 'two');
    await world.advance(30_000);
    assert.ok(!taken.includes('agent n1'), taken.join());
    assert.equal(taken.length, 3);
    await world.converge();
    assert.ok(taken.includes('agent n1'));
  });

  test('holds its node until the new pod is ready, however late that is', async () => {
    const { world, taken } = await resting({ agent: '', cni: '' });
    const entry = { owner: uid(setUid(world, 'cni')), pod: uid('a pod that is gone') };
    world.controllers.deadNodes.add('n1');
    const pod = world.api
      .list('pods')
      .find(({ metadata }) => metadata.uid === podOn(world, 'cni', 'n1'));
    assert.ok(pod !== undefined);
    world.api.change('pods', { namespace: 'ns', name: pod.metadata.name }, (object) => ({
      ...object,
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
    }));
    await leave(world, entry, -60_000);
    setImage(world, 'agent', 'two');
    await world.advance(10 * 60_000);
    assert.ok(!taken.includes('agent n1'), taken.join());
  });

  test('of a DaemonSet that is gone holds nothing', async () => {
    const { world, taken } = await resting({ agent: '' });
    await leave(world, { owner: uid('gone'), pod: uid('gone') }, -1);
    setImage(world, 'agent', 'two');
    await world.converge();
    assert.equal(taken.length, 4);
  });
});
