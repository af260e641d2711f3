/**
 * Which nodes try a revision first, and which take the place of those that cannot (issue 17).
 *
 * By selector, or spread so that each kind of node keeps some that do not. A node that is gone, or that is not Ready before
 * its turn, shows nothing: while the canary is open another one goes in its place, or a revision would be proven by
 * nothing. One that was begun on stays, well or not; what is added for one that was lost is of replace-canaries.ts. The canary is
 * bounded; it is empty where no node is able.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { addedNodes } from './canary-losses.ts';
import { chooseCanary } from '../health/canary-spread.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import { SPREAD_DEFAULT } from '../policy/rollout-policy.ts';
import { nodesRoundedUp } from '../policy/share.ts';
import { isPending, nameOf, servesNobody, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';
import { budgetOf } from './steps.ts';

/** The longest list of canary nodes: some 20 KB of a state. */
export const CANARY_NODES_MAX = 500;

/**
 * The canary of a rollout that begins. Of nodes that a halted revision was left on (`left`) those that serve are of its number: one
 * beyond it would be one more that has something to lose. Where more are left than a canary has, they are as all others.
 */
export function pickCanary(
  input: StagesInput,
  left: readonly StageNode[] = [],
): readonly NodeName[] {
  const { canary } = input.policy;
  const baseNodes = input.nodes.length;
  const most =
    canary.kind === 'selector' ? CANARY_NODES_MAX : nodesRoundedUp(canary.share, baseNodes);
  const serving = left.length > most ? [] : left.filter((node) => !servesNobody(node)).map(nameOf);
  const begun = [...useUpBudget(input), ...begunBefore(input)];
  const before = [...new Set([...begun, ...serving])];
  return choose(input, { baseNodes, before: before.slice(0, most) });
}

/**
 * The canary of a revision that is edited away before it was proven: it stands there, or is on its way there. So do revisions
 * that were edited away before it, and the one that begins now may be one of these. Others would be given what they have in
 * common, an image that nothing proved, with each edit. A canary that was made wider, for nodes that were broken
 * or lost, is not handed on as wide.
 */
function begunBefore({ record, nodes }: StagesInput): readonly NodeName[] {
  const isOpen = record?.step.kind === 'waiting' || record?.step.kind === 'canary';
  if (!isOpen || record.breach !== undefined) return [];
  const canary = new Set(record.canary);
  const edited = new Set([record.hash, ...(record.abandoned ?? [])]);
  const isBegun = ({ old }: StageNode): boolean =>
    old === undefined || edited.has(revisionHashOfPod(old) ?? '');
  return nodes
    .filter((node) => canary.has(nameOf(node)) && isUpAndOpen(node) && isBegun(node))
    .map(nameOf);
}

/**
 * Nodes whose pods do not serve, or that have none, where they and others use up the whole budget: no healthy node could be updated
 * before them, and the rollout would wait for ever. Those that have none come first, and where they alone use it up, as where admission
 * refuses pods of the former revision, no pod is taken away before one of them got its own. Else a broken node is no canary: what
 * is broken there may be the node.
 */
function useUpBudget(input: StagesInput): readonly NodeName[] {
  const { canary } = input.policy;
  if (canary.kind === 'selector') return [];
  const budgetNodes = budgetOf({ baseNodes: input.nodes.length }, input);
  const idle = input.nodes.filter(
    (node) => !node.isWell && servesNobody(node) && !node.isExcluded && !node.hasNoPlace,
  );
  if (idle.length < budgetNodes) return [];
  const able = idle.filter((node) => isUpAndOpen(node) && node.updated === undefined);
  const [empty, rest] = [able.filter(isEmpty), able.filter((node) => !isEmpty(node))];
  const canGo = idle.filter(isEmpty).length < budgetNodes ? [...empty, ...rest] : empty;
  return canGo.map(nameOf);
}

/**
 * A canary that was not begun, with nodes in it that were refused their former pods, where these use up the budget: it would
 * wait for ever. What is without a pod for a moment moves no canary.
 */
