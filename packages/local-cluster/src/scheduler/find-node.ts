/**
 * Finds the node for one pod, or says why there is none, in kube-scheduler's words. Pure apart from reading the state.
 *
 * Of the nodes that can take the pod the one with the fewest pods wins, then the first. A pod whose required affinity names
 * its nodes, as daemon pods do, is held against those only. Differs from Kubernetes: no scores, so preferred affinity and
 * PreferNoSchedule taints play no part; volumes, pod affinity, topology spread and dynamic resources do not filter.
 */
import { labelOf } from '@rollcall/base/label-selector.ts';
import { compileNodeAffinity } from '@rollcall/base/node-affinity.ts';
import type { AffinityMatcher } from '@rollcall/base/node-affinity.ts';
import type { NodeSelectorTerm, PodSpec, Taint, Toleration } from '@rollcall/base/objects.ts';
import { findUntoleratedTaint, toleratesTaint } from '@rollcall/base/taints.ts';
import { viewPod } from '../controllers/shared/object-views.ts';
import { conflicts } from '../node-agent/shared/pod-resources.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { footprintOf } from './cluster-state.ts';
import type { ClusterState, NodeState, PodFootprint } from './cluster-state.ts';

/** What placement of a pod depends on, computed once. */
export interface SchedulingPod extends PodFootprint {
  readonly tolerations: readonly Toleration[];
  readonly nodeSelector: readonly (readonly [label: string, value: string])[];
  /** Undefined where the required affinity matches. */
  readonly mismatchOf: AffinityMatcher;
  /** The only nodes that the required affinity can match, by name; undefined: any. */
  readonly pinnedTo: ReadonlySet<string> | undefined;
}

/** Prepares a pod for the filters; the affinity is Rollcall's own reading of it, so that both cannot disagree. */
export function prepareSchedulingPod(object: ApiObject): SchedulingPod {
  const { spec } = viewPod(object);
  return {
    ...footprintOf(object),
    tolerations: spec.tolerations ?? [],
    nodeSelector: Object.entries(spec.nodeSelector ?? {}),
    mismatchOf: compileNodeAffinity(spec),
    pinnedTo: pinnedNodeNames(spec),
  };
}

/** Names of the only nodes that can match; undefined when some term does not name its node. */
function pinnedNodeNames(spec: PodSpec): ReadonlySet<string> | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = (required?.nodeSelectorTerms ?? []).map(namesOfTerm);
  const named = terms.filter((names) => names !== undefined);
  if (terms.length === 0 || named.length < terms.length) return undefined;
  return new Set(named.flatMap((names) => [...names]));
}

/** The names that all requirements on metadata.name allow. */
function namesOfTerm({ matchFields }: NodeSelectorTerm): ReadonlySet<string> | undefined {
  return (matchFields ?? [])
    .filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    .map(({ values }) => new Set(values ?? []))
    .reduce<Set<string> | undefined>(
      (left, right) => left?.intersection(right) ?? right,
      undefined,
    );
}

/** A node, or why there is none. */
export type NodeSearch =
  | { readonly kind: 'found'; readonly nodeName: string }
  | { readonly kind: 'none'; readonly message: string };

/** Searches. */
export function findNode(pod: SchedulingPod, cluster: ClusterState): NodeSearch {
  const counts = new Map<string, number>();
  const count = (reason: string, by: number): void => {
    if (by > 0) counts.set(reason, (counts.get(reason) ?? 0) + by);
  };
  let lookedAtCount = 0;
  let best: NodeState | undefined;
  for (const node of candidates(pod, cluster)) {
    lookedAtCount += 1;
    const failure = findFailure(pod, node);
    for (const reason of failure ?? []) count(reason, 1);
    if (failure === undefined && (best === undefined || node.podCount < best.podCount)) best = node;
  }
  if (best !== undefined) return { kind: 'found', nodeName: best.name };
  const { nodeCount } = cluster;
  if (nodeCount === 0) return { kind: 'none', message: 'no nodes available to schedule pods' };
  count("node(s) didn't satisfy plugin(s) [NodeAffinity]", nodeCount - lookedAtCount);
  const reasons = [...counts].map(([reason, times]) => `${String(times)} ${reason}`).sort();
  const why = pod.pinnedTo?.size === 0 ? 'pod affinity terms conflict' : reasons.join(', ');
  return { kind: 'none', message: `0/${String(nodeCount)} nodes are available: ${why}.` };
}

function* candidates(pod: SchedulingPod, cluster: ClusterState): Iterable<NodeState> {
  if (pod.pinnedTo === undefined) {
    yield* cluster.nodes();
    return;
  }
  for (const name of pod.pinnedTo) {
    const node = cluster.node(name);
    if (node !== undefined) yield node;
  }
}

const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const NANOS = 1_000_000_000n;

/** Why a node cannot take the pod; undefined when it can. The first filter that fails speaks for the node. */
export function findFailure(pod: SchedulingPod, node: NodeState): readonly string[] | undefined {
  const { tolerations } = pod;
  const { taints } = node;
  if (node.isCordoned && !tolerations.some((each) => toleratesTaint(each, CORDON))) {
    return ['node(s) were unschedulable'];
  }
  for (const effect of ['NoSchedule', 'NoExecute'] as const) {
    if (findUntoleratedTaint({ taints, tolerations, effect }) === undefined) continue;
    return ['node(s) had untolerated taint(s)'];
  }
  const isSelected = pod.nodeSelector.every(
    ([label, value]) => labelOf(node.labels, label) === value,
  );
  if (!isSelected || pod.mismatchOf(node) !== undefined) {
    return ["node(s) didn't match Pod's node affinity/selector"];
  }
  if (pod.ports.some((wanted) => node.ports.some((taken) => conflicts(wanted, taken)))) {
    return ["node(s) didn't have free ports for the requested pod ports"];
  }
  const lacking = lackingResources(pod, node);
  return lacking.length === 0 ? undefined : lacking;
}

/** Every resource of which the node's pods leave too little. */
function lackingResources(pod: SchedulingPod, node: NodeState): readonly string[] {
  const { allocatable, requested, podCount } = node;
  const reasons: string[] = [];
  if (BigInt(podCount + 1) * NANOS > (allocatable.get('pods') ?? 0n)) reasons.push('Too many pods');
  for (const [name, wanted] of pod.requests) {
    const left = (allocatable.get(name) ?? 0n) - (requested.get(name) ?? 0n);
    if (wanted > 0n && wanted > left) reasons.push(`Insufficient ${name}`);
  }
  return reasons;
}
