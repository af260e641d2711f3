/**
 * A trial: do updated nodes go bad more often than nodes of the same stratum that are not updated (rollouts facts 4)?
 *
 * `bad` is the caller's word for NotReady, an eviction, a pod that fails for its node's reasons. Nodes that were bad at
 * the start, and nodes that joined later, are outside: they count on neither side, whatever becomes of them. A node
 * that goes from good to bad fails once, until it was good again; failures of one stratum that follow each other within a minute count
 * once, as one outage; which of them counts is chosen by name alone, never by side. It is told of complete views only, in any order
 * of nodes. A look at which nothing changed gives the same object back. Bounds are in its type; beyond them it is void.
 * It decides nothing: HALT_AT is asked by who opens steps.
 */
import { CLOCKS_DIFFER_MS } from '../model/evidence/clocks.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { NodeFailure, Trial } from '../model/rollout-record.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import { HALT_AT, NO_EVIDENCE, meanRatio, withDraw } from './e-value.ts';
import type { LogRatios } from './e-value.ts';
import { fisherOneSided } from './fisher.ts';
import type { FourCounts } from './fisher.ts';
import { advanceHistory, historyEValue, startHistory } from './own-history.ts';
import type { AtRisk } from './own-history.ts';

/** A node as a run sees it. */
export interface TrialNode {
  readonly name: NodeName;
  /** Zone and pool (`stratumOf`). */
  readonly stratum: string;
  /** Its old pod was deleted for this rollout, or it runs the new revision. */
  readonly isUpdated: boolean;
  readonly isBad: boolean;
  /** creationTimestamp; absent: not known, so it is taken to have been there. */
  readonly createdAtMs?: number;
}

/** Names that a trial keeps of nodes outside, and of nodes that are bad. */
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
  const atRisk = countStrata(nodes.filter(({ isBad }) => !isBad));
  return {
    startedAtMs: nowMs,
    outside: outside.sort(compareText).slice(0, TRIAL_NODES_MAX),
    bad: [],
    logRatios: NO_EVIDENCE,
    failures: [],
    isWithoutControls: false,
    isVoid: outside.length > TRIAL_NODES_MAX,
    history: startHistory(sidesOf(atRisk), nowMs),
  };
}

/** The trial after another look at the nodes of the cluster; the same one if there was nothing new. */
export function advanceTrial(trial: Trial, nodes: readonly TrialNode[], nowMs: number): Trial {
  if (trial.isVoid) return trial;
  const members = membersOf(trial, nodes);
  const bad = members.filter(({ isBad }) => isBad).map(({ name }) => name);
  if (bad.length > TRIAL_NODES_MAX) return { ...trial, isVoid: true };
  const known = new Set(trial.bad);
  const atRisk = countStrata(members.filter(({ name }) => !known.has(name)));
  const fallen = members.filter(({ name, isBad }) => isBad && !known.has(name));
  const failures = noteFailures(trial, fallen, nowMs);
  const counted = failures.filter(({ isCounted }) => isCounted);
  const isAlone = (failure: NodeFailure): boolean => {
    return failure.isUpdated && atRisk.get(failure.stratum)?.others === 0;
  };
  const alone = counted.filter(isAlone).length;
  const history = advanceHistory(trial.history, {
    atRisk: sidesOf(countStrata(members.filter(({ isBad }) => !isBad))),
    failed: { alone, waiting: counted.filter(({ isUpdated }) => !isUpdated).length },
    nowMs,
  });
  const isSame =
    failures.length === 0 && bad.length === known.size && bad.every((name) => known.has(name));
  if (isSame && history === trial.history) return trial;
  return {
    ...trial,
    bad: bad.sort(compareText),
    logRatios: counted.reduce(
      (ratios, failure) => addFailure(ratios, failure, atRisk),
      trial.logRatios,
    ),
    failures: keepFailures([...trial.failures, ...failures]),
    isWithoutControls: trial.isWithoutControls || alone > 0,
    history,
  };
}

/** The same trial, in which nothing failed so far: a person has looked at it, and overruled what it said. */
export function overruleTrial(trial: Trial, nowMs: number): Trial {
  const { waitingNodes, aloneNodes } = trial.history;
  const history = startHistory({ waitingNodes, aloneNodes }, nowMs);
  return { ...trial, logRatios: NO_EVIDENCE, isWithoutControls: false, history };
}

/** Nodes that were there and good when it started; the API server's clock says so, so the youngest are left out as well. */
function membersOf(trial: Trial, nodes: readonly TrialNode[]): readonly TrialNode[] {
  const outside = new Set(trial.outside);
  return nodes.filter(({ name, createdAtMs }) => {
    return !outside.has(name) && (createdAtMs ?? 0) <= trial.startedAtMs - CLOCKS_DIFFER_MS;
  });
}

