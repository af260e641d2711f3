/**
 * What a run sees of coverage: how many nodes are to have a pod, how many are served, and who joined.
 *
 * Served: by a pod that is Ready, is not being deleted, and is of an approved release. Without a rollout policy every revision is
 * approved. Under one a revision is approved from the end of its canary until a halt takes that back; so are the good releases before.
 */
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import type { NodeView, View } from '../model/plan.ts';
import type { NodeProjection, PodProjection } from '../model/projections.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { CoverageRecord } from '../model/state.ts';
import { bucketOf } from './time-to-daemon.ts';

/** What was seen; `joined`: the bucket of each node whose pod was Ready for the first time. */
export interface SeenCoverage extends Pick<
  CoverageRecord,
  'eligible' | 'covered' | 'newest' | 'atNewest' | 'joining'
> {
  readonly joined: readonly number[];
}

/** Nodes that are remembered at most: of more that join at once the times are not measured. */
const REMEMBERED_MAX = 256;
/** A node whose labels and taints are not complete yet becomes eligible within this, or was not meant. */
const JOINS_WITHIN_MS = 900_000;

/** Looks at the nodes of a view; `before`: what was counted until now. */
export function seeCoverage(
  view: Pick<View, 'nodes' | 'uid' | 'nowMs'>,
  rollout: RolloutRecord | undefined,
  before: CoverageRecord | undefined,
): SeenCoverage {
  const eligible = view.nodes.filter(({ placement }) => placement === 'run');
  const covered = eligible.filter(({ pods }) =>
    pods.some((pod) => isServing(pod, view) && isApproved(pod, rollout)),
  );
  return {
    eligible: eligible.length,
    covered: covered.length,
    ...seeJoining(view, before),
  };
}

/** A pod that is yet to be adopted serves another owner. */
function isServing(
  { isReady, isTerminating, ownerUid }: PodProjection,
  { uid }: Pick<View, 'uid'>,
): boolean {
  return isReady && !isTerminating && ownerUid === uid;
}

/** True if the pod's revision passed what its policy asks of it. */
export function isApproved(
  pod: Pick<PodProjection, 'labels'>,
  rollout: RolloutRecord | undefined,
): boolean {
  if (rollout === undefined) return true;
  const hash = revisionHashOfPod(pod);
  const { proven, former, good, breach, isReturn } = rollout;
  if (hash === undefined || (hash === rollout.hash && breach !== undefined)) return false;
  if (hash === rollout.hash && isReturn) return true;
  return [proven, former, ...good].some((release) => release?.hash === hash);
}

type Joining = Pick<SeenCoverage, 'newest' | 'atNewest' | 'joining' | 'joined'>;

function seeJoining(
  view: Pick<View, 'nodes' | 'uid' | 'nowMs'>,
  before: CoverageRecord | undefined,
): Joining {
  const { nodes, nowMs } = view;
  const isArrived = (each: NodeView): boolean => servingOn(each, view).length > 0;
  const newest = Math.max(before?.newest ?? 0, ...nodes.map(({ node }) => madeAt(node)));
  const atNewest = nodes.filter(({ node }) => madeAt(node) === newest).map(endOf);
  // The first look counts no node: it does not know how long the DaemonSet was there.
  const isAwaited = before === undefined ? (): boolean => false : awaitedBy(before);
  const awaited = nodes.filter(isAwaited);
  const arrived = awaited.filter((each) => isArrived(each));
  const joining = awaited.filter((each) => !isArrived(each) && mayJoin(each, nowMs)).map(endOf);
  return {
    newest,
    ...(atNewest.length <= REMEMBERED_MAX ? { atNewest } : {}),
    ...(joining.length === 0 ? {} : { joining: joining.slice(0, REMEMBERED_MAX) }),
    joined: arrived.map((each) => bucketOf(tookMs(each, view))),
  };
}

function awaitedBy({ newest, atNewest, joining = [] }: CoverageRecord): (of: NodeView) => boolean {
  const known = new Set(joining);
  const seen = atNewest === undefined ? undefined : new Set(atNewest);
  return (nodeView) => {
    const made = madeAt(nodeView.node);
    if (made === 0) return false;
    const isLater = made > newest || (made === newest && seen?.has(endOf(nodeView)) === false);
    return isLater || known.has(endOf(nodeView));
  };
}

function servingOn(
  { placement, pods }: NodeView,
  view: Pick<View, 'uid'>,
): readonly PodProjection[] {
  return placement === 'run' ? pods.filter((pod) => isServing(pod, view)) : [];
}

function mayJoin({ placement, node }: NodeView, nowMs: number): boolean {
  return placement === 'run' || nowMs - (node.createdAtMs ?? 0) < JOINS_WITHIN_MS;
}

function tookMs(nodeView: NodeView, view: Pick<View, 'uid' | 'nowMs'>): number {
  const { node } = nodeView;
  const readyAtMs = servingOn(nodeView, view).map((pod) => pod.readyChangedAtMs ?? view.nowMs);
  return Math.max(0, Math.min(...readyAtMs) - (node.createdAtMs ?? 0));
}

/** Creation times have whole seconds. A node without one does not count as joining. */
function madeAt({ createdAtMs = 0 }: NodeProjection): number {
  return Math.floor(createdAtMs / 1000);
}

function endOf({ node }: NodeView): string {
  return node.uid.slice(-8);
}
