/**
 * Whether pods and the trial of nodes halt a rollout, which failures are excused, and what a breach
 * says to people. Direct evidence needs no statistics: in the canary step the first failed pod
 * halts; later two nodes, or 2 %, with the same sign. Failures of nodes go to the trial. What pods
 * of the old revision show as often is excused: it halts nothing, and holds its step.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { Breach, BreachCause, PodTurns, StepKind, Trial } from '../model/rollout-record.ts';
import type { SlowAnswers } from './answer-times.ts';
import { TURNS_HALT, quietMsOf, turnsOf } from './flapping.ts';
import type { FailedPod, FailureSign, JudgedPod } from './pod-signs.ts';
import { NODES_HALT_AT, describeE, eValueOf, fisherOneSided, isAgainst } from './trial.ts';
import type { TrialNode } from './trial.ts';

/** A breach that an operator looked at and overruled: the same on its nodes, and all before it, counts no more. */
export interface Overruled {
  readonly atMs: number;
  readonly cause: BreachCause;
  readonly nodes: readonly NodeName[];
}

/** Pods that were judged, one a node: of the new revision, strays among them, and of the old one, which share what is not the release's. */
export interface JudgedPods {
  readonly updated: readonly JudgedPod[];
  readonly peers: readonly JudgedPod[];
}

/** The facts about one rollout. */
export interface BreachInput extends JudgedPods {
  readonly nowMs: number;
  readonly step: StepKind;
  readonly soakMs: number;
  /** The record's notes on flapping (`advanceTurns`). */
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
  const message = failureMessage(first.failure, { nodes, updatedNodes: input.updated.length });
  return {
    cause: causeOf(first.failure),
    atMs: input.nowMs,
    message,
    nodes: nodes.slice(0, BREACH_NODES_MAX),
  };
}

/** The gate that excused failures hold; undefined: none. */
export function findExcusedHold(input: BreachInput): ExcusedHold | undefined {
  const { step, updated, nowMs } = input;
  const { excused } = failuresOf(input);
  return holdOf(excused, { needed: nodesToHalt(step, updated.length), nowMs });
}

/** Failures of the release that no operator overruled, by name of their nodes. */
function failuresOf({ updated, peers, overruled }: BreachInput): ReturnType<typeof excuseFailures> {
  const failed = updated.flatMap(({ node, stratum, evidence }): readonly NodeFailed[] => {
    if (evidence.kind !== 'failed' || evidence.class === 'node') return [];
    const { atMs } = evidence;
    const seen = { node, cause: causeOf(evidence), atMs };
    return isOverruled(seen, overruled) ? [] : [{ node, stratum, failure: evidence }];
  });
  const byName = failed.sort((left, right) => compareText(left.node, right.node));
  return excuseFailures(byName, { updated, peers });
}