/** Nodes at risk of one stratum. */
interface Sides {
  readonly updated: number;
  readonly others: number;
}

type Strata = ReadonlyMap<string, Sides>;

function countStrata(nodes: readonly TrialNode[]): Strata {
  const strata = new Map<string, { updated: number; others: number }>();
  for (const { stratum, isUpdated } of nodes) {
    let sides = strata.get(stratum);
    if (sides === undefined) strata.set(stratum, (sides = { updated: 0, others: 0 }));
    if (isUpdated) sides.updated += 1;
    else sides.others += 1;
  }
  return strata;
}

function sidesOf(strata: Strata): AtRisk {
  let waitingNodes = 0;
  let aloneNodes = 0;
  for (const { updated, others } of strata.values()) {
    waitingNodes += others;
    if (others === 0) aloneNodes += updated;
  }
  return { waitingNodes, aloneNodes };
}

/** Failures of this look, one of each stratum counted unless its outage goes on. */
function noteFailures(
  trial: Trial,
  fallen: readonly TrialNode[],
  nowMs: number,
): readonly NodeFailure[] {
  const inOutage = outagesAt(trial.failures, nowMs);
  // By a hash that knows no side: in the order of names, a rollout that goes by name would always be first.
  const inOrder = fallen
    .map((node) => ({ node, rank: hash48(`trial/${String(trial.startedAtMs)}/${node.name}`) }))
    .sort((left, right) => left.rank - right.rank || compareText(left.node.name, right.node.name));
  return inOrder.map(({ node: { name, stratum, isUpdated } }) => {
    const isCounted = !inOutage.has(stratum);
    inOutage.add(stratum);
    return { node: name, stratum, isUpdated, atMs: nowMs, isCounted };
  });
}

/** Strata whose last failure was within a minute, and the one that was counted not too long ago. */
function outagesAt(failures: readonly NodeFailure[], nowMs: number): Set<string> {
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

function addFailure(ratios: LogRatios, failure: NodeFailure, atRisk: Strata): LogRatios {
  const { updated, others } = atRisk.get(failure.stratum) ?? { updated: 0, others: 0 };
  const { isUpdated } = failure;
  return withDraw(ratios, { isUpdated, updatedAtRisk: updated, othersAtRisk: others });
}

/** E of a trial: 1 without evidence, HALT_AT halts. What a void trial had found stays. */
export function eValueOf({ logRatios }: Trial): number {
  return meanRatio(logRatios);
}

/** Whether nodes show that the release does it, and how strong a test says so. */
export type TrialVerdict =
  | { readonly kind: 'calm'; readonly eValue: number; readonly historyEValue: number }
  /** `controls`: E >= HALT_AT. `own-history`: only the weaker test, as no controls were left. */
  | {
      readonly kind: 'halt';
      readonly basis: 'controls' | 'own-history';
      readonly eValue: number;
      readonly historyEValue: number;
    }
  /** It could not remember so many bad nodes, and found nothing before. */
  | { readonly kind: 'void'; readonly eValue: number; readonly historyEValue: number };

/** What a trial says now. */
export function judgeTrial(trial: Trial, nowMs: number): TrialVerdict {
  const values = { eValue: eValueOf(trial), historyEValue: historyEValue(trial.history, nowMs) };
  if (values.eValue >= HALT_AT) return { kind: 'halt', basis: 'controls', ...values };
  if (trial.isVoid) return { kind: 'void', ...values };
  if (trial.isWithoutControls && values.historyEValue >= HALT_AT) {
    return { kind: 'halt', basis: 'own-history', ...values };
  }
  return { kind: 'calm', ...values };
}

/** Fisher's four counts for people, with the one-sided p. */
export interface ShownCounts extends FourCounts {
  readonly p: number;
}

/**
 * Nodes of the trial that failed, or are bad, against the others; a node counts on the side on which it failed. Of more than
 * FAILURES_MAX failures only the newest, and what is bad now, are known.
 */
export function fourCounts(trial: Trial, nodes: readonly TrialNode[]): ShownCounts {
  const failedOn = new Map(trial.failures.map(({ node, isUpdated }) => [node, isUpdated]));
  const known = new Set(trial.bad);
  const counts = { updatedBad: 0, updatedGood: 0, othersBad: 0, othersGood: 0 };
  for (const { name, isUpdated, isBad } of membersOf(trial, nodes)) {
    const failedSide = failedOn.get(name);
    const isFailed = failedSide !== undefined || isBad || known.has(name);
    if (failedSide ?? isUpdated) counts[isFailed ? 'updatedBad' : 'updatedGood'] += 1;
    else counts[isFailed ? 'othersBad' : 'othersGood'] += 1;
  }
  return { ...counts, p: fisherOneSided(counts) };
}
