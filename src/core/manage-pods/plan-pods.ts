/**
 * What each node needs: the decision per node of spec 2.7 ("manage"), and strays of vanished nodes.
 *
 * Assumes a computed view and judged intents. Invariants: S1 (a node with an entry gets no pod without surge), S2
 * (one pod per revision with surge), S4 (only claimed pods are named); S9 (caps) is the caller's. One node in
 * back-off delays no other (spec faults 44, 45). Rolling updates are in plan-rollout.ts.
 *
 * Differs from upstream: back-off also holds back surge pods (#124388), unless `strict`; a terminal pod that is
 * about to be deleted is waited for with surge too; deletes name UID and version, not only a name.
 */
import type { DeleteReason, NodeView, PlannedDelete, PlannedEvent } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import type { BackoffEntry } from '../model/state.ts';
import { advanceBackoff, backoffEndMs, isInBackoff } from '../pod/backoff.ts';
import { failedDaemonPodEvent, succeededDaemonPodEvent } from '../events/events.ts';
import { decideCreate, type NameChoice, type Wait } from './plan-create.ts';
import type { Planning } from './planning.ts';
import { isAvailable, isTerminal, nodeOf, revisionHashOfPod } from '../pod/pod-facts.ts';

/** What a pod goes for, whether for the first time or again. */
export type Wanted = Exclude<DeleteReason, 'repeat'>;

/** One delete with what goes with it, if it survives the burst cap. */
export interface DeleteDecision {
  readonly planned: PlannedDelete;
  readonly event?: PlannedEvent;
  readonly backoff?: BackoffEntry;
}

/** What one node needs; nothing at all when it is as it should be. */
export interface NodeDecision {
  readonly nodeView: NodeView;
  readonly create?: NameChoice;
  readonly deletes: readonly DeleteDecision[];
  readonly wait?: Wait;
  /** Set if an available pod would go, were the state not new: until when it stays (protocol 6). */
  readonly withheldUntilMs?: number;
}

/** What all nodes need, in the order of the view, and the strays that go. */
export interface PodDecisions {
  readonly nodes: readonly NodeDecision[];
  readonly strays: readonly DeleteDecision[];
}

/** Decides every node, and the strays. */
export function planPods(planning: Planning): PodDecisions {
  return {
    nodes: planning.view.nodes.map((nodeView) => planNode(planning, nodeView)),
    strays: planStrays(planning),
  };
}

interface Victim {
  readonly pod: PodProjection;
  readonly reason: Wanted;
}

function planNode(planning: Planning, nodeView: NodeView): NodeDecision {
  const { placement, pods } = nodeView;
  if (placement === 'leave') {
    const live = pods.filter((pod) => !isGoing(planning, pod));
    const victims = live.map((pod) => ({ pod, reason: 'not-wanted' as const }));
    return withDeletes(planning, nodeView, victims);
  }
  if (pods.length > 0) return planOccupied(planning, nodeView);
  if (placement === 'keep') return { nodeView, deletes: [] };
  return withCreate(planning, { nodeView, deletes: [] });
}

/** Pods that are neither terminating nor finished, in the order in which duplicates survive. */
function runningPods(planning: Planning, pods: readonly PodProjection[]): readonly PodProjection[] {
  const running = pods.filter(
    (pod) => !isGoing(planning, pod) && pod.phase !== 'Failed' && pod.phase !== 'Succeeded',
  );
  // One whose delete may still arrive counts as unavailable, so it is never the one that stays.
  const isDoomed = (pod: PodProjection): boolean => planning.unresolvedDeletes.has(pod.uid);
  return [...running.filter((pod) => !isDoomed(pod)), ...running.filter(isDoomed)];
}

/** One pod that is neither going nor finished leaves nothing to decide here, with surge or without: most nodes. */
function isAsItShouldBe(planning: Planning, { pods }: NodeView): boolean {
  const [only] = pods;
  return pods.length === 1 && only !== undefined && !isGoing(planning, only) && !isTerminal(only);
}