function isOverruled(
  {
    node,
    cause,
    atMs,
  }: { readonly node: NodeName; readonly cause: BreachCause; readonly atMs: number },
  overruled: Overruled | undefined,
): boolean {
  if (overruled === undefined) return false;
  return atMs <= overruled.atMs || (cause === overruled.cause && overruled.nodes.includes(node));
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
    .filter(
      ({ node, turnedAtMs: atMs }) =>
        !excused.has(node) && !isOverruled({ node, cause: 'Flapping', atMs }, overruled),
    )
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

/** Failures of peers count this long before or after. */
export const EXCUSED_WITHIN_MS = 3_600_000;
/** Chance would put so many failures on the new side less often than this: they are the release's. */
const CHANCE_MIN = 0.05;

/** A pod of the new revision that failed for the release's reasons. */
interface NodeFailed {
  readonly node: NodeName;
  readonly stratum: string;
  readonly failure: FailedPod;
}

/** Failures that peers do not explain, and those that they do: by rate, within a stratum. One of 800 old pods says nothing about three new ones. */
function excuseFailures(
  failed: readonly NodeFailed[],
  pods: JudgedPods,
): { readonly counted: readonly NodeFailed[]; readonly excused: readonly NodeFailed[] } {
  const alike = Map.groupBy(failed, ({ stratum, failure }) => `${stratum} ${failure.sign}`);
  const isExcused = new Set([...alike.values()].filter((group) => isShared(group, pods)).flat());
  return {
    counted: failed.filter((one) => !isExcused.has(one)),
    excused: failed.filter((one) => isExcused.has(one)),
  };
}

/** Of one stratum, with one sign. Compared with old pods that had the same chance to fail: that were started within the hour, or ran. */
function isShared(group: readonly NodeFailed[], pods: JudgedPods): boolean {
  const [first] = group;
  if (first === undefined) return false;
  const { sign, class: failureClass } = first.failure;
  const times = group.map(({ failure }) => failure.atMs);
  const isWithin = isWithinOf(times);
  const peers = pods.peers.filter(({ stratum }) => stratum === first.stratum);
  const shows = ({ evidence }: JudgedPod): boolean =>
    evidence.kind === 'failed' && evidence.sign === sign && isWithin(evidence.atMs);
  const isStart = failureClass === 'start';
  const tried = peers.filter(
    (pod) => shows(pod) || (isStart ? isWithin(pod.createdAtMs) : hasRun(pod)),
  );
  const updated = pods.updated.filter(
    (pod) => pod.stratum === first.stratum && (isStart || hasRun(pod)),
  );
  return isByChance({
    newFailed: group.length,
    newAll: updated.length,
    oldFailed: tried.filter(shows).length,
    oldAll: tried.length,
  });
}

function isWithinOf(times: readonly number[]): (atMs: number) => boolean {
  const fromMs = times.reduce((least, atMs) => Math.min(least, atMs), Infinity) - EXCUSED_WITHIN_MS;
  const toMs = times.reduce((most, atMs) => Math.max(most, atMs), -Infinity) + EXCUSED_WITHIN_MS;
  return (atMs) => atMs >= fromMs && atMs <= toMs;
}

function hasRun({ evidence }: JudgedPod): boolean {
  if (evidence.kind === 'failed') return evidence.class === 'run';
  return evidence.kind !== 'starting';
}

/** True if old ones fail as well, and new ones not so much more often that chance does not do it. */
function isByChance(of: {
  readonly newFailed: number;
  readonly newAll: number;
  readonly oldFailed: number;
  readonly oldAll: number;
}): boolean {
  if (of.oldFailed === 0) return false;
  const p = fisherOneSided({
    updatedBad: of.newFailed,
    updatedGood: Math.max(0, of.newAll - of.newFailed),
    othersBad: of.oldFailed,
    othersGood: of.oldAll - of.oldFailed,
  });
  return p > CHANCE_MIN;
}

/** Of nodes whose pods flap those that flap no more often than old pods of their stratum. */
function excuseTurned(
  turned: readonly { readonly node: NodeName; readonly turnedAtMs: number }[],
  { updated, peers }: JudgedPods,
): ReadonlySet<NodeName> {
  const strata = new Map(updated.map(({ node, stratum }) => [node, stratum]));
  const groups = Map.groupBy(turned, ({ node }) => strata.get(node) ?? '');
  const excused = [...groups].filter(([stratum, group]) => {
    const isWithin = isWithinOf(group.map(({ turnedAtMs }) => turnedAtMs));
    const old = peers.filter((pod) => pod.stratum === stratum && hasRun(pod));
    return isByChance({
      newFailed: group.length,
      newAll: updated.filter((pod) => pod.stratum === stratum && hasRun(pod)).length,
      oldFailed: old.filter(({ turnedAtMs = -Infinity }) => isWithin(turnedAtMs)).length,
      oldAll: old.length,
    });
  });
  return new Set(excused.flatMap(([, group]) => group.map(({ node }) => node)));
}

/** Excused failures, which would halt if no peer shared them: no step opens before an hour without any. */
export interface ExcusedHold {
  readonly nodes: number;
  readonly untilMs: number;
}

/** The hold of excused failures that are so many, with one sign, as would halt; undefined: none of the last hour. */
function holdOf(
  excused: readonly NodeFailed[],
  { needed, nowMs }: { readonly needed: number; readonly nowMs: number },
): ExcusedHold | undefined {
  const groups = Map.groupBy(excused, ({ failure }) => failure.sign).values();
  const holding = [...groups].filter((group) => group.length >= needed).flat();
  const lastMs = holding.reduce((last, { failure }) => Math.max(last, failure.atMs), -Infinity);
  const untilMs = lastMs + EXCUSED_WITHIN_MS;
  return untilMs > nowMs ? { nodes: holding.length, untilMs } : undefined;
}

const NAMES_MAX = 3;
const PLAIN_WORD = /^[A-Za-z][A-Za-z0-9]{0,62}( -?[0-9]{1,10})?$/;
const PLAIN_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** `node-1, node-2, node-3 and 4 more`. */
export function namesOf(nodes: readonly string[]): string {
  const shown = nodes.slice(0, NAMES_MAX).join(', ');
  return nodes.length > NAMES_MAX ? `${shown} and ${String(nodes.length - NAMES_MAX)} more` : shown;
}

const SAYS: Readonly<Record<FailureSign, string>> = {
  ImagePull: 'cannot get the image of',
  ContainerConfig: 'cannot make the configuration of',
  RuntimeRefused: 'cannot start',
  InitFailed: 'cannot get past',
  NeverStarted: 'did not start in time',
  Unschedulable: 'have no room for the pod',
  PodRefused: 'refuse the pod',
  Crash: 'restarted again and again',
  OOMKilled: 'ran out of memory in',
  NotReady: 'run the pod, which stays not ready',
  NodeLost: 'are not Ready',
  NodeRefused: 'refuse the pod',
  Evicted: 'evicted the pod',
  Rebooted: 'restarted',
};

/** `2 of 16 updated nodes cannot get the image of container agent (ImagePullBackOff): n1, n2`. */
export function failureMessage(
  { sign, word, container }: Pick<FailedPod, 'sign' | 'word' | 'container'>,
  { nodes, updatedNodes }: { readonly nodes: readonly NodeName[]; readonly updatedNodes: number },
): string {
  const isNamed = container !== undefined && PLAIN_NAME.test(container);
  const of = isNamed ? ` container ${container}` : ' a container';
  const takesContainer = CONTAINER_SIGNS.has(sign);
  const said = PLAIN_WORD.test(word) ? word : sign;
  const share = `${String(nodes.length)} of ${String(updatedNodes)} updated nodes`;
  return `${share} ${SAYS[sign]}${takesContainer ? of : ''} (${said}): ${namesOf(nodes)}`;
}

const CONTAINER_SIGNS: ReadonlySet<FailureSign> = new Set<FailureSign>([
  'ImagePull',
  'ContainerConfig',
  'RuntimeRefused',
  'InitFailed',
  'OOMKilled',
]);

/** `pods turned not ready 7 times on 2 of 3 updated nodes, so a soak of 600 s cannot pass: n1, n2`. */
function flappingMessage(facts: {
  readonly turns: number;
  readonly nodes: readonly NodeName[];
  readonly updatedNodes: number;
  readonly soakMs: number;
}): string {
  const { turns, nodes, updatedNodes, soakMs } = facts;
  const where = `${String(nodes.length)} of ${String(updatedNodes)} updated nodes`;
  const soak = `a soak of ${String(Math.round(soakMs / 1000))} s cannot pass`;
  return `pods turned not ready ${String(turns)} times on ${where}, so ${soak}: ${namesOf(nodes)}`;
}

/** Those of one side that failed first there, as far as they are known, of all that are on it now. */
interface TrialSide {
  readonly failed: readonly { readonly node: NodeName }[];
  readonly nodes: number;
}

/** `3 of 16 updated nodes went bad, 0 of 148 others; E = 433, halts at 25: n1, n2, n3`. */
export function trialMessage(facts: {
  readonly eValue: number;
  readonly updated: TrialSide;
  readonly others: TrialSide;
}): string {
  const countOf = ({ failed, nodes }: TrialSide): string =>
    `${String(failed.length)} of ${String(Math.max(nodes, failed.length))}`;
  const names = facts.updated.failed.map(({ node }) => node).sort(compareText);
  const counts = `${countOf(facts.updated)} updated nodes went bad, ${countOf(facts.others)} others`;
  return `${counts}; E = ${describeE(facts.eValue)}, halts at ${String(NODES_HALT_AT)}: ${namesOf(names)}`;
}

/** `get pods takes 2400 ms, and took 12 ms before the rollout (in 8 and 12 quarters of a minute)`. */
export function slowMessage(slow: SlowAnswers): string {
  const { kind, beforeMs, sinceMs, beforeCount, sinceCount } = slow;
  const quarters = `in ${String(sinceCount)} and ${String(beforeCount)} quarters of a minute`;
  return `the API server became slow: ${kind} takes ${String(sinceMs)} ms, and took ${String(beforeMs)} ms before (${quarters})`;
}
