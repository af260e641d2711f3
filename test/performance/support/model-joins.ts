/**
 * Nodes that join clusters of a model: how long until the first pod and all of them, from when the node is eligible.
 *
 *   added, not ready, tainted ──a second──▶ ready ──a second──▶ taint gone = eligible ─▶ first pod … last pod
 *
 * As `bench -- join` has it. A pod counts when the API server has stored it.
 */
import assert from 'node:assert/strict';
import { nodeOf } from '../../support/simulated-cluster.ts';
import { rawNode } from '../../support/simulation/objects.ts';
import { ModelWorld } from '../../support/model/model-world.ts';
import type { ModelCluster, ModelOptions } from '../../support/model/model-world.ts';

const STEP_MS = 1_000;
const SETTLE_STEP_MS = 10_000;
const SETTLE_STEPS_MAX = 360;
const TAINT = { key: 'bench.test/starting', effect: 'NoSchedule' } as const;

/** Milliseconds from when a node was eligible. */
export interface JoinTimes {
  readonly firstMs: number;
  readonly allMs: number;
}

export interface FleetShape {
  readonly clusters: number;
  readonly nodes: number;
  readonly daemonSets: number;
}

/** A fleet in which every pod is there, and nothing is going on. */
export async function settledFleet(shape: FleetShape, options: ModelOptions): Promise<ModelWorld> {
  const world = new ModelWorld(options);
  const { nodes, daemonSets } = shape;
  for (let index = 0; index < shape.clusters; index += 1) {
    await world.add({ name: `cluster-${String(index)}`, nodes, daemonSets });
  }
  const isWhole = (): boolean =>
    [...world.clusters.values()].every(
      ({ site }) => site.api.list('pods').length === nodes * daemonSets,
    );
  for (let step = 0; !isWhole(); step += 1) {
    assert.ok(step < SETTLE_STEPS_MAX, 'the fleet does not get its pods');
    await world.clock.advance(SETTLE_STEP_MS);
  }
  // What follows the last pod, and environments that only the beginning needed.
  await world.clock.advance(10 * 60_000);
  return world;
}

/** Lets one node join; resolves when it has its pods. */
export async function join(
  world: ModelWorld,
  { id, site }: ModelCluster,
  wanted: { readonly number: number; readonly pods: number },
): Promise<JoinTimes> {
  const { clock } = world;
  const { api } = site;
  const name = `${id}-joined-${String(wanted.number)}`;
  api.put('nodes', rawNode(name, { isReady: false, taints: [TAINT] }));
  await clock.sleep(STEP_MS);
  api.put('nodes', rawNode(name, { taints: [TAINT] }));
  await clock.sleep(STEP_MS);
  const eligibleMs = clock.monotonicMs();
  const createdMs: number[] = [];
  const isWhole = new Promise<void>((resolve) => {
    const stop = api.subscribe((commit) => {
      const isPod = commit?.kind === 'pods' && commit.type === 'added';
      if (!isPod || nodeOf(commit.object) !== name) return;
      createdMs.push(clock.monotonicMs() - eligibleMs);
      if (createdMs.length < wanted.pods) return;
      stop();
      resolve();
    });
  });
  api.put('nodes', rawNode(name));
  await isWhole;
  return { firstMs: createdMs[0] ?? Number.NaN, allMs: createdMs.at(-1) ?? Number.NaN };
}