function planOccupied(planning: Planning, nodeView: NodeView): NodeDecision {
  // Stryker disable next-line ConditionalExpression: what follows decides the same, only slower
  if (isAsItShouldBe(planning, nodeView)) return { nodeView, deletes: [] };
  const finished = planFinished(planning, nodeView);
  const running = runningPods(planning, nodeView.pods);
  const victims = planning.isSurging
    ? pruneSurge(planning, nodeView, running)
    : running.slice(1).map((pod) => ({ pod, reason: 'duplicate' as const }));
  const pruned = withDeletes(planning, nodeView, victims);
  const decision = {
    ...pruned,
    deletes: [...finished.deletes, ...pruned.deletes],
    ...(finished.wait === undefined ? {} : { wait: finished.wait }),
  };
  const mayCreate =
    planning.isSurging &&
    nodeView.placement === 'run' &&
    nodeView.pods.every((pod) => pod.isTerminating || mayIgnoreFailed(planning, nodeView, pod));
  return mayCreate ? withCreate(planning, decision) : decision;
}

/** Strict: with surge, a failed pod inside its back-off does not hold back the next one (#124388). */
function mayIgnoreFailed(planning: Planning, { node }: NodeView, pod: PodProjection): boolean {
  if (planning.compat !== 'strict' || pod.phase !== 'Failed') return false;
  const isInBackoffNow = isInBackoff(planning.backoff.get(node.name), planning.view.nowMs);
  return isInBackoffNow && !isGoing(planning, pod);
}

/** Failed and succeeded pods: deleted with an event, failed ones no faster than back-off allows. */
function planFinished(
  planning: Planning,
  nodeView: NodeView,
): { readonly deletes: readonly DeleteDecision[]; readonly wait?: Wait } {
  const { nowMs } = planning.view;
  const node = nodeView.node.name;
  const deletes: DeleteDecision[] = [];
  let wait: Wait | undefined;
  let entry = planning.backoff.get(node);
  for (const pod of nodeView.pods) {
    if (isGoing(planning, pod)) continue;
    const isRepeated = planning.unresolvedDeletes.has(pod.uid);
    if (pod.phase === 'Succeeded') {
      const planned = plannedDelete(planning, pod, 'succeeded');
      const event = succeededDaemonPodEvent({ namespace: pod.namespace, name: pod.name, node });
      deletes.push(isRepeated ? { planned } : { planned, event });
    } else if (pod.phase === 'Failed' && isRepeated) {
      deletes.push({ planned: plannedDelete(planning, pod, 'failed') });
    } else if (pod.phase === 'Failed' && entry !== undefined && isInBackoff(entry, nowMs)) {
      wait = waitForBackoff(pod, entry);
    } else if (pod.phase === 'Failed') {
      const { generation } = planning;
      entry = advanceBackoff(entry, { node, generation, nowMs });
      const planned = plannedDelete(planning, pod, 'failed');
      const event = failedDaemonPodEvent({ namespace: pod.namespace, name: pod.name, node });
      deletes.push({ planned, event, backoff: entry });
    }
  }
  return wait === undefined ? { deletes } : { deletes, wait };
}

function waitForBackoff(pod: PodProjection, entry: BackoffEntry): Wait {
  const why = pod.reason === undefined ? '' : ` (${pod.reason})`;
  const message = `pod ${pod.name} failed${why}; it is replaced when its back-off ends`;
  return { code: 'FailedBackoff', pod: pod.name, message, untilMs: backoffEndMs(entry) };
}

/**
 * With surge: the first pod of the current revision and the first of any other stay; of those two
 * the old one goes when it is not ready, or once the new one is available (spec 2.7). Without a
 * known revision nothing can be told apart, and nothing goes.
 *
 * Differs from upstream: of several old ones the first that is ready stays, unless `strict`; of two that an edit in the middle of
 * an update left, it takes the older one, and no pod serves on the node when that one is not ready (S3).
 */
