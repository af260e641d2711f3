/**
 * Whether a staged rollout is to be halted: what its pods show, what its nodes show, and what was never made (issue 17).
 *
 * Evidence on pods and nodes is judged in core/health; here it is asked in the order in which a person would want the
 * cause named: the surest first. A pod that could not be created halts at the first, since its node stays empty. A breach
 * that an operator overruled does not come again for the same nodes.
 */
import { counted } from '@rollcall/base/counted.ts';
import { findLostAgain } from './canary-losses.ts';
import { describeLosses } from '../rollout/gate-words.ts';
import { eValueOf } from '../health/trial.ts';
import {
  BREACH_NODES_MAX,
  findBreach,
  findExcusedHold,
  findNodesFailed,
  namesOf,
  slowMessage,
} from '../health/breach.ts';
import { GRACE_MS, judgeOnNode, BASELINES_MAX } from '../health/pod-signs.ts';
import { judgeAnswers } from '../health/answer-times.ts';
import type { BreachInput, ExcusedHold } from '../health/breach.ts';
import type { JudgedPod } from '../health/pod-signs.ts';
import { isSoakHopeless } from '../rollout/soak.ts';
import { compareDemand } from '../daemon-set/template-demand.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';
import type { Breach, BreachCause, RolloutRecord } from '../model/rollout-record.ts';
import { excusedNodesMax } from './excused.ts';
import { momentOf } from './lost-canaries.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import {
  awaitedSinceMs,
  bootOf,
  evidenceNodes,
  isWatchedReturn,
  momentsIn,
  trialNodes,
} from './observe.ts';
import { nameOf } from './stage-node.ts';
import type { StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';

/** A node whose old pod is gone gets its new one within moments: the built-in controller makes it in the next sync. */
const RECREATED_WITHIN_MS = 30_000;
/** Pods whose Events are asked: an API server goes through all Events of a namespace for each. */
const ASKED_PODS_MAX = 3;

/** The breach that is to be told, if there is one. */
export function findStagesBreach(record: RolloutRecord, input: StagesInput): Breach | undefined {
  return (
    findRefused(record, input) ??
    findPodBreach(record, input) ??
    findNodesFailed(
      record.trial,
      trialNodes(evidenceNodes(input), momentsIn(record, input)),
      input.nowMs,
    ) ??
    findCanariesLost(record, input) ??
    findNotRecreated(record, input) ??
    findUnexplained(record, input) ??
    findApiServerSlow(record, input) ??
    findLate(record, input)
  );
}

/** A create that was refused by admission, quota or RBAC, on a node that this rollout emptied. */
export function findRefused(
  record: RolloutRecord,
  { refusals, nodes, nowMs }: StagesInput,
): Breach | undefined {
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

/** Nodes whose pods are evidence: one that found no place says nothing, of either revision. */
function judgedNodes(input: StagesInput): readonly StageNode[] {
  return evidenceNodes(input).filter(({ hasNoPlace }) => !hasNoPlace);
}

type Judge = (node: NodeProjection, pod: PodProjection) => JudgedPod;

function judgeBy(record: RolloutRecord, { nowMs, minReadyMs }: StagesInput): Judge {
  const baselines = new Map(record.baselines?.map((baseline) => [baseline.uid, baseline]));
  const watched = new Map(record.turns?.map((entry) => [entry.uid, entry]));
  // A pod without a node halts though it asks for no more: beside an old pod (surge) there may be no room for two, and nobody else says so.
  const hasGrown = compareDemand(record.formerDemand, record.demand) === 'grew';
  return (node, pod) => {
    const baseline = baselines.get(pod.uid);
    return judgeOnNode(pod, node, {
      nowMs,
      graceMs: GRACE_MS + minReadyMs,
      demand: hasGrown ? 'grew' : 'unknown',
      ...defined({ boot: bootOf(watched.get(pod.uid), node) }),
      ...defined({ seenSinceMs: awaitedSinceMs(record.awaited, pod.uid, nowMs) }),
      ...sinceOf(record, pod),
      ...(baseline === undefined ? {} : { baseline }),
    });
  };
}

function judgeUpdated(judge: Judge, nodes: readonly StageNode[]): readonly JudgedPod[] {
  return nodes.flatMap(({ node, updated }) =>
    updated === undefined ? [] : [judge(node, updated)],
  );
}

/** When a pod that comes up, or whose pull failed once, is too late: nothing else would have a run look then. */
export function judgingMoments(record: RolloutRecord, input: StagesInput): readonly number[] {
  const { kind } = record.step;
  const isStaged = !record.isReturn && (kind === 'canary' || kind === 'group');
  const isTried = isStaged || isWatchedReturn(record);
  if (record.breach !== undefined || !isTried) return [];
  return judgeUpdated(judgeBy(record, input), judgedNodes(input))
    .flatMap(({ evidence }) => (evidence.kind === 'starting' ? [evidence.failsAtMs] : []))
    .sort((left, right) => left - right)
    .slice(0, 1);
}

/** A few pods of a breach that was just found, which never started and do not say why; none once their Events were asked. */
export function findSilentPods(
  before: RolloutRecord,
  { breach: found }: RolloutRecord,
  input: StagesInput,
): readonly PodProjection[] {
  if (found === undefined || before.breach !== undefined || input.causes !== undefined) return [];
  if (found.cause !== 'StartFailure') return [];
  const judge = judgeBy(before, input);
  const named = new Set(found.nodes);
  return evidenceNodes(input)
    .flatMap(({ node, updated }) => {
      if (updated === undefined || !named.has(node.name)) return [];
      const { evidence } = judge(node, updated);
      return evidence.kind === 'failed' && evidence.sign === 'NeverStarted' ? [updated] : [];
    })
    .slice(0, ASKED_PODS_MAX);
}

/** What pods of the revision show; of those that count. */
export function findPodBreach(
  record: RolloutRecord,
  input: StagesInput,
  isCounted: (pod: JudgedPod) => boolean = () => true,
): Breach | undefined {
  const seen = breachInput(record, input);
  return findBreach({ ...seen, updated: seen.updated.filter(isCounted) });
}

/** What pods of both revisions share holds the open step; undefined: nothing does. */
export function findShared(record: RolloutRecord, input: StagesInput): ExcusedHold | undefined {
  const { kind } = record.step;
  if (record.isReturn || kind === 'waiting' || kind === 'done') return undefined;
  return findExcusedHold(breachInput(record, input));
}

function breachInput(record: RolloutRecord, input: StagesInput): BreachInput {
  const { nowMs, policy } = input;
  const nodes = judgedNodes(input);
  const overruled = record.orders.resumed;
  const judge = judgeBy(record, input);
  return {
    nowMs,
    step: record.step.kind,
    soakMs: policy.soakMs,
    updated: judgeUpdated(judge, nodes),
    peers: nodes.flatMap(({ node, old }) => (old === undefined ? [] : [judge(node, old)])),
    turns: record.turns ?? [],
    ...defined({ overruled: overruled && { ...overruled.breach, atMs: overruled.atMs } }),
  };
}

/** A canary node was lost, and so was the one that went in its place, each without its peers. */
function findCanariesLost(record: RolloutRecord, input: StagesInput): Breach | undefined {
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

/**
 * The old pod left, and no new one came, though nobody said why: one in a canary step, two later. Where Rollcall makes the
 * pods it knows why (`findRefused`), and its own slowness is no breach.
 */
export function findNotRecreated(
  record: RolloutRecord,
  { nodes, nowMs, isStageTrue }: StagesInput,
): Breach | undefined {
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

/** When nodes that were emptied have waited for so long: nothing else would have a run look then. */
export function recreationMoments(record: RolloutRecord, input: StagesInput): readonly number[] {
  if (input.isStageTrue || record.breach !== undefined) return [];
  return input.nodes
    .filter(isEmptied(record))
    .map(({ emptySinceMs = input.nowMs }) => emptySinceMs + RECREATED_WITHIN_MS)
    .filter((moment) => moment > input.nowMs);
}

/** More nodes are bad than go bad by themselves, and no control says that it is not the release. */
function findUnexplained(
  record: RolloutRecord,
  { nodes, nowMs, policy }: StagesInput,
): Breach | undefined {
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
function findApiServerSlow(record: RolloutRecord, { nowMs }: StagesInput): Breach | undefined {
  const slow = judgeAnswers(record, nowMs);
  if (slow === undefined) return undefined;
  return breach('ApiServerSlow', nowMs, { message: slowMessage(slow), nodes: [] });
}

/** Nothing was updated, and no step passed, for too long. */
function findLate(
  record: RolloutRecord,
  { policy, nowMs, nodes }: StagesInput,
): Breach | undefined {
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
