/**
 * The way back: which nodes are to run the former revision, which run ahead of it, and which
 * releases are good.
 *
 * Nodes are given the former revision only where Rollcall makes the pods. While a revision is
 * unproven, a node outside of open steps that joins, is replaced or loses its pod gets the former
 * one, and one that got ahead is put back. Once the canary proved it, new pods are of the revision
 * itself, and nodes are put back only where the partition was raised. A pod of the revision from
 * before the rollout is put back by neither. After a breach with `onHalt: rollback` all nodes go
 * back.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { PodProjection } from '../model/projections.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { Gate, StepsEnd } from '../model/staged-progress.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import { keptNodesOf } from '../policy/share.ts';
import { noteGood } from '../rollout/good-releases.ts';
import { unprovenBefore } from '../rollout/known-bad.ts';
import { nameOf, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';
import { findSteps, groupNodes } from './steps.ts';

const NONE: ReadonlySet<string> = new Set();

/** Nodes whose pods are, or are to be, of the former revision. */
export function findFormer(record: RolloutRecord, input: StagesInput): ReadonlySet<NodeName> {
  const { nodes, isStageTrue } = input;
  if (!isStageTrue || record.isReturn || record.former === undefined) return new Set();
  if (isRollingBack(record, input)) return new Set(nodes.map(nameOf));
  const excluded = nodes.filter(({ isExcluded }) => isExcluded);
  const beyond = beyondPartition(record, input);
  if (record.proven?.hash === record.hash) return new Set([...excluded, ...beyond].map(nameOf));
  const open = new Set(findSteps(record, input).open.map(nameOf));
  const outside = nodes.filter((node) => !open.has(nameOf(node)));
  return new Set([...outside, ...beyond].map(nameOf));
}

/**
 * A release is good once every step that its policy lets open was opened and soaked; where it was not staged, once its pods are
 * available, and a first one once it is the baseline. A return is over then, and is watched no more.
 */
export function withGood(
  record: RolloutRecord,
  gate: Gate,
  { nodes, nowMs }: StagesInput,
): RolloutRecord {
  const { id, hash, proven, step, isReturn, returnedAtMs } = record;
  if (gate.kind !== 'done' || step.kind === 'waiting') return record;
  if (!isShown(record, gate, nodes)) return record;
  const isBaseline = proven?.hash === hash && proven.isBaseline;
  const good = noteGood(record.good, { id, hash, goodAtMs: nowMs, isBaseline });
  const isOver = isReturn && returnedAtMs === undefined;
  if (good === record.good && !isOver) return record;
  return { ...record, good, ...(isOver ? { returnedAtMs: nowMs } : {}) };
}

/** Nothing is gone back to before it ran: of what no step held back all pods are available, and something is proven. */
function isShown(
  { triedAtMs, proven }: RolloutRecord,
  { unwellNodes }: Pick<Partial<StepsEnd>, 'unwellNodes'>,
  nodes: readonly StageNode[],
): boolean {
  if (triedAtMs !== undefined) return true;
  const runs = nodes.some(({ updated }) => updated !== undefined);
  return runs && unwellNodes === 0 && proven !== undefined;
}

/** Nodes that joined after the release that returns was left. */
export function neverRanOn(
  { good, id }: RolloutRecord,
  nodes: readonly StageNode[],
): ReadonlySet<NodeName> {
  const leftAtMs = good.find((each) => each.id === id)?.leftAtMs ?? Infinity;
  return new Set(nodes.filter(({ node }) => (node.createdAtMs ?? 0) > leftAtMs).map(nameOf));
}

/** True while a breach, or an operator, sends all nodes back. */
export function isRollingBack(
  record: Pick<RolloutRecord, 'breach' | 'former' | 'orders'>,
  { policy, isStageTrue }: Pick<StagesInput, 'policy' | 'isStageTrue'>,
): boolean {
  const { breach, former, orders } = record;
  if (!isStageTrue || former === undefined) return false;
  const isAsked = breach !== undefined && policy.onHalt === 'rollback';
  return isAsked || orders.undo?.to === former.hash;
}

