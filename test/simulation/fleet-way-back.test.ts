// The way back of a fleet, in the worst hour: the bad release passed every stage, and whoever should approve sleeps (issue 41).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { POLICY_ANNOTATION } from '../../src/core/policy/rollout-policy.ts';
import type { FleetRecord } from '../../src/core/fleet/rollout/fleet-record.ts';
import { nodeOf } from '../support/simulated-cluster.ts';
import { EngineFleet } from '../support/fleet-simulation/engine-fleet.ts';
import { imageOf } from '../support/simulation/look.ts';

const NAMES = ['alpha', 'beta', 'gamma'] as const;
const NODES = 6;
const [GOOD, BAD] = ['agent:1', 'agent:2'] as const;
const POLICY = { canary: { nodes: 1 }, soak: '5m', maxUnavailable: 2 };
const QUICK: JsonObject = {
  stages: [{ name: 'first', clusterNames: ['alpha'], nodes: 1 }],
  soak: '5m',
  maxConcurrency: '100%',
  rollout: POLICY,
};
/** Opens on one day of the week, which is not today: 25 November 2026 is a Wednesday. */
const NEVER = { days: ['Sun'], from: '03:00', to: '04:00', timeZone: 'UTC' };
/** Nobody approves, and no window opens: neither between clusters nor inside of them. */
const SHUT: JsonObject = {
  stages: [{ name: 'first', clusterNames: ['alpha'], approval: 'before' }],
  approval: 'before',
  window: NEVER,
  rollout: { ...POLICY, approval: 'each-step', window: NEVER },
};

const isDone = ({ gate }: FleetRecord): boolean => gate.kind === 'done';
const isOf = (generation: number) => (record: FleetRecord) =>
  record.release.generation === generation && isDone(record);

/** Three clusters, everywhere at the bad release, which passed every stage. */
async function everywhereBad(): Promise<EngineFleet> {
  const clusters = NAMES.map((name) => ({ name, nodes: NODES }));
  const world = await EngineFleet.start({ strategy: QUICK }, clusters);
  await world.release(GOOD);
  await world.until('the good one is out', isDone);
  await world.release(BAD);
  await world.until('the bad one is out', isOf(2));
  for (const name of NAMES) assert.equal(world.runningNodes(name, BAD), NODES, name);
  return world;
}

function assertBack(world: EngineFleet): void {
  for (const name of NAMES) {
    assert.equal(world.runningNodes(name, GOOD), NODES, name);
    assert.equal(world.podsOf(name, BAD).length, 0, name);
  }
}

function policyIn(world: EngineFleet, name: string): string {
  const found = world.member(name).site.api.find('daemonsets', 'agent', 'ns');
  return found?.metadata.annotations?.[POLICY_ANNOTATION] ?? '';
}

describe('the way back of a fleet', () => {
  it('is at once where Git is reverted: no stage, soak, approval or window, under the newest policy', async () => {
    const world = await everywhereBad();
    await world.release(GOOD, SHUT);
    await world.until('all are back', isOf(3), 20);
    assertBack(world);
    for (const name of NAMES) assert.match(policyIn(world, name), /each-step.*Sun/, name);
    const { good } = await world.record();
    assert.deepEqual(
      good.map(({ generation }) => generation),
      [3],
    );
    await world.release(BAD);
    await world.until('its first cluster soaks', ({ gate }) => gate.kind === 'soaking');
    const nodes = NAMES.map((name) => new Set(world.podsOf(name, BAD).map(nodeOf)).size);
    assert.deepEqual(nodes, [1, 0, 0], 'A, B, A, B: B has its stages again');
  });

  it('does not stop half-way where an undo is followed by the revert in Git, and what was undone is held', async () => {
    const world = await everywhereBad();
    await world.undo();
    await world.minutes(2);
    await world.release(GOOD, SHUT);
    await world.until('all are back', isOf(3), 20);
    assertBack(world);
    await world.release(BAD);
    await world.minutes(30);
    const { breach } = await world.record();
    assert.equal(breach?.cause, 'KnownBad');
    assertBack(world);
  });

  it('by an undo alone ends at what was good, under the policy of the release that is left', async () => {
    const world = await everywhereBad();
    await world.release(BAD, SHUT);
    await world.minutes(3);
    await world.undo();
    await world.until('all are back', ({ gate }) => gate.kind === 'returned', 20);
    await world.minutes(1);
    assertBack(world);
  });

  it('brings a cluster that never had what the others go back to by its canary, and holds up no other', async () => {
    const [alpha, beta, gamma] = NAMES.map((name) => ({ name, nodes: NODES }));
    assert.ok(alpha && beta && gamma);
    const world = await EngineFleet.start({ strategy: QUICK }, [alpha, beta]);
    await world.release(GOOD);
    await world.until('the good one is out', isDone);
    await world.release(BAD);
    await world.until('the bad one is out', isOf(2));
    world.add({ daemonSets: 0, ...gamma });
    const isThere = (): boolean => world.runningNodes('gamma', BAD) === NODES;
    await world.until('of gamma it is the first release', isThere, 60);
    await world.minutes(6);
    await world.release(GOOD, SHUT);
    const others = ['alpha', 'beta'] as const;
    const areBack = (): boolean => others.every((name) => world.podsOf(name, BAD).length === 0);
    await world.until('the others are back', areBack, 30);
    await world.until('all are back', isOf(3), 60);
    assertBack(world);
    assert.match(policyIn(world, 'gamma'), /each-step.*Sun/);
  });

  it('halts where what they go back to fails by now, names a cluster, and goes on once it is mended and resumed', async () => {
    const world = await everywhereBad();
    for (const name of NAMES) {
      world.member(name).site.controllers.illnessOf = (pod) =>
        imageOf(pod) === GOOD ? 'bad-image' : undefined;
    }
    await world.release(GOOD);
    const halted = await world.until('it is halted', ({ breach }) => breach !== undefined, 120);
    assert.equal(halted.breach?.cause, 'ReturnFailed');
    assert.match(
      halted.breach.message,
      /failed on the way back to generation 3, 0 may; \w+: Halted/,
    );
    await world.minutes(60);
    assert.equal((await world.record()).gate.kind, 'breach');
    for (const name of NAMES) world.member(name).site.controllers.illnessOf = () => undefined;
    // Their own rollouts are halted, too, which is somebody's to overrule there.
    for (const name of NAMES) await world.resumeIn(name);
    await world.resume();
    await world.until('all are back', isOf(3), 60);
    assertBack(world);
  });
});
