/**
 * Which nodes are in open steps, and which step would be next.
 *
 * A group once opened stays open, told by its name, and so do groups before it in today's order: a node that joins one of them is
 * updated at once. Steps are numbered as they are opened: a pool that scales to zero keeps its number. If the order was edited and
 * no name of before is left, the canary alone is open. What a canary has beyond its number waits while it serves.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { comparePlaces, placesBy, type Level } from '../policy/sort-by-rules.ts';
import type { OrderRule } from '../policy/rollout-policy.ts';
import { limitNodesOf, nodesRoundedUp } from '../policy/share.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import { addedNodes } from './canary-losses.ts';
import { isPending, nameOf, servesNobody, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';

export interface Steps {
  /** Nodes of open steps, without those that the policy leaves out. */
  readonly open: readonly StageNode[];
  /** The first group that is not open and has a node to be updated; undefined: none is left. */
  readonly next: { readonly name: string } | undefined;
  /** How many groups there are to open. */
  readonly left: number;
}

type StepsInput = Pick<StagesInput, 'nodes' | 'policy'>;

export function findSteps(record: RolloutRecord, input: StepsInput): Steps {
  const { step, opened: names = [] } = record;
  const { nodes, policy } = input;
  const canary = canaryOfNow(record, input);
  const able = nodes.filter(({ isExcluded }) => !isExcluded);
  const groups = groupNodes(able, policy.order);
  if (step.kind === 'done') return { open: able, next: undefined, left: 0 };
  const openedUpTo = groups.findLastIndex(({ name }) => names.includes(name));
  const isCanary = new Set<NodeName>(step.kind === 'waiting' ? [] : canary);
  const opened = new Set(groups.slice(0, openedUpTo + 1).flatMap((group) => group.nodes));
  const open = able.filter((node) => opened.has(node) || isCanary.has(nameOf(node)));
  const left = groups
    .slice(openedUpTo + 1)
    .filter((group) => group.nodes.some((node) => isPending(node) && !isCanary.has(nameOf(node))));
  return { open, next: left[0], left: left.length };
}

/**
 * The canary without nodes that were taken beyond its number, because the pod that a halted revision had left there did not serve,
 * and that serve by now: they have something to lose again, and the revision would be on most nodes untried (start-record.ts). One
 * that fails again has its turn again.
 */
export function canaryOfNow(record: RolloutRecord, input: StepsInput): readonly NodeName[] {
  const { step, canary, baseNodes, losses, refused } = record;
  const { nodes, policy } = input;
  if (step.kind !== 'canary' || policy.canary.kind === 'selector') return canary;
  const most = nodesRoundedUp(policy.canary.share, baseNodes);
  const beyond = canary.length - most - addedNodes(losses).size;
  if (beyond <= 0 || refused.length === 0) return canary;
  const hashes = new Set(refused.map(({ hash }) => hash));
  const isLeft = (node: StageNode): boolean =>
    isPending(node) && hashes.has((node.old && revisionHashOfPod(node.old)) ?? '');
  const left = nodes.filter(isLeft);
  const healed = new Set(left.filter((node) => !servesNobody(node)).map(nameOf));
  // Those that were taken beyond the number are named first.
  const waiting = new Set(canary.filter((name) => healed.has(name)).slice(0, beyond));
  return canary.filter((name) => !waiting.has(name));
}

interface Group {
  /** The values, joined by `/`; `-` stands for a label that is not there. */
  readonly name: string;
  readonly nodes: readonly StageNode[];
}

/**
 * The groups, first to last, by the values of the order's labels: a group is told by its name, so that a run finds again what another
 * one opened. Without an order there is one, whose name is empty.
 */
export function groupNodes(
  nodes: readonly StageNode[],
  order: readonly OrderRule[],
): readonly Group[] {
  const placeOf = placesBy(order);
  const groups = new Map<
    string,
    { readonly place: readonly Level[]; readonly nodes: StageNode[] }
  >();
  for (const node of nodes) {
    const place = placeOf(node.node.labels);
    const name = place.flatMap(({ word }) => (word === '' ? [] : [word])).join('/');
    const found = groups.get(name);
    if (found === undefined) groups.set(name, { place, nodes: [node] });
    else found.nodes.push(node);
  }
  return [...groups.entries()]
    .sort(([, left], [, right]) => comparePlaces(left.place, right.place))
    .map(([name, group]) => ({ name, nodes: group.nodes }));
}

/** maxUnavailable of the policy, else of the DaemonSet's strategy. */
export function budgetOf(
  { baseNodes }: Pick<RolloutRecord, 'baseNodes'>,
  { policy, strategyUnavailable, nodes }: StepsInput & Pick<StagesInput, 'strategyUnavailable'>,
): number {
  const share = policy.maxUnavailable;
  if (share === undefined) return Math.max(1, strategyUnavailable);
  return limitNodesOf(share, { then: baseNodes, now: nodes.length });
}
