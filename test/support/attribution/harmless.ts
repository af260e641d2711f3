/**
 * Harmless releases on populations that are fixed here, judged as a run judges: how often are they halted all the same?
 *
 * Nodes of three zones; steps of the canary, 10 %, 35 % and all, each updated evenly within 15 minutes and soaked for 30. Nodes die by
 * themselves; flaky ones turn NotReady for three minutes, once an hour on average, updated or not. A pod restarts once in 30 days, one in five times for
 * memory. Time goes by the minute, and a run looks where something happened. What is not played: a canary node that was lost, and what goes in its place.
 */
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { findBreach, findNodesFailed } from '../../../src/core/health/breach.ts';
import type { JudgedPod } from '../../../src/core/health/pod-signs.ts';
import { advanceTrial, startTrial, type TrialNode } from '../../../src/core/health/trial.ts';
import type { BreachCause, Trial } from '../../../src/core/model/rollout-record.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';

/** On which nodes a harmless release is rolled out. */
export interface Population {
  readonly nodes: number;
  /** Percent of them that flap. */
  readonly flakyPercent: number;
  readonly canary: number;
}

/** The eight: flaky nodes in each size, beside each canary; without them the smallest and the largest. */
export const POPULATIONS: readonly Population[] = [
  { nodes: 100, flakyPercent: 0, canary: 1 },
  { nodes: 100, flakyPercent: 2, canary: 1 },
  { nodes: 100, flakyPercent: 2, canary: 3 },
  { nodes: 1000, flakyPercent: 2, canary: 1 },
  { nodes: 1000, flakyPercent: 2, canary: 3 },
  { nodes: 5000, flakyPercent: 2, canary: 1 },
  { nodes: 5000, flakyPercent: 2, canary: 3 },
  { nodes: 5000, flakyPercent: 0, canary: 3 },
];

const ZONES = 3;
const STEP_SHARES = [10, 35, 100] as const;
const UPDATE_MINUTES = 15;
const STEP_MINUTES = 45;
const END_MINUTES = STEP_MINUTES * (STEP_SHARES.length + 1);
const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 25);
const DEATHS_PER_NODE_MINUTE = 1e-3 / 60;
const FLAPS_PER_MINUTE = 1 / 60;
const FLAP_MINUTES = 3;
const RESTARTS_PER_POD_MINUTE = 1 / (30 * 24 * 60);
const OOM_SHARE = 0.2;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Something that happens to a node. */
interface Happening {
  readonly minute: number;
  readonly node: number;
  readonly what: 'bad' | 'good' | 'restart' | 'oom';
}

/** Plays one release to its end; the cause for which it was halted, if it was. */
export function playHarmless(population: Population, seed: number): BreachCause | undefined {
  const random = seededRandom(seed);
  const updatedAt = updateMinutes(population, random);
  const nodes = updatedAt.map((_, index): Mutable<TrialNode> => ({
    name: nodeName(`n${String(index)}`),
    stratum: `${String(index % ZONES)}/`,
    isUpdated: false,
    isBad: false,
  }));
  const pods = nodes.map(({ name: node, stratum }): Mutable<JudgedPod> => {
    return { node, stratum, evidence: { kind: 'well', restarts: 0 }, createdAtMs: 0 };
  });
  let trial: Trial = startTrial(nodes, START_MS);
  const byMinute = Map.groupBy(drawHappenings(population, random), ({ minute }) => minute);
  for (const minute of [...byMinute.keys()].sort((left, right) => left - right)) {
    const happened = byMinute.get(minute) ?? [];
    for (const one of happened) takePlace(one, { nodes, pods });
    // A node that failed is drawn no more: a look at it changes nothing.
    const isOfNodes = happened.some(
      ({ what, node }) => what === 'bad' && !hasFailed(trial, nodes[node]),
    );
    const isOfPods = happened.some(({ node }) => pods[node]?.evidence.kind === 'failed');
    if (!isOfNodes && !isOfPods) continue;
    for (const [index, node] of nodes.entries()) {
      node.isUpdated = (updatedAt[index] ?? Infinity) <= minute;
    }
    const nowMs = START_MS + minute * MINUTE_MS;
    trial = advanceTrial(trial, nodes, nowMs);
    const found =
      findNodesFailed(trial, nodes, nowMs) ??
      (isOfPods ? podBreach(nodes, pods, minute) : undefined);
    if (found !== undefined) return found.cause;
  }
  return undefined;
}

