/**
 * A trial: do updated members go bad more often than members of the same stratum that are not
 * updated? One rule for nodes of a cluster and for small clusters of a fleet. A member is drawn
 * once, on the side on which it first failed. What was bad at the start, and nodes that joined
 * later, are outside. The same object again if nothing new failed.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { NodeFailure, Trial } from '../model/rollout-record.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { hash48 } from '@rollcall/base/hash48.ts';

/** One that can fail. */
export interface TrialNode {
  readonly name: NodeName;
  /** Those of one stratum are compared: zone and pool (`stratumOf`), or what makes nodes of clusters alike. */
  readonly stratum: string;
  /** Its old pod was deleted for this rollout, or it runs the new revision. */
  readonly isUpdated: boolean;
  readonly isBad: boolean;
  /** creationTimestamp; absent: not known, so it is taken to have been there. */
  readonly createdAtMs?: number;
}

/**
 * Clocks of nodes without NTP drift apart by minutes; what is further off breaks certificates
 * first. How long something lasts is measured on ours alone; where times of two machines have to be
 * compared, they may differ by this.
 */
export const CLOCKS_DIFFER_MS = 300_000;

/** Names that a trial keeps of nodes outside, and of nodes that failed. */
export const TRIAL_NODES_MAX = 500;
/** Failures that it keeps for people and for outages. */
export const FAILURES_MAX = 32;
/** Failures of one stratum that follow each other within it are one outage, */
export const OUTAGE_GAP_MS = 60_000;
/** but for so long only: a release that kills nodes one after the other must not hide behind its first. */
export const OUTAGE_MS_MAX = 300_000;

/** A trial of these nodes. Those that are bad now are outside. */
export function startTrial(nodes: readonly TrialNode[], nowMs: number): Trial {
  const outside = nodes.filter(({ isBad }) => isBad).map(({ name }) => name);
  return {
    startedAtMs: nowMs,
    outside: outside.sort(compareText).slice(0, TRIAL_NODES_MAX),
    failed: [],
    logRatios: NO_EVIDENCE,
    failures: [],
    isWithoutControls: false,
    isVoid: outside.length > TRIAL_NODES_MAX,
  };
}

/** The trial after another look at the nodes of the cluster; the same one if there was nothing new. */
export function advanceTrial(trial: Trial, nodes: readonly TrialNode[], nowMs: number): Trial {
  if (trial.isVoid) return trial;
  const isAtRisk = atRiskIn(trial, [...trial.outside, ...trial.failed]);
  if (!nodes.some((node) => node.isBad && isAtRisk(node))) return trial;
  const atRisk = nodes.filter(isAtRisk);
  const drawn = drawFailures(trial.logRatios, atRisk, {
    startedAtMs: trial.startedAtMs,
    unitOf: ({ name }) => name,
    outages: outagesAt(trial.failures, nowMs),
  });
  const failed = [...trial.failed, ...drawn.failures.map(({ member }) => member.name)];
  if (failed.length > TRIAL_NODES_MAX) return { ...trial, isVoid: true };
  const failures = drawn.failures.map(({ member, isCounted }): NodeFailure => {
    const { name: node, stratum, isUpdated } = member;
    return { node, stratum, isUpdated, atMs: nowMs, isCounted };
  });
  return {
    ...trial,
    failed: failed.sort(compareText),
    logRatios: drawn.ratios,
    failures: keepFailures([...trial.failures, ...failures]),
    isWithoutControls: trial.isWithoutControls || drawn.failures.some(({ isAlone }) => isAlone),
  };
}

/** The same trial, in which nothing speaks for the release so far: a person has looked at it, and overruled what it said. */
export function overruleTrial(trial: Trial): Trial {
  return { ...trial, logRatios: NO_EVIDENCE, isWithoutControls: false };
}

/** Nodes that were there when it started, by the API server's clock, and are not among `gone`. */
export function atRiskIn(
  { startedAtMs }: { readonly startedAtMs: number },
  gone: readonly NodeName[],
): (node: Pick<TrialNode, 'name' | 'createdAtMs'>) => boolean {
  const names = new Set(gone);
  return ({ name, createdAtMs = 0 }) =>
    !names.has(name) && createdAtMs <= startedAtMs - CLOCKS_DIFFER_MS;
}

export interface DrawRule<M> {
  readonly startedAtMs: number;
  /** All of one unit are drawn with the first of them, and are at risk no more. */
  readonly unitOf: (member: M) => string;
  /** Strata that have an outage now, in which no failure counts; absent: each failure counts. */
  readonly outages?: ReadonlySet<string>;
}

