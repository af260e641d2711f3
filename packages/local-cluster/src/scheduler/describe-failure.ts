/**
 * The message of an unschedulable pod, in kube-scheduler's words.
 *
 * `0/5 nodes are available: 1 Insufficient cpu, 4 node(s) had untolerated taint(s). no new claims to deallocate,
 * preemption: 0/5 nodes are available: 1 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling.`
 * As where no pod on the nodes is less important: this scheduler never preempts.
 */
import type { FilterFailure } from './filters/filter.ts';

/** What the search over the nodes came to. */
export interface SearchFailure {
  /** Nodes of the cluster. */
  readonly nodeCount: number;
  /** Of the nodes that were looked at. */
  readonly failures: readonly FilterFailure[];
  /** The terms of the required affinity each exclude every name: no node was looked at. */
  readonly hasConflictingNames?: boolean;
}

const NO_NODES_MESSAGE = 'no nodes available to schedule pods';

/** Said of dynamic resources before preemption, whether or not the pod asks for any. */
const NO_CLAIMS = 'no new claims to deallocate';
const CONFLICTING_NAMES = 'pod affinity terms conflict';
const NOT_LOOKED_AT = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/** Puts it into words. */
export function describeFailure(failure: SearchFailure): string {
  const { nodeCount, failures, hasConflictingNames = false } = failure;
  if (nodeCount === 0) return NO_NODES_MESSAGE;
  const counts = new Map<string, number>();
  const count = (reason: string, by: number): void => {
    if (by > 0) counts.set(reason, (counts.get(reason) ?? 0) + by);
  };
  for (const { reasons } of failures) for (const reason of reasons) count(reason, 1);
  count(NOT_LOOKED_AT, nodeCount - failures.length);
  const why = hasConflictingNames ? CONFLICTING_NAMES : histogram(counts);
  const useless = `${none(nodeCount)} ${describeUseless(failure)}.`;
  return `${none(nodeCount)} ${why}. ${NO_CLAIMS}, preemption: ${useless}`;
}

function none(nodeCount: number): string {
  return `0/${String(nodeCount)} nodes are available:`;
}

function describeUseless({ nodeCount, failures }: SearchFailure): string {
  const candidateCount = failures.filter(({ dependsOnOtherPods }) => dependsOnOtherPods).length;
  const counts = new Map<string, number>();
  if (candidateCount > 0)
    counts.set('No preemption victims found for incoming pod', candidateCount);
  const hopelessCount = nodeCount - candidateCount;
  if (hopelessCount > 0) counts.set('Preemption is not helpful for scheduling', hopelessCount);
  return histogram(counts);
}

function histogram(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .map(([reason, times]) => `${String(times)} ${reason}`)
    .sort()
    .join(', ');
}
