/**
 * Why a staged rollout, or its way back, is halted: one table of causes, in the order in which a
 * person wants them told. Evidence on pods and nodes is judged in core/health, each pod once a run.
 * A breach that an operator overruled does not come again for the same nodes.
 */
import { counted } from '@rollcall/base/counted.ts';
import { findLostAgain, lossMoments } from './canary-losses.ts';
import { describeLosses } from '../rollout/gate-words.ts';
import { eValueOf } from '../health/trial.ts';
import {
  BREACH_NODES_MAX,
  findBreach,
  findExcusedHold,
  findNodesFailed,
  namesOf,
  nodesToHalt,
  slowMessage,
} from '../health/breach.ts';
import { GRACE_MS, judgeOnNode, BASELINES_MAX } from '../health/pod-signs.ts';
import { judgeAnswers } from '../health/answer-times.ts';
import type { BreachInput, ExcusedHold, JudgedPods } from '../health/breach.ts';
import type { JudgedPod, PodJudging } from '../health/pod-signs.ts';
import { isSoakHopeless } from '../rollout/soak.ts';
import { compareDemand } from '../daemon-set/template-demand.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';
import type { Breach, BreachCause, RolloutRecord } from '../model/rollout-record.ts';
import { excusedNodesMax } from './excused.ts';
import { neverRanOn } from './former.ts';
import { momentOf } from './replace-canaries.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import {
  awaitedSinceMs,
  bootOf,
  evidenceNodes,
  isWatchedReturn,
  momentsIn,
  trialNodes,
} from './observe.ts';
import { nameOf, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';
import { budgetOf } from './steps.ts';

/** A node whose old pod is gone gets its new one within moments: the built-in controller makes it in the next sync. */
const RECREATED_WITHIN_MS = 30_000;
/** Pods whose Events are asked: an API server goes through all Events of a namespace for each. */
const ASKED_PODS_MAX = 3;

/** The pods of both revisions in one run, each judged once, at the first read. */
export interface Look {
  readonly record: RolloutRecord;
  readonly input: StagesInput;
  readonly pods: () => JudgedPods;
}

/** A look at this record; what its pods are judged by does not change in a run. */
export function lookAt(record: RolloutRecord, input: StagesInput): Look {
  let pods: JudgedPods | undefined;
  return { record, input, pods: () => (pods ??= judgePods(record, input)) };
}

interface Cause {
  readonly find: (look: Look) => Breach | undefined;
  /** What of it stops a way back; absent: nothing. */
  readonly findOnReturn?: (look: Look, budgetNodes: number) => Breach | undefined;
  /** When time alone makes one: nothing else would have a run look then. */
  readonly moments?: (look: Look) => readonly number[];
}

/** The surest first. */
const CAUSES: readonly Cause[] = [
  { find: findRefused, findOnReturn: findRefused },
  { find: findPodBreach, findOnReturn: findPodsOnReturn, moments: lateMoments },
  { find: findNodes },
  { find: findCanariesLost, moments: lossesOf },
  { find: findNotRecreated, findOnReturn: findNotRecreated, moments: recreationMoments },
  { find: findUnexplained },
  { find: findApiServerSlow },
  { find: findLate },
];

/** The first breach in that order; undefined: none. */
export function findStagesBreach(look: Look): Breach | undefined {
  return firstOf(({ find }) => find(look));
}

/**
 * Failures that stop the way back: pods that cannot be created or, on as many nodes as the budget has,
 * cannot start; and where the release never ran, whatever a canary would halt for. What stood when
 * an operator overruled that counts no more.
 */
export function findReturnBreach({ record, input, pods }: Look): Breach | undefined {
  const { resumed } = record.orders;
  const known = new Set(resumed?.breach.nodes);
  const sinceMs = resumed?.atMs ?? 0;
  const nodes = input.nodes.filter((each) => (each.updated?.createdAtMs ?? Infinity) >= sinceMs);
  const refusals = input.refusals.filter(({ node }) => !known.has(node));
  const names = new Set(nodes.map(nameOf));
  const isLater = ({ node }: JudgedPod): boolean => names.has(node);
  const later: Look = {
    record,
    input: { ...input, nodes, refusals, keptNodes: [] },
    pods: () => ({ updated: pods().updated.filter(isLater), peers: pods().peers.filter(isLater) }),
  };
  const budgetNodes = budgetOf(record, input);
  const found = firstOf(({ findOnReturn }) => findOnReturn?.(later, budgetNodes));
  if (found === undefined) return undefined;
  const message = `${found.cause}, on the way back: ${found.message}`;
  return { ...found, cause: 'ReturnFailed', message };
}

function firstOf(find: (cause: Cause) => Breach | undefined): Breach | undefined {
  for (const cause of CAUSES) {
    const found = find(cause);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** When time alone makes a breach of what is seen now. */
export function judgingMoments(look: Look): readonly number[] {
  const { nowMs } = look.input;
  return CAUSES.flatMap(({ moments }) => moments?.(look) ?? []).filter((moment) => moment > nowMs);
}

/** A create that was refused by admission, quota or RBAC, on a node that this rollout emptied. */
function findRefused({ record, input: { refusals, nodes, nowMs } }: Look): Breach | undefined {
  const emptied = new Set(nodes.filter(isEmptied(record)).map(nameOf));
  const found = refusals.filter(({ node, victim }) => victim === undefined && emptied.has(node));
  const [first] = found.filter(({ node }) => !isOverruled(record, 'CreateRefused', node));
  if (first === undefined) return undefined;
  const message = `the new pod is refused (${first.code}) where the old one is gone`;
  return breach('CreateRefused', nowMs, { message, nodes: found });
}

/** Nodes that lost their pod since the rollout began. */
function isEmptied({ startedAtMs }: RolloutRecord): (node: StageNode) => boolean {
  return ({ emptySinceMs, isExcluded, hasNoPlace }) =>
    !isExcluded && !hasNoPlace && emptySinceMs !== undefined && emptySinceMs >= startedAtMs;
}

/**
 * Since when exits count of a pod that has no baseline. A pod of the revision without one had not exited when the rollout began, as long as
 * there was room for all: then every exit is of the rollout, whatever the kubelet's clock says.
 */
function sinceOf(
  { hash, baselines = [], startedAtMs }: RolloutRecord,
  pod: PodProjection,
): { readonly sinceMs?: number } {
  const isWhole = baselines.length < BASELINES_MAX && revisionHashOfPod(pod) === hash;
  return isWhole ? {} : { sinceMs: startedAtMs };
}

function judgePods(record: RolloutRecord, input: StagesInput): JudgedPods {
  const { nowMs, minReadyMs } = input;
  const baselines = new Map(record.baselines?.map((baseline) => [baseline.uid, baseline]));
  const watched = new Map(record.turns?.map((entry) => [entry.uid, entry]));
  // A pod without a node halts though it asks for no more: beside an old pod (surge) there may be no room for two, and nothing else says so.
  const hasGrown = compareDemand(record.formerDemand, record.demand) === 'grew';
  const judge = (node: NodeProjection, pod: PodProjection | undefined): readonly JudgedPod[] => {
    if (pod === undefined) return [];
    const by: Omit<PodJudging, 'isNodeReady'> = {
      nowMs,
      graceMs: GRACE_MS + minReadyMs,
      demand: hasGrown ? 'grew' : 'unknown',
      ...defined({ boot: bootOf(watched.get(pod.uid), node) }),
      ...defined({ seenSinceMs: awaitedSinceMs(record.awaited, pod.uid, nowMs) }),
      ...sinceOf(record, pod),
      ...defined({ baseline: baselines.get(pod.uid) }),
    };
    return [judgeOnNode(pod, node, by)];
  };
  // A node that found no place says nothing, of either revision.
  const nodes = evidenceNodes(input).filter(({ hasNoPlace }) => !hasNoPlace);
  return {
    updated: nodes.flatMap(({ node, updated }) => judge(node, updated)),
    peers: nodes.flatMap(({ node, old }) => judge(node, old)),
  };
}

/** When a pod that comes up, or whose pull failed once, is too late. */
function lateMoments({ record, pods }: Look): readonly number[] {
  const { kind } = record.step;
  const isStaged = !record.isReturn && (kind === 'canary' || kind === 'group');
  if (record.breach !== undefined || !(isStaged || isWatchedReturn(record))) return [];
  return pods()
    .updated.flatMap(({ evidence }) => (evidence.kind === 'starting' ? [evidence.failsAtMs] : []))
    .sort((left, right) => left - right)
    .slice(0, 1);
}

/** A few pods of a breach that was just found, which never started and do not say why; none once their Events were asked. */
export function findSilentPods(
  before: RolloutRecord,
  { record: { breach: found }, input, pods }: Look,
): readonly PodProjection[] {
  if (found === undefined || before.breach !== undefined || input.causes !== undefined) return [];
  if (found.cause !== 'StartFailure') return [];
  const named = new Set(found.nodes);
  const silent = pods().updated.filter(
    ({ node, evidence }) =>
      named.has(node) && evidence.kind === 'failed' && evidence.sign === 'NeverStarted',
  );
  const names = new Set(silent.slice(0, ASKED_PODS_MAX).map(({ node }) => node));
  return evidenceNodes(input).flatMap((each) =>
    each.updated !== undefined && names.has(nameOf(each)) ? [each.updated] : [],
  );
}

function findPodBreach(look: Look): Breach | undefined {
  return findBreach(breachInput(look));
}

function findPodsOnReturn(look: Look, budgetNodes: number): Breach | undefined {
  const { record, input } = look;
  const seen = { ...breachInput(look), step: 'canary' } as const;
  const of = (isCounted: (pod: JudgedPod) => boolean): Breach | undefined =>
    findBreach({ ...seen, updated: seen.updated.filter(isCounted) });
  const fresh = neverRanOn(record, input.nodes);
  const updatedNodes = input.nodes.filter(({ updated }) => updated !== undefined).length;
  const needed = Math.min(nodesToHalt('done', updatedNodes), budgetNodes, BREACH_NODES_MAX);
  const starts = of(({ evidence }) => evidence.kind === 'failed' && evidence.class === 'start');
  const isStopped = starts !== undefined && starts.nodes.length >= needed;
  return of(({ node }) => fresh.has(node)) ?? (isStopped ? starts : undefined);
}

function findNodes({ record, input }: Look): Breach | undefined {
  const nodes = trialNodes(evidenceNodes(input), momentsIn(record, input));
  return findNodesFailed(record.trial, nodes, input.nowMs);
}

/** Failures that pods of both revisions share hold the open step; undefined: none do. */
export function findShared(look: Look): ExcusedHold | undefined {
  const { kind } = look.record.step;
  if (look.record.isReturn || kind === 'waiting' || kind === 'done') return undefined;
  return findExcusedHold(breachInput(look));
}

function breachInput({ record, input: { nowMs, policy }, pods }: Look): BreachInput {
  const overruled = record.orders.resumed;
  return {
    nowMs,
    step: record.step.kind,
    soakMs: policy.soakMs,
    ...pods(),
    turns: record.turns ?? [],
    ...defined({ overruled: overruled && { ...overruled.breach, atMs: overruled.atMs } }),
  };
}

/** A canary node was lost, and so was the one that went in its place, each without its peers. */
function findCanariesLost({ record, input }: Look): Breach | undefined {
  const { losses = [], step } = record;
  if (step.kind !== 'canary') return undefined;
  const again = findLostAgain(losses, momentOf(record, input));
  const found = losses.filter(
    ({ node, added }) =>
      again.some((loss) => loss.node === node || loss.node === added) &&
      !isOverruled(record, 'NodesFailed', node),
  );
  if (again.length === 0 || found.length === 0) return undefined;
  const eValue = Math.round(eValueOf(record.trial));
  const message = `canary nodes went NotReady after their update, and so did what went in their place (E = ${String(eValue)})`;
  return breach('NodesFailed', input.nowMs, { message, nodes: found });
}

function lossesOf({ record }: Look): readonly number[] {
  return lossMoments(record.losses);
}

/**
 * The old pod left, and no new one came, without a reason: one in a canary step, two later. Where Rollcall makes the
 * pods it knows why (`findRefused`), and its own slowness is no breach.
 */
function findNotRecreated({ record, input }: Look): Breach | undefined {
  const { nodes, nowMs, isStageTrue } = input;
  if (isStageTrue) return undefined;
  const found = nodes
    .filter(isEmptied(record))
    .filter(
      ({ node, emptySinceMs = nowMs }) =>
        node.isReady && nowMs - emptySinceMs >= RECREATED_WITHIN_MS,
    )
    .map((node) => ({ node: nameOf(node) }))
    .filter(({ node }) => !isOverruled(record, 'NotRecreated', node));
  const needed = record.step.kind === 'canary' ? 1 : 2;
  if (found.length < needed) return undefined;
  const seconds = String(RECREATED_WITHIN_MS / 1000);
  const message = `${found.length} node(s) have had no pod for ${seconds} s after the old one left; see the DaemonSet's Events for FailedCreate`;
  return breach('NotRecreated', nowMs, { message, nodes: found });
}

/** When nodes that were emptied have waited for so long. */
function recreationMoments({ record, input }: Look): readonly number[] {
  if (input.isStageTrue || record.breach !== undefined) return [];
  return input.nodes
    .filter(isEmptied(record))
    .map(({ emptySinceMs = input.nowMs }) => emptySinceMs + RECREATED_WITHIN_MS);
}

/** More nodes are bad than go bad by themselves, and no control says that it is not the release. */
function findUnexplained({ record, input }: Look): Breach | undefined {
  const { nodes, nowMs, policy } = input;
  if (policy.budget !== 'attributed') return undefined;
  const most = excusedNodesMax({ then: record.baseNodes, now: nodes.length });
  const outside = new Set(record.trial.outside);
  const bad = nodes.filter(
    (each) => !each.node.isReady && each.updated !== undefined && !outside.has(nameOf(each)),
  );
  if (bad.length <= most) return undefined;
  const found = bad.map((node) => ({ node: nameOf(node) }));
  if (found.every(({ node }) => isOverruled(record, 'Unexplained', node))) return undefined;
  const message = `${counted(bad.length, 'updated node is', 'updated nodes are')} not Ready, more than the ${most} that may go bad by themselves`;
  return breach('Unexplained', nowMs, { message, nodes: found });
}

/** Our own requests take far longer than before the first step; after that was overruled, than before the order. */
function findApiServerSlow({ record, input: { nowMs } }: Look): Breach | undefined {
  const slow = judgeAnswers(record, nowMs);
  if (slow === undefined) return undefined;
  return breach('ApiServerSlow', nowMs, { message: slowMessage(slow), nodes: [] });
}

/** Nothing was updated, and no step passed, for too long. */
function findLate({ record, input }: Look): Breach | undefined {
  const { policy, nowMs, nodes } = input;
  const { progressDeadlineMs } = policy;
  const { step } = record;
  // A soak, an approval, a pause or a closed window is no lack of progress; soaks that do not end are.
  const isHopeless = isSoakHopeless(step, { nowMs, soakMs: policy.soakMs });
  const isSoaking = step.wellSinceMs !== undefined && !isHopeless;
  const isHeld = isSoaking || step.isHeld === true || policy.isPaused;
  if (progressDeadlineMs === undefined || isHeld || step.kind === 'waiting') return undefined;
  if (nowMs - step.progressedAtMs < progressDeadlineMs) return undefined;
  const unwell = nodes.filter(({ isMoving }) => isMoving).map((node) => ({ node: nameOf(node) }));
  const minutes = Math.round(progressDeadlineMs / 60_000);
  const losses = describeLosses(record.losses ?? []);
  const lost = losses === '' ? '' : `; of the canary ${losses}`;
  const soaks = isHopeless ? `; the soak was begun anew ${String(step.soaksLost)} times` : '';
  const message = `nothing got further for ${minutes} min; ${unwell.length} node(s) wait for their new pod to be available${soaks}${lost}`;
  return breach('ProgressDeadlineExceeded', nowMs, { message, nodes: unwell });
}

function isOverruled({ orders }: RolloutRecord, cause: BreachCause, node: string): boolean {
  const overruled = orders.resumed?.breach;
  return overruled?.cause === cause && overruled.nodes.some((each) => each === node);
}

function breach(
  cause: BreachCause,
  atMs: number,
  {
    message,
    nodes,
  }: { readonly message: string; readonly nodes: readonly { readonly node: NodeName }[] },
): Breach {
  const names = nodes.map(({ node }) => node);
  const text = names.length === 0 ? message : `${message}: ${namesOf(names)}`;
  return { cause, atMs, message: text, nodes: names.slice(0, BREACH_NODES_MAX) };
}
