/**
 * One scene with one planned fault: prepared, played, settled, compared with the same scene without.
 *
 * Safety is checked throughout by the world's observer, settling by the world itself (L1, with a bound
 * and a window without writes). A plan that never fired fails the trial, whatever else came of it (M1).
 */
import assert from 'node:assert/strict';
import { World } from '../simulation/world.ts';
import { endStateOf, type EndState } from './end-state.ts';
import type { Scene } from './scene.ts';

/** After a fault, or the end of one, a world has settled within this (L1): a message comes again after a minute. */
export const SETTLES_WITHIN_MS = 5 * 60_000;

const SEED = 7;
const LOOK_MS = 1000;

export interface InstalledFault {
  /** What fired; undefined while nothing did. */
  readonly fired: () => string | undefined;
  /** False while the fault still lasts: the quiet window begins after it. */
  readonly isOver?: () => boolean;
  /** Lifts what the fault left behind, once the rest of the world has settled without it. */
  readonly release?: (world: World) => void | Promise<void>;
}

/** Installs a fault in a prepared world. */
export type Fault = (world: World) => InstalledFault;

export interface TrialResult {
  readonly end: EndState;
  readonly hash: string;
  readonly world: World;
}

/** Whether the cluster moves on before a late function wakes up. */
export interface TrialOptions {
  readonly isOvertaken?: boolean;
}

/** A fault was planned that never happened: the plan is wrong, or the world is not deterministic (M1). */
export class DeadPlanError extends Error {
  override readonly name = 'DeadPlanError';
}

/** Plays a scene with a fault; throws when a promise was broken or the fault did not fire. */
export async function playTrial(
  scene: Scene,
  fault: Fault,
  options: TrialOptions = {},
): Promise<TrialResult> {
  const world = await World.start({ nodes: scene.nodes, seed: SEED });
  scene.prepare(world);
  await world.settle();
  const installed = fault(world);
  await scene.act(world);
  await world.converge(SETTLES_WITHIN_MS);
  while (installed.isOver?.() === false) await world.advance(LOOK_MS);
  await world.settle(SETTLES_WITHIN_MS);
  if (options.isOvertaken === true) scene.overtake(world);
  await installed.release?.(world);
  await world.settle(SETTLES_WITHIN_MS);
  if (installed.fired() === undefined) {
    throw new DeadPlanError('the planned fault never fired (M1)');
  }
  assert.deepEqual(world.host.frozen, [], 'something is still frozen');
  return { end: endStateOf(world), hash: world.traceHash(), world };
}

/** Demands the same end, and the same counts where the scene keeps them (faults row 5). */
export function assertSameEnd(
  scene: Scene,
  seen: { readonly reference: EndState; readonly trial: EndState; readonly keepsCounts?: boolean },
): void {
  const { reference, trial, keepsCounts = scene.keepsCounts } = seen;
  const lacks = without(reference.lines, trial.lines);
  const adds = without(trial.lines, reference.lines);
  assert.deepEqual({ lacks, adds }, { lacks: [], adds: [] }, 'row 5: the end state differs');
  if (keepsCounts) assert.deepEqual(trial.counts, reference.counts, 'row 5: the counts differ');
}

const LINE_LENGTH_MAX = 400;

/** The lines that the others do not have, cut to what a person reads. */
function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line)).map((line) => line.slice(0, LINE_LENGTH_MAX));
}