function pruneSurge(
  planning: Planning,
  { node }: NodeView,
  running: readonly PodProjection[],
): readonly Victim[] {
  const { targets } = planning;
  const hash = targets.hashOf(node.name);
  if (hash === undefined) return [];
  const isCurrent = (pod: PodProjection): boolean => revisionHashOfPod(pod) === hash;
  const kept = running.find(isCurrent);
  const olds = running.filter((pod) => !isCurrent(pod));
  const serving = planning.compat === 'strict' ? undefined : olds.find(({ isReady }) => isReady);
  const old = serving ?? olds[0];
  const victims = running
    .filter((pod) => pod !== kept && pod !== old)
    .map((pod): Victim => ({ pod, reason: 'duplicate' }));
  if (kept === undefined || old === undefined) return victims;
  const at = { minReadyMs: planning.minReadyMs, nowMs: planning.view.nowMs };
  // A new pod whose delete may still arrive counts as unavailable, so the old one stays (S3).
  const isKept = !planning.unresolvedDeletes.has(kept.uid);
  const isReplaced = !old.isReady || (isKept && isAvailable(kept, at));
  return isReplaced ? [...victims, { pod: old, reason: 'replaced' }] : victims;
}

/** Unbound pods whose node is gone: pod garbage collection cannot collect those (spec 2.7). */
function planStrays(planning: Planning): readonly DeleteDecision[] {
  return planning.view.strays
    .filter((pod) => pod.boundNode === undefined && !isGoing(planning, pod))
    .map((pod) => ({ planned: plannedDelete(planning, pod, 'node-gone') }));
}

function withCreate(planning: Planning, decision: NodeDecision): NodeDecision {
  const create = decideCreate(planning, decision.nodeView);
  if (create.kind === 'create') return { ...decision, create: create.choice };
  return { ...decision, wait: create.wait };
}

function withDeletes(
  planning: Planning,
  nodeView: NodeView,
  victims: readonly Victim[],
): NodeDecision {
  const planned = victims.map(({ pod, reason }) => plannedDelete(planning, pod, reason));
  const { restrictedUntilMs } = planning;
  const allowed =
    restrictedUntilMs === undefined ? planned : planned.filter((each) => !each.isAvailable);
  return {
    nodeView,
    deletes: allowed.map((each) => ({ planned: each })),
    ...(restrictedUntilMs !== undefined && allowed.length < planned.length
      ? { withheldUntilMs: restrictedUntilMs }
      : {}),
  };
}

/** A delete, or the repetition of one that was recorded and not answered (protocol 4). */
export function plannedDelete(
  planning: Planning,
  pod: PodProjection,
  reason: Wanted,
): PlannedDelete {
  const open = planning.unresolvedDeletes.get(pod.uid);
  const node = nodeOf(pod);
  const { targets } = planning;
  const isNamed = targets.areNamed && revisionHashOfPod(pod) !== undefined;
  const isTold = node !== undefined && (isNamed || targets.isFormer(node));
  const targetHash = isTold ? targets.hashOf(node) : undefined;
  return {
    ...(pod.targetNode === undefined ? {} : { node: pod.targetNode }),
    name: pod.name,
    uid: pod.uid,
    resourceVersion: open?.resourceVersion ?? pod.resourceVersion,
    ...(open === undefined ? { reason } : { reason: 'repeat', repeats: reason }),
    ...(targetHash === undefined ? {} : { targetHash }),
    isAvailable: isAvailable(pod, { minReadyMs: planning.minReadyMs, nowMs: planning.view.nowMs }),
  };
}

/** Terminating, or its delete was accepted and the view does not show it yet. */
export function isGoing(planning: Planning, pod: PodProjection): boolean {
  return pod.isTerminating || planning.acceptedDeletes.has(pod.uid);
}