/**
 * Nodes that are to be put back: they run the revision, and should run the former one. In a rollback also those with a pod of a
 * third one that nothing proved: one that was halted before, or edited away on its canary.
 */
export function findAhead(
  at: {
    readonly record: RolloutRecord;
    readonly former: ReadonlySet<NodeName>;
  },
  input: StagesInput,
): readonly StageNode[] {
  const { record, former } = at;
  const isAll = isRollingBack(record, input);
  // A halt that asks for no rollback leaves everything as it is.
  if (record.breach !== undefined && !isAll) return [];
  const unproven = isAll ? unprovenBefore(record) : NONE;
  const ahead = input.nodes.filter((each) => {
    const { updated, old, isExcluded } = each;
    if (isExcluded || !former.has(nameOf(each))) return false;
    if (updated === undefined) return unproven.has((old && revisionHashOfPod(old)) ?? '');
    return isAll || isMadeSince(updated, record);
  });
  // As with the first canary: where an admission policy lets in today's template alone, one node is lost, and no more.
  if (input.nodes.some((node) => isMadeFormer(node, record))) return ahead;
  const isTried = input.nodes.some((node) => former.has(nameOf(node)) && isMissing(node, record));
  return isTried ? [] : ahead.slice(0, 1);
}

/**
 * True for a pod of the revision that was made during this rollout. One from before is no part of
 * it: a policy that is first seen half-way finds such pods, and to put them back would replace each
 * of them twice (row 56).
 */
function isMadeSince({ createdAtMs }: PodProjection, { startedAtMs }: RolloutRecord): boolean {
  return createdAtMs >= startedAtMs;
}

/** A pod of the former revision that was made during this rollout: then the API server lets others in as well. */
function isMadeFormer({ old }: StageNode, { former, startedAtMs }: RolloutRecord): boolean {
  if (old === undefined || former === undefined || old.createdAtMs < startedAtMs) return false;
  return revisionHashOfPod(old) === former.hash;
}

function isMissing(
  { isMoving, updated, emptySinceMs }: StageNode,
  { startedAtMs }: RolloutRecord,
): boolean {
  return isMoving && updated === undefined && (emptySinceMs ?? startedAtMs) >= startedAtMs;
}

/**
 * Nodes beyond what the partition lets be updated: the last ones of the order, the canary last of all; and, where the rest
 * is used up, every node that is not updated, so that one that is put back is not made anew of the revision.
 */
function beyondPartition(
  record: RolloutRecord,
  { policy, nodes }: StagesInput,
): readonly StageNode[] {
  if (policy.partition === undefined) return [];
  const kept = keptNodesOf(policy.partition, { then: record.baseNodes, now: nodes.length });
  const updated = nodes.filter(({ updated: pod }) => pod !== undefined);
  const allowed = Math.max(0, nodes.length - kept);
  if (updated.length < allowed) return [];
  const canary = new Set(record.canary);
  const ordered = groupNodes(updated, policy.order).flatMap((group) => group.nodes);
  const first = ordered.filter((node) => canary.has(nameOf(node)));
  const others = ordered.filter((node) => !canary.has(nameOf(node)));
  const rest = nodes.filter(({ updated: pod }) => pod === undefined);
  return [...[...first, ...others].slice(allowed), ...rest];
}

/**
 * Nodes that run the new revision though their step is not open, in the order of the view (copilot).
 * The built-in controller makes every pod of the newest template, so a node that joins, is drained or loses its pod is ahead
 * of its stage. They are watched as canaries are (find-breach.ts judges every updated pod); here they are only named, for people.
 */
export function findStrays(
  record: RolloutRecord,
  input: Pick<StagesInput, 'nodes' | 'policy'>,
): readonly NodeName[] {
  const { nodes } = input;
  if (record.step.kind === 'done' || record.isReturn) return [];
  const open = new Set(findSteps(record, input).open.map(nameOf));
  return nodes.filter((node) => node.updated !== undefined && !open.has(nameOf(node))).map(nameOf);
}