export interface DrawnFailure<M> {
  readonly member: M;
  readonly isCounted: boolean;
  /** It counted, and no node was left to compare it with. */
  readonly isAlone: boolean;
}

/** The failures of one look, each drawn among those that are left of its stratum by then. */
export function drawFailures<M extends TrialNode>(
  before: LogRatios,
  atRisk: readonly M[],
  { startedAtMs, unitOf, outages }: DrawRule<M>,
): { readonly ratios: LogRatios; readonly failures: readonly DrawnFailure<M>[] } {
  const fallen = inBlindOrder(atRisk, startedAtMs);
  if (fallen.length === 0) return { ratios: before, failures: [] };
  const units = new Set(fallen.map(unitOf));
  const unitMembers = Map.groupBy(
    atRisk.filter((member) => units.has(unitOf(member))),
    unitOf,
  );
  const left = countStrata(atRisk);
  const inOutage = new Set(outages);
  const failures: DrawnFailure<M>[] = [];
  let ratios = before;
  for (const member of fallen) {
    const unit = unitOf(member);
    if (!units.delete(unit)) continue;
    const { stratum, isUpdated } = member;
    const { updated, others } = left.get(stratum) ?? NOBODY;
    const isCounted = !inOutage.has(stratum);
    if (outages !== undefined) inOutage.add(stratum);
    if (isCounted) {
      ratios = withDraw(ratios, { isUpdated, updatedAtRisk: updated, othersAtRisk: others });
    }
    failures.push({ member, isCounted, isAlone: isCounted && isUpdated && others === 0 });
    for (const gone of unitMembers.get(unit) ?? []) takeOut(left, gone);
  }
  return { ratios, failures };
}

/** Those that are bad, by a hash that knows no side: in the order of names, a rollout that goes by name would always be first. */
function inBlindOrder<M extends TrialNode>(members: readonly M[], startedAtMs: number): M[] {
  return members
    .filter(({ isBad }) => isBad)
    .map((member) => ({ member, rank: hash48(`trial/${String(startedAtMs)}/${member.name}`) }))
    .sort(
      (left, right) => left.rank - right.rank || compareText(left.member.name, right.member.name),
    )
    .map(({ member }) => member);
}

interface Sides {
  updated: number;
  others: number;
}

const NOBODY: Readonly<Sides> = { updated: 0, others: 0 };

function countStrata(members: readonly TrialNode[]): ReadonlyMap<string, Sides> {
  const strata = new Map<string, Sides>();
  for (const { stratum, isUpdated } of members) {
    let sides = strata.get(stratum);
    if (sides === undefined) strata.set(stratum, (sides = { updated: 0, others: 0 }));
    sides[isUpdated ? 'updated' : 'others'] += 1;
  }
  return strata;
}

function takeOut(strata: ReadonlyMap<string, Sides>, { stratum, isUpdated }: TrialNode): void {
  const sides = strata.get(stratum);
  if (sides !== undefined) sides[isUpdated ? 'updated' : 'others'] -= 1;
}

/** Strata whose last failure was within a minute, and the one that was counted not too long ago. */
function outagesAt(failures: readonly NodeFailure[], nowMs: number): ReadonlySet<string> {
  const within = (limitMs: number): readonly NodeFailure[] =>
    failures.filter(({ atMs }) => nowMs - atMs < limitMs);
  const going = new Set(within(OUTAGE_GAP_MS).map(({ stratum }) => stratum));
  const counted = within(OUTAGE_MS_MAX).filter(({ isCounted }) => isCounted);
  return new Set(counted.map(({ stratum }) => stratum).filter((stratum) => going.has(stratum)));
}

/** The newest ones; what was counted is forgotten last. */
function keepFailures(failures: readonly NodeFailure[]): readonly NodeFailure[] {
  const over = Math.max(0, failures.length - FAILURES_MAX);
  const uncounted = failures.filter(({ isCounted }) => !isCounted).slice(0, over);
  const dropped = new Set(uncounted);
  return failures.filter((failure) => !dropped.has(failure)).slice(-FAILURES_MAX);
}

/** A first failure is held against no release, however few nodes are updated: one node in fifty may be flaky. */
const UPDATED_FAILED_MIN = 2;

/** True if it speaks against the release: by so many failures of updated nodes, no outage counted twice, and by E. */
export function isAgainst(trial: Trial, haltAt = NODES_HALT_AT): boolean {
  const failed = trial.failures.filter(({ isUpdated, isCounted }) => isUpdated && isCounted);
  return failed.length >= UPDATED_FAILED_MIN && eValueOf(trial) >= haltAt;
}

