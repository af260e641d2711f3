/**
 * The view: what one reconcile sees, computed once and read by every stage after it.
 *
 * Claims pods, groups them by target node, sorts them, decides placement (spec 2.4, 2.5). The result
 * does not depend on the order of the input, nor on maps: nodes go by name, a node's pods in the
 * order in which duplicates survive (spec 2.7). It reads no clock: `nowMs` comes with the input. What most runs never
 * ask for is computed when it is asked for: thousands of pods change by one.
 */
import { uid, type NodeName } from '../model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeView, View, ViewInput } from '../model/plan.ts';
import type { PodProjection, Tombstone } from '../model/projections.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { slotName } from '../pod/naming.ts';
import { claimantOf, claimOf, type Claimant } from '../pod/owner.ts';
import { placeNodes } from '../placement/place-nodes.ts';
import { comparePods, isHeld, nodeOf, revisionHashOfPod } from '../pod/pod-facts.ts';
import { uidsAmong } from '../pod/tombstones.ts';
import { allowsSurge } from '../daemon-set/strategy.ts';

/** Computes the view of one reconcile from what was read. */
export function computeView(input: ViewInput): View {
  const { daemonSet, nowMs } = input;
  const { metadata } = daemonSet;
  const namespace = metadata.namespace ?? '';
  const claimed = claimPods(claimantOf(daemonSet), input.pods);
  const ours = claimed.toAdopt.length === 0 ? claimed.kept : [...claimed.kept, ...claimed.toAdopt];
  const groups = groupByTarget(ours);
  const nodes = placeNodes(daemonSet, input.nodes).map(({ node, placement, reason }): NodeView => {
    const group = groups.byNode.get(node.name);
    if (group === undefined || group.isPlaced) {
      return { node, placement, reason, pods: NONE, held: NONE };
    }
    group.isPlaced = true;
    return { node, placement, reason, pods: group.pods, held: group.held };
  });
  let areForeign: boolean | undefined;
  const strays = [...groups.byNode.values()].flatMap(({ isPlaced, pods, held }) =>
    isPlaced ? NONE : [...pods, ...held],
  );
  return {
    daemonSet,
    uid: uid(metadata.uid),
    namespace,
    name: metadata.name,
    nowMs,
    nodes,
    strays: strays.sort((left, right) => compareText(left.name, right.name)),
    untargeted: groups.untargeted,
    toAdopt: [...claimed.toAdopt].sort(comparePods),
    toRelease: [...claimed.toRelease].sort(comparePods),
    gone: goneOf(input),
    revisions: [...input.revisions].sort(
      (left, right) => left.revision - right.revision || compareText(left.name, right.name),
    ),
    get hasForeignNames() {
      // Only a run that creates asks, and each name costs a hash.
      return (areForeign ??= ours.some((pod) => isForeign(daemonSet, pod)));
    },
  };
}

const NONE: readonly PodProjection[] = [];

/** Every pod that a view shows: ours, and those that it releases. */
export function podsOfView(view: View): readonly PodProjection[] {
  const shown: PodProjection[] = [];
  for (const { pods, held } of view.nodes) {
    for (const pod of pods) shown.push(pod);
    for (const pod of held) shown.push(pod);
  }
  return [...shown, ...view.strays, ...view.untargeted, ...view.toRelease];
}

/**
 * A pod that is there has no tombstone: an etcd that was restored may have brought it back. In no order, as a rollout
 * leaves thousands: who reads them does not go by it.
 */
function goneOf({ gone = [], pods }: ViewInput): readonly Tombstone[] {
  // Stryker disable next-line ConditionalExpression: saves a look at each pod where nothing is remembered
  if (gone.length === 0) return [];
  const living = uidsAmong(gone, pods);
  // Stryker disable next-line ConditionalExpression: saves a look at each tombstone where none is to be left out
  if (living.size === 0) return gone;
  return gone.filter((tombstone) => !living.has(tombstone.uid));
}

interface PodGroup {
  readonly pods: PodProjection[];
  readonly held: PodProjection[];
  /** Set once its node is found: a mark costs less than thousands of deletes from a map. */
  isPlaced: boolean;
}

/** Groups pods by their target node; each group is sorted. */
function groupByTarget(pods: readonly PodProjection[]): {
  readonly byNode: Map<NodeName, PodGroup>;
  readonly untargeted: readonly PodProjection[];
} {
  const byNode = new Map<NodeName, PodGroup>();
  const untargeted: PodProjection[] = [];
  for (const pod of pods) {
    const target = nodeOf(pod);
    if (target === undefined) {
      untargeted.push(pod);
      continue;
    }
    let group = byNode.get(target);
    if (group === undefined) {
      group = { pods: [], held: [], isPlaced: false };
      byNode.set(target, group);
    }
    (isHeld(pod) ? group.held : group.pods).push(pod);
  }
  // A node has one pod, most of the time: thousands need no sorting.
  for (const { pods: grouped, held } of byNode.values()) {
    if (grouped.length > 1) grouped.sort(comparePods);
    if (held.length > 1) held.sort(comparePods);
  }
  return { byNode, untargeted: untargeted.sort(comparePods) };
}

/**
 * True if the name is not the slot's own (of its revision, with surge): a run that knows less of the slot's past
 * asks for another name, which the API server does not refuse beside such a pod (protocol 9).
 */
function isForeign(daemonSet: DaemonSetObject, pod: PodProjection): boolean {
  const node = nodeOf(pod);
  if (node === undefined) return true;
  const revision = allowsSurge(daemonSet) ? revisionHashOfPod(pod) : undefined;
  const expected = slotName({
    daemonSetName: daemonSet.metadata.name,
    daemonSetUid: uid(daemonSet.metadata.uid),
    node,
    ...(revision === undefined ? {} : { revision }),
  });
  return pod.name !== expected;
}

/** Pods by what becomes of them; those to be ignored are left out. */
interface ClaimedPods {
  readonly kept: readonly PodProjection[];
  readonly toAdopt: readonly PodProjection[];
  readonly toRelease: readonly PodProjection[];
}

/** Decides all pods; the order of the input is kept. */
function claimPods(claimant: Claimant, pods: readonly PodProjection[]): ClaimedPods {
  const kept: PodProjection[] = [];
  const toAdopt: PodProjection[] = [];
  const toRelease: PodProjection[] = [];
  const lists = { keep: kept, adopt: toAdopt, release: toRelease, ignore: undefined };
  for (const pod of pods) lists[claimOf(claimant, pod)]?.push(pod);
  return { kept, toAdopt, toRelease };
}
