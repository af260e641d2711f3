/**
 * Whether what is seen halts a rollout: direct evidence of its pods, and the trial of its nodes (issue 17, facts 4).
 *
 * Direct evidence needs no statistics. In the canary step the first start failure, second restart, first OOM or flapping pod
 * halts; later it takes two nodes, or 2 % of the updated ones, with the same sign. Only failures of the release's classes
 * count here; those of nodes go to the trial. What pods of the old revision in its stratum show as often is excused (excuse.ts): it halts
 * nothing, and holds its step.
 * Restarts and exits count from a baseline, so a caller that forgets it halts too early, never too late.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { Breach, BreachCause, PodTurns, StepKind, Trial } from '../model/rollout-record.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { failureMessage, flappingMessage, trialMessage } from './breach-message.ts';
import type { TrialSide } from './breach-message.ts';
import { excuseFailures, excuseTurned, holdOf } from './excuse.ts';
import type { ExcusedHold, NodeFailed } from './excuse.ts';
import { TURNS_HALT, quietMsOf, turnsOf } from './flapping.ts';
import type { FailureSign } from './failure-words.ts';
import type { FailedPod, JudgedPod } from './pod-evidence.ts';
import { eValueOf, isAgainst } from './trial.ts';
import type { TrialNode } from './trial.ts';

/** A breach that an operator looked at and overruled: the same on its nodes, and all before it, counts no more. */
export interface Overruled {
  readonly atMs: number;
  readonly cause: BreachCause;
  readonly nodes: readonly NodeName[];
}

/** What is seen of one rollout. */
export interface BreachInput {
  readonly nowMs: number;
  readonly step: StepKind;
  readonly soakMs: number;
  /** Pods of the new revision, strays among them: one a node. */
  readonly updated: readonly JudgedPod[];
  /** Pods of the old revision: what shows there, too, is not the release. */
  readonly peers: readonly JudgedPod[];
  /** What the record keeps of flapping (`advanceTurns`). */
  readonly turns: readonly PodTurns[];
  readonly overruled?: Overruled;
}

/** Nodes that a breach names. */
export const BREACH_NODES_MAX = 16;
/** Later than in the canary step: so many nodes, or so many percent of the updated ones. */
const LATER_NODES_MIN = 2;
const LATER_PERCENT = 2;
/** So many turns of all pods together, if they come faster than a soak needs quiet. */
const TURNS_TOGETHER_HALT = 10;

const CAUSES: Readonly<Partial<Record<FailureSign, BreachCause>>> = {
  Crash: 'Restarts',
  OOMKilled: 'OOMKilled',
  NotReady: 'NotReady',
};

/** The cause that a failure of the release halts for. */
function causeOf({ class: failureClass, sign }: FailedPod): BreachCause {
  return failureClass === 'start' ? 'StartFailure' : (CAUSES[sign] ?? 'Restarts');
}

/** How many nodes with the same sign halt. */
export function nodesToHalt(step: StepKind, updatedNodes: number): number {
  if (step === 'canary') return 1;
  return Math.max(LATER_NODES_MIN, Math.ceil((LATER_PERCENT * updatedNodes) / 100));
}

/** The breach that pods show; of several the one on most nodes. Undefined: none. */
export function findBreach(input: BreachInput): Breach | undefined {
  const failed = failuresOf(input).counted;
  const needed = nodesToHalt(input.step, input.updated.length);
  const groups = [...Map.groupBy(failed, ({ failure }) => failure.sign).values()]
    .filter((group) => group.length >= needed)
    .sort((left, right) => right.length - left.length || compareGroups(left, right));
  const [group] = groups;
  const [first] = group ?? [];
  if (group === undefined || first === undefined) return findFlapping(input, needed);
  const nodes = group.map(({ node }) => node);
  const { sign, word, container } = first.failure;
  return {
    cause: causeOf(first.failure),
    atMs: input.nowMs,
    message: failureMessage({
      sign,
      nodes,
      word,
      updatedNodes: input.updated.length,
      ...(container === undefined ? {} : { container }),
    }),
    nodes: nodes.slice(0, BREACH_NODES_MAX),
  };
}

/** What excused failures hold; undefined: nothing. */
export function findExcusedHold(input: BreachInput): ExcusedHold | undefined {
  const { step, updated, nowMs } = input;
  const { excused } = failuresOf(input);
  return holdOf(excused, { needed: nodesToHalt(step, updated.length), nowMs });
}