/** E of a trial: 1 without evidence. What a void trial had found stays. */
export function eValueOf({ logRatios }: Pick<Trial, 'logRatios'>): number {
  return meanRatio(logRatios);
}

/*
 * The e-value of a trial. Each counted failure is a draw: without an effect it falls on an updated node with probability π, the share of
 * updated nodes among those at risk in its stratum. For a hazard ratio r the likelihood ratio is r/(rπ+1−π) if the node is updated, else
 * 1/(rπ+1−π). Ratios multiply over failures and are averaged over r. By Ville's inequality a release without an effect reaches
 * E >= 20 with probability 5 % at most, however often one looks.
 */

/** Hazard ratios that are tried side by side. */
const HAZARD_RATIOS = [3, 10, 30, 100] as const;

/** ln of the likelihood ratio for each of HAZARD_RATIOS. */
export type LogRatios = readonly [number, number, number, number];

/** Nothing has failed yet. */
export const NO_EVIDENCE: LogRatios = [0, 0, 0, 0];

/** A fleet halts from here on: false alarms at most 5 %. */
export const HALT_AT = 20;

/** The rollout of a cluster does: at most 4 %, and 2 % on the populations of `npm run bench -- attribution`. */
export const NODES_HALT_AT = 25;

/** One failure, and who was at risk in its stratum when it happened, itself included. */
interface Draw {
  readonly isUpdated: boolean;
  readonly updatedAtRisk: number;
  readonly othersAtRisk: number;
}

/** With one more failure. A stratum in which all nodes are on one side adds nothing. */
export function withDraw(ratios: LogRatios, draw: Draw): LogRatios {
  const { isUpdated, updatedAtRisk, othersAtRisk } = draw;
  if (updatedAtRisk <= 0 || othersAtRisk <= 0) return ratios;
  const share = updatedAtRisk / (updatedAtRisk + othersAtRisk);
  const grow = (at: 0 | 1 | 2 | 3): number => {
    const hazard = HAZARD_RATIOS[at];
    return ratios[at] + Math.log((isUpdated ? hazard : 1) / (hazard * share + 1 - share));
  };
  return [grow(0), grow(1), grow(2), grow(3)];
}

/** The mean of the likelihood ratios; 1 when nothing failed. */
export function meanRatio(ratios: LogRatios): number {
  return ratios.reduce((sum, ratio) => sum + Math.exp(ratio), 0) / ratios.length;
}

/** Beyond it a number says no more; and JSON has no infinity. */
export const E_SHOWN_MAX = 1e6;

/** E in words. */
export function describeE(eValue: number): string {
  if (eValue >= E_SHOWN_MAX) return 'over a million';
  return eValue >= 100 ? String(Math.round(eValue)) : eValue.toFixed(1);
}

/*
 * Fisher's exact test, one-sided, tells whether pods of the former revision fail as often (breach.ts). It halts nothing: looked at again
 * and again it alarms too often.
 */

interface FourCounts {
  readonly updatedBad: number;
  readonly updatedGood: number;
  readonly othersBad: number;
  readonly othersGood: number;
}

/** P(at least `updatedBad` of all bad nodes are updated ones), given the sums of rows and columns; 1 when nothing is bad. */
export function fisherOneSided(counts: FourCounts): number {
  const { updatedBad, updatedGood, othersBad, othersGood } = counts;
  const updated = updatedBad + updatedGood;
  const others = othersBad + othersGood;
  const bad = updatedBad + othersBad;
  const all = lnChoose(updated + others, bad);
  let sum = 0;
  for (let hits = updatedBad; hits <= Math.min(updated, bad); hits += 1) {
    if (bad - hits > others) continue;
    sum += Math.exp(lnChoose(updated, hits) + lnChoose(others, bad - hits) - all);
  }
  return Math.min(1, sum);
}

function lnChoose(from: number, chosen: number): number {
  return lnFactorial(from) - lnFactorial(chosen) - lnFactorial(from - chosen);
}

/** Below it factorials are summed; above, Stirling's series is exact to the last digits. */
const SUMMED_BELOW = 32;

function lnFactorial(value: number): number {
  if (value < SUMMED_BELOW) {
    let sum = 0;
    for (let factor = 2; factor <= value; factor += 1) sum += Math.log(factor);
    return sum;
  }
  const next = value + 1;
  const series = 1 / (12 * next) - 1 / (360 * next ** 3) + 1 / (1260 * next ** 5);
  return (next - 0.5) * Math.log(next) - next + 0.5 * Math.log(2 * Math.PI) + series;
}
