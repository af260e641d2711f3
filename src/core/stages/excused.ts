/**
 * Nodes that neither block a step nor use up the budget: left out by the policy, gone bad by
 * themselves, or without a place. With `budget: attributed` bad nodes are excused up to a cap;
 * beyond it find-breach.ts halts. Where the former pod had no place for five minutes the new one
 * has none either: no canary and no breach, until a pod is bound there.
 */
import { GRACE_MS } from '../health/pod-signs.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import type { RolloutPolicy } from '../policy/rollout-policy.ts';
import { nodesRoundedDown, type NodeCounts } from '../policy/share.ts';
import { unprovenFor } from '../rollout/known-bad.ts';
import { nameOf, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';

/** At least so many nodes may fail by themselves, whatever the share. */
const EXCUSED_NODES_MIN = 2;
const EXCUSED_SHARE = { kind: 'percent', percent: 5 } as const;

/** The most nodes that are excused at once: max(2, 5 %), rounded down. */
export function excusedNodesMax({ then, now }: NodeCounts): number {
  return Math.max(EXCUSED_NODES_MIN, nodesRoundedDown(EXCUSED_SHARE, Math.min(then, now)));
}

export function excuseNodes(
  { trial, baseNodes }: RolloutRecord,
  nodes: readonly StageNode[],
  { budget }: RolloutPolicy,
): ReadonlySet<NodeName> {
  const never = nodes.filter((each) => each.isExcluded || each.hasNoPlace).map(nameOf);
  if (budget === 'parity') return new Set(never);
  const outside = new Set(trial.outside);
  const bad = nodes.filter(({ node, isExcluded }) => !node.isReady && !isExcluded).map(nameOf);
  const most = excusedNodesMax({ then: baseNodes, now: nodes.length });
  const before = bad.filter((name) => outside.has(name));
  const since = bad.filter((name) => !outside.has(name)).slice(0, most);
  return new Set([...never, ...before, ...since]);
}

/** The input with the nodes marked that have no place: max(2, 5 %) at most, and never all. Those that were marked stay first. */
export function markPlaceless(input: StagesInput): StagesInput {
  const { record, nodes, hash } = input;
  const known = new Set(record?.placeless);
  const unproven = unprovenFor(record, hash);
  const open = nodes.filter(({ isExcluded }) => !isExcluded);
  const before = open.filter((node) => known.has(nameOf(node)) && isUnbound(node));
  const since = open.filter((node) => lacksPlace(node, unproven, input));
  const most = excusedNodesMax({ then: record?.baseNodes ?? nodes.length, now: nodes.length });
  const found = [...new Set([...before, ...since])];
  const marked = new Set(found.slice(0, Math.min(most, open.length - 1)));
  if (marked.size === 0) return input;
  return {
    ...input,
    nodes: nodes.map((node) => (marked.has(node) ? { ...node, hasNoPlace: true } : node)),
  };
}

/** The record with their names: a new pod there is young, and its node is known all the same. */
export function withPlaceless(
  record: RolloutRecord,
  { nodes }: Pick<StagesInput, 'nodes'>,
): RolloutRecord {
  const names = nodes.filter(({ hasNoPlace }) => hasNoPlace).map(nameOf);
  const { placeless: known = [], ...rest } = record;
  if (names.length === known.length && names.every((name) => known.includes(name))) return record;
  return names.length === 0 ? rest : { ...rest, placeless: names };
}

function isUnbound({ old, updated }: StageNode): boolean {
  return (updated ?? old)?.boundNode === undefined;
}

/** The scheduler has found no place for the pod of a revision that is not in doubt, for as long as a new one may take. */
function lacksPlace(
  { old, updated }: StageNode,
  unproven: ReadonlySet<string>,
  { nowMs }: StagesInput,
): boolean {
  if (old?.trouble?.unscheduled !== 'Unschedulable' || updated !== undefined) return false;
  if (old.boundNode !== undefined || unproven.has(revisionHashOfPod(old) ?? '')) return false;
  return nowMs - old.createdAtMs >= GRACE_MS;
}
