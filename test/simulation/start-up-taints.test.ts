/** Nodes join with a start-up taint, which goes once their daemons serve (issue 45, ADR 0089). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createProcessCache } from '../../src/app/reconcile/process/process-cache.ts';
import { findLateNodes } from '../../src/app/why/late-nodes.ts';
import type { ClusterRegistration, StartUp } from '../../src/core/model/registration.ts';
import { describeLateNodes } from '../../src/core/start-up/start-up-words.ts';
import { enterCopilot } from '../support/simulation/copilot-world.ts';
import { START_UP_TAINT } from '../support/simulation/start-up-audit.ts';
import {
  enterStartUp,
  START_UP_CONDITION,
  startReadinessController,
} from '../support/simulation/start-up-world.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../src/watcher/session/options.ts';
import { podsOf, setImage } from '../support/simulation/look.ts';
import { World } from '../support/simulation/world.ts';

const SETS = ['agent', 'proxy', 'logger'];
const NODES = Array.from({ length: 20 }, (_, index) => `n${String(index + 1)}`);
const MINUTE_MS = 60_000;

interface Beginning {
  readonly counts?: StartUp['counts'];
  readonly isCopilot?: boolean;
}

/** A flush of so few pods is as wide as one of 1,000 nodes: others wait for 1.8 seconds after it. */
const WIDE = { flush: { ...DEFAULT_WATCHER_OPTIONS.flush, intervalMsPerSlice: 600 } };

/** A world of one node whose three DaemonSets are waited for. */
async function start({ counts = 'labelled', isCopilot = false }: Beginning = {}): Promise<World> {
  const world = await World.start({ watcher: WIDE });
  if (isCopilot) enterCopilot(world, 'deletes');
  const waitedFor = await enterStartUp(world, counts);
  for (const name of SETS) world.addDaemonSet(name, waitedFor);
  world.addNode('n0');
  await world.settle();
  return world;
}

async function join(world: World): Promise<void> {
  for (const name of NODES) world.addNode(name);
  await world.advance(MINUTE_MS);
}

function tainted(world: World): readonly string[] {
  const taintsOf = (spec: unknown): number =>
    (spec as { taints: readonly unknown[] }).taints.length;
  const nodes = world.api.list('nodes').filter((node) => taintsOf(node['spec']) > 0);
  return nodes.map(({ metadata }) => metadata.name);
}

/** A kubelet tells of all pods of a DaemonSet, and no watcher hears of it. */
function unready(world: World, name: string, status: 'True' | 'False'): void {
  for (const { metadata } of podsOf(world, name)) {
    world.api.change('pods', { namespace: 'ns', name: metadata.name }, (pod) => ({
      ...pod,
      status: { ...(pod['status'] as object), conditions: [{ type: 'Ready', status }] },
    }));
  }
}

function removals(world: World): number {
  return world.api.requests.filter((text) => text.startsWith('remove-taint')).length;
}

async function lateNodes(world: World): Promise<string> {
  const registration = (await world.registration()) as ClusterRegistration;
  const sources = { view: world.view, cache: createProcessCache(), nowMs: world.clock.nowMs() };
  const late = await findLateNodes({ registration, meta: await world.meta() }, sources);
  return late === undefined ? '' : describeLateNodes('alpha', late).text;
}