function withRefused(canary: readonly NodeName[], input: StagesInput): readonly NodeName[] {
  const idle = useUpBudget(input);
  const refused = new Set(input.refusals.map(({ node }) => node));
  const first = idle.filter((name) => refused.has(name));
  if (first.length === 0 || idle.some((name) => canary.includes(name))) return canary;
  return [...first, ...canary].slice(0, canary.length);
}

/** The record with a canary that can show something; the same one where nothing is to be replaced. */
export function withAbleCanary(record: RolloutRecord, input: StagesInput): RolloutRecord {
  const { step, canary, isReturn, breach, baseNodes, losses } = record;
  const isOpen = step.kind === 'waiting' || step.kind === 'canary';
  if (!isOpen || canary.length === 0 || isReturn || breach !== undefined) return record;
  // One that would get no pod now can only have had its turn.
  const kept = (input.keptNodes ?? []).filter((node) => !isPending(node));
  const nodes = new Map([...input.nodes, ...kept].map((node) => [nameOf(node), node]));
  const able = canary.filter((name) => isAble(nodes.get(name)));
  const isBegun = able.some((name) => hasTurn(nodes.get(name)));
  const before = isBegun ? able : withRefused(able, input);
  if (before.length === canary.length) {
    return before === able ? record : { ...record, canary: before };
  }
  const added = addedNodes(losses);
  const addedCount = before.filter((name) => added.has(name)).length;
  return { ...record, canary: choose(input, { baseNodes, before, addedCount }) };
}

/** True if the revision is, or was to be, on a node of the canary: what it shows there is for the gate to judge. */
export function hasBegun(canary: readonly NodeName[], nodes: readonly StageNode[]): boolean {
  const names = new Set(canary);
  return nodes.some((node) => names.has(nameOf(node)) && !isPending(node) && !node.isExcluded);
}

/** True if something was done there, or may be on its way. */
function hasTurn(node: StageNode | undefined): boolean {
  return node !== undefined && (!isPending(node) || node.isLeaving === true);
}

function isEmpty({ old }: StageNode): boolean {
  return old === undefined;
}

function isAble(node: StageNode | undefined): boolean {
  if (node === undefined || node.isExcluded) return false;
  return !isPending(node) || isUpAndOpen(node);
}

/** True of a node that could be given a pod now. */
export function isUpAndOpen({ node, isExcluded, hasNoPlace }: StageNode): boolean {
  return node.isReady && !node.isTerminating && !isExcluded && hasNoPlace !== true;
}

function choose(
  input: StagesInput,
  {
    baseNodes,
    before,
    addedCount = 0,
  }: {
    readonly baseNodes: number;
    readonly before: readonly NodeName[];
    /** Of those before, which are there beyond the number that the policy says. */
    readonly addedCount?: number;
  },
): readonly NodeName[] {
  const { canary } = input.policy;
  const { nodes, keptNodes = [] } = input;
  // A node that died of the revision has had its turn: another one in its place would be the next to die.
  const lost = keptNodes.filter((node) => before.includes(nameOf(node)));
  const able = [...nodes, ...lost].filter(
    ({ isExcluded, hasNoPlace }) => !isExcluded && !hasNoPlace,
  );
  if (canary.kind === 'selector') {
    const selector = compileSelector(canary.selector);
    const chosen = able.filter(({ node }) => selector.matches(node.labels)).map(nameOf);
    return chosen.slice(0, CANARY_NODES_MAX);
  }
  const count = nodesRoundedUp(canary.share, baseNodes) + addedCount;
  return chooseSpread(input, { able, count, before });
}

/** So many nodes of those that are able, with the ones that were chosen before; spread as the policy says. */
export function chooseSpread(
  { policy: { canary }, rolloutId }: StagesInput,
  from: {
    readonly able: readonly StageNode[];
    readonly count: number;
    readonly before: readonly NodeName[];
  },
): readonly NodeName[] {
  return chooseCanary({
    nodes: from.able.map(({ node }) => node),
    count: Math.min(from.count, CANARY_NODES_MAX),
    before: from.before,
    spread: canary.kind === 'selector' ? SPREAD_DEFAULT : canary.spread,
    seed: rolloutId,
    cordoned: 'last',
  });
}