/** Failures of the release that nobody overruled, by name of their nodes. */
function failuresOf({
  updated,
  peers,
  overruled,
  nowMs,
}: BreachInput): ReturnType<typeof excuseFailures> {
  const failed = updated.flatMap(({ node, stratum, evidence }): readonly NodeFailed[] => {
    if (evidence.kind !== 'failed' || evidence.class === 'node') return [];
    const seen = { node, cause: causeOf(evidence), evidence, nowMs };
    return isOverruled(seen, overruled) ? [] : [{ node, stratum, failure: evidence }];
  });
  const byName = failed.sort((left, right) => compareText(left.node, right.node));
  return excuseFailures(byName, { updated, peers });
}

function isOverruled(
  seen: {
    readonly node: NodeName;
    readonly cause: BreachCause;
    readonly evidence: FailedPod;
    readonly nowMs: number;
  },
  overruled: Overruled | undefined,
): boolean {
  if (overruled === undefined) return false;
  if (seen.evidence.atMs <= overruled.atMs) return true;
  return seen.cause === overruled.cause && overruled.nodes.includes(seen.node);
}

/** The same number of nodes: by sign, so that every look names the same. */
function compareGroups(left: readonly NodeFailed[], right: readonly NodeFailed[]): number {
  return compareText(left[0]?.failure.sign ?? '', right[0]?.failure.sign ?? '');
}

/** Pods that flap, or so many turns of all together that no soak can pass. */
function findFlapping(input: BreachInput, needed: number): Breach | undefined {
  const { nowMs, soakMs, updated, overruled } = input;
  const turned = input.turns
    .map((entry) => ({
      node: entry.node,
      turns: turnsOf(entry, input),
      turnedAtMs: entry.turnedAtMs ?? 0,
    }))
    .filter(({ turns }) => turns > 0);
  const excused = excuseTurned(turned, input);
  const flapping = turned
    .filter(({ node, turnedAtMs }) => {
      if (excused.has(node)) return false;
      if (overruled === undefined) return true;
      return (
        turnedAtMs > overruled.atMs &&
        !(overruled.cause === 'Flapping' && overruled.nodes.includes(node))
      );
    })
    .sort((left, right) => compareText(left.node, right.node));
  const single = flapping.filter(({ turns }) => turns >= TURNS_HALT);
  const together = flapping.reduce((sum, { turns }) => sum + turns, 0);
  const isSoakLost = together >= turnsToHalt(soakMs) && input.step === 'canary';
  if (single.length < needed && !isSoakLost) return undefined;
  const shown = single.length < needed ? flapping : single;
  const nodes = shown.map(({ node }) => node);
  const turns = shown.reduce((sum, entry) => sum + entry.turns, 0);
  return {
    cause: 'Flapping',
    atMs: nowMs,
    message: flappingMessage({ turns, nodes, updatedNodes: updated.length, soakMs }),
    nodes: nodes.slice(0, BREACH_NODES_MAX),
  };
}

/** Turns of all pods together after which a soak will not pass: twice as many as there are soaks in the time they are counted. */
function turnsToHalt(soakMs: number): number {
  if (soakMs <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(TURNS_TOGETHER_HALT, Math.ceil((2 * quietMsOf(soakMs)) / soakMs));
}

/** The breach that the trial shows; undefined: none. A void trial shows none but what it had found. */
export function findNodesFailed(
  trial: Trial,
  nodes: readonly TrialNode[],
  nowMs: number,
): Breach | undefined {
  if (!isAgainst(trial)) return undefined;
  const outside = new Set(trial.outside);
  const sideOf = (isUpdated: boolean): TrialSide => ({
    failed: trial.failures.filter((failure) => failure.isUpdated === isUpdated),
    nodes: nodes.filter((node) => node.isUpdated === isUpdated && !outside.has(node.name)).length,
  });
  const updated = sideOf(true);
  const names = updated.failed.map(({ node }) => node).sort(compareText);
  return {
    cause: 'NodesFailed',
    atMs: nowMs,
    message: trialMessage({ eValue: eValueOf(trial), updated, others: sideOf(false) }),
    nodes: names.slice(0, BREACH_NODES_MAX),
  };
}