function hasFailed({ failed }: Trial, node: TrialNode | undefined): boolean {
  return node !== undefined && failed.includes(node.name);
}

/** In which minute each node is updated, in an order of its own. */
function updateMinutes({ nodes, canary }: Population, random: Random): readonly number[] {
  const ends = [canary, ...STEP_SHARES.map((share) => Math.ceil((share * nodes) / 100))];
  const minutes = ends.flatMap((end, step) => {
    const count = Math.max(0, end - (ends[step - 1] ?? 0));
    return Array.from({ length: count }, (_, index) =>
      Math.floor(step * STEP_MINUTES + (UPDATE_MINUTES * index) / count),
    );
  });
  return minutes
    .map((minute) => ({ minute, rank: random.next() }))
    .sort((left, right) => left.rank - right.rank)
    .map(({ minute }) => minute);
}

function drawHappenings({ nodes, flakyPercent }: Population, random: Random): Happening[] {
  const flaky = Math.round((nodes * flakyPercent) / 100);
  return Array.from({ length: nodes }, (_, node) => [
    ...timesOf(DEATHS_PER_NODE_MINUTE, random).map((minute): Happening => {
      return { minute, node, what: 'bad' };
    }),
    ...(node < flaky ? timesOf(FLAPS_PER_MINUTE, random) : []).flatMap((minute): Happening[] => [
      { minute, node, what: 'bad' },
      { minute: minute + FLAP_MINUTES, node, what: 'good' },
    ]),
    ...timesOf(RESTARTS_PER_POD_MINUTE, random).map((minute): Happening => {
      return { minute, node, what: random.next() < OOM_SHARE ? 'oom' : 'restart' };
    }),
  ]).flat();
}

/** When something happens that has no memory. */
function timesOf(perMinute: number, random: Random): number[] {
  const times: number[] = [];
  for (let at = 0; ;) {
    at -= Math.log(1 - random.next()) / perMinute;
    if (at >= END_MINUTES) return times;
    times.push(Math.floor(at));
  }
}

function takePlace(
  { node, what, minute }: Happening,
  { nodes, pods }: { readonly nodes: Mutable<TrialNode>[]; readonly pods: Mutable<JudgedPod>[] },
): void {
  const [one, pod] = [nodes[node], pods[node]];
  if (one === undefined || pod === undefined) return;
  if (what === 'bad' || what === 'good') {
    one.isBad = what === 'bad';
    return;
  }
  const restarts = pod.evidence.restarts + 1;
  if (what === 'restart' && restarts < 2) {
    pod.evidence = { kind: 'well', restarts };
    return;
  }
  const [sign, word] =
    what === 'oom' ? (['OOMKilled', 'OOMKilled 137'] as const) : (['Crash', 'Error 1'] as const);
  const atMs = START_MS + minute * MINUTE_MS;
  pod.evidence = { kind: 'failed', class: 'run', sign, word, atMs, restarts };
}

function podBreach(
  nodes: readonly TrialNode[],
  pods: readonly JudgedPod[],
  minute: number,
): ReturnType<typeof findBreach> {
  const ofSide = (isUpdated: boolean): JudgedPod[] =>
    pods.filter((_, index) => nodes[index]?.isUpdated === isUpdated);
  return findBreach({
    nowMs: START_MS + minute * MINUTE_MS,
    step: minute < STEP_MINUTES ? 'canary' : 'group',
    soakMs: 30 * MINUTE_MS,
    updated: ofSide(true),
    peers: ofSide(false),
    turns: [],
  });
}

/** By Clopper and Pearson: the largest share of halts that so few of so many plays leave possible, with 95 % certainty. */
export function upperBound(halted: number, plays: number): number {
  let [low, high] = [halted / plays, 1];
  for (let round = 0; round < 50; round += 1) {
    const share = (low + high) / 2;
    if (atMost(halted, plays, share) > 0.05) low = share;
    else high = share;
  }
  return high;
}

/** P(at most so many of so many). */
function atMost(halted: number, plays: number, share: number): number {
  let term = plays * Math.log(1 - share);
  let sum = Math.exp(term);
  for (let count = 1; count <= halted; count += 1) {
    term += Math.log((plays - count + 1) / count) + Math.log(share / (1 - share));
    sum += Math.exp(term);
  }
  return sum;
}