describe('start-up taints', () => {
  for (const beginning of [{}, { counts: 'all' }, { isCopilot: true }] as const) {
    it(`S19: go within a second of the last Ready, and never before (${JSON.stringify(beginning)})`, async () => {
      const world = await start(beginning);
      await join(world);
      await world.settle();
      assert.deepEqual(tainted(world), []);
      const { delaysMs } = world.site.startUps;
      assert.equal(delaysMs.length, NODES.length + 1);
      assert.ok(Math.max(...delaysMs) < 1000, `after ${String(Math.max(...delaysMs))} ms`);
    });
  }

  it('S19: are left to the Node Readiness Controller where a condition is set', async () => {
    const world = await start();
    const { startUp } = (await world.registration()) as ClusterRegistration;
    assert.ok(startUp !== undefined);
    await world.reconfigure({ startUp: { ...startUp, condition: START_UP_CONDITION } });
    const before = removals(world);
    await join(world);
    assert.deepEqual(tainted(world), NODES.toSorted(), 'nothing takes the taint away yet');
    const { delaysMs } = world.site.startUps;
    assert.equal(delaysMs.length, NODES.length + 1);
    assert.ok(Math.max(...delaysMs) < 1000, `after ${String(Math.max(...delaysMs))} ms`);
    const { version } = world.api;
    for (const name of SETS) world.hint(name);
    await world.advance(2 * MINUTE_MS);
    for (const name of SETS) world.hint(name);
    await world.advance(MINUTE_MS);
    const changed = world.trace.filter((line) => line.includes('modified nodes'));
    assert.equal(changed.length, NODES.length + 1, `the same write changes nothing: ${version}`);
    startReadinessController(world);
    world.addNode('late');
    await world.advance(MINUTE_MS);
    assert.deepEqual(tainted(world), NODES.toSorted(), 'late is released');
    assert.equal(removals(world), before);
    world.assertSafe();
  });

  it('S19: stay while one of the pods is not ready, and that is told after ten minutes', async () => {
    const world = await start();
    setImage(world, 'proxy', '2-simulate-bad-image');
    await join(world);
    assert.deepEqual(tainted(world), NODES.toSorted());
    assert.equal(await lateNodes(world), '');
    await world.advance(10 * MINUTE_MS);
    assert.match(
      await lateNodes(world),
      /^20 nodes that joined more than .*: ns\/proxy has no ready pod there/,
    );
    assert.equal(removals(world), 1);
    world.assertSafe();
  });

  it('S17, S19: are left where the cluster is frozen or only observed, and that is told', async () => {
    for (const [change, said] of [
      [{ isFrozen: true }, /The cluster is frozen/],
      [{ mode: 'observe' }, /The cluster is only observed/],
    ] as const) {
      const world = await start();
      for (const name of NODES) world.addNode(name);
      await world.advance(200);
      await world.reconfigure(change);
      await world.advance(12 * MINUTE_MS);
      assert.equal(removals(world), 1);
      assert.match(await lateNodes(world), said);
    }
  });

  it('S19: go by live reads where pods were not heard of lately, and not at all of a silent cluster', async () => {
    const world = await start();
    world.site.intervene = ({ kind }) =>
      kind === 'remove-taint'
        ? { kind: 'answer', outcome: { kind: 'unsent', message: 'not now' } }
        : undefined;
    await join(world);
    world.queues.way = 'closed';
    unready(world, 'proxy', 'False');
    await world.advance(2 * MINUTE_MS);
    world.site.intervene = () => undefined;
    await world.advance(8 * MINUTE_MS);
    assert.deepEqual(tainted(world), NODES.toSorted());
    unready(world, 'proxy', 'True');
    await world.advance(5 * MINUTE_MS);
    assert.deepEqual(tainted(world), []);
    world.addNode('late');
    await world.advance(30 * MINUTE_MS);
    assert.deepEqual(tainted(world), ['late']);
    world.queues.way = 'open';
    await world.settle();
    assert.deepEqual(tainted(world), []);
  });

  it('are asked for ever more seldom where the right is missing', async () => {
    const world = await start();
    world.site.intervene = ({ kind }) =>
      kind === 'remove-taint'
        ? {
            kind: 'answer',
            outcome: { kind: 'refused', code: 'forbidden', status: 403, message: 'no right' },
          }
        : undefined;
    await join(world);
    for (let minute = 0; minute < 60; minute += 1) {
      for (const name of SETS) world.hint(name);
      await world.advance(MINUTE_MS);
    }
    assert.deepEqual(tainted(world), NODES.toSorted());
    // Each of three DaemonSets waits for 2 s, 4 s … 5 min: some twenty times in an hour.
    const batches = removals(world);
    assert.ok(batches < 3 * NODES.length * 24, String(batches));
    assert.match(
      await lateNodes(world),
      /all that counts serves there, and the taint is not removed/,
    );
  });

  it('cost one read of a DaemonSet in a run while the one that was missing is missing', async () => {
    const world = await start();
    world.controllers.behaviour = ({ metadata }) =>
      metadata.name.startsWith('proxy') ? 'stay-pending' : 'run';
    await join(world);
    world.view.calls.length = 0;
    const runs = 20;
    for (let run = 0; run < runs; run += 1) {
      world.hint('agent');
      await world.advance(1000);
    }
    const count = (operation: string): number =>
      world.view.calls.filter((call) => call.operation === operation).length;
    assert.equal(count('listNames'), 0);
    // Its own, and that of the one that is missing.
    assert.ok(count('readDaemonSet') >= runs, String(count('readDaemonSet')));
    assert.ok(count('readDaemonSet') <= 2 * runs, String(count('readDaemonSet')));
    assert.deepEqual(tainted(world), NODES.toSorted());
    world.controllers.behaviour = () => 'run';
    world.controllers.lookAtEverything();
    await world.settle();
    assert.deepEqual(tainted(world), []);
  });

  it('cost neither a read nor a write of a cluster without the setting', async () => {
    const counted = async (isTainted: boolean): Promise<readonly string[]> => {
      const world = await World.start({ nodes: ['n0'] });
      for (const name of SETS) {
        world.addDaemonSet(name, {
          tolerations: [{ key: START_UP_TAINT.key, operator: 'Exists' }],
        });
      }
      if (isTainted) world.api.joiningTaints = [START_UP_TAINT];
      await world.settle();
      world.view.calls.length = 0;
      await join(world);
      assert.equal(tainted(world).length, isTainted ? NODES.length : 0);
      return world.view.calls.map(({ operation, target }) => `${operation} ${target}`);
    };
    assert.deepEqual(await counted(true), await counted(false));
  });
});
