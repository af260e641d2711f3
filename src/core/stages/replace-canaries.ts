/**
 * The canary nodes that have had their turn, as they stand: which count, which were lost, and who
 * goes in their place. A step opens only on nodes that are still Ready. Another node is chosen in
 * another zone or pool where there is one, of a selector only its own. Where none is left the step
 * waits for a person; with an attributed budget those that are left are enough.
 */
import { defined } from '@rollcall/base/defined.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { SETTLED_MS, addedNodes, isSettled, lossesToReplace, noteLosses } from './canary-losses.ts';
import type { LossMoment } from './canary-losses.ts';
import { stratumOf } from '../health/canary-spread.ts';
import type { NodeName } from '../model/identifiers.ts';
import { nodesRoundedUp } from '../policy/share.ts';
import type { CanaryLoss, RolloutRecord } from '../model/rollout-record.ts';
import { CANARY_NODES_MAX, chooseSpread, isUpAndOpen } from './canary.ts';
import { excusedNodesMax } from './excused.ts';
import { evidenceNodes } from './observe.ts';
import { isPending, nameOf, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';
import { canaryOfNow } from './steps.ts';

export interface CanaryStanding {
  /** Those that are not Ready. */
  readonly lost: ReadonlySet<NodeName>;
  /** Those that are Ready and would get no pod now (`keptNodes`): they count as all others. */
  readonly kept: readonly StageNode[];
  /** How many more nodes have to show something in the place of lost ones. */
  readonly missing: number;
  /** When another one is added; absent: none is missing, or none can be. */
  readonly addsAtMs?: number;
}

/** How the canary stands; of any other step nothing is lost. */
export function standingOf(record: RolloutRecord, input: StagesInput): CanaryStanding {
  const begun = begunOn(record, input);
  const lost = new Set(begun.filter(({ node }) => !node.isReady).map(nameOf));
  const kept = begun.filter((each) => each.node.isReady && input.keptNodes?.includes(each));
  if (lost.size === 0) return { lost, kept, missing: 0 };
  const wanted = wantedOf(record, input);
  const standing = begun.length - lost.size;
  const missing = Math.min(lost.size, Math.max(0, wanted - standing));
  const addsAtMs = missing === 0 ? undefined : nextAddMs(record, input);
  const isSpared =
    input.policy.budget === 'attributed' &&
    standing > 0 &&
    lost.size <= excusedNodesMax({ then: record.baseNodes, now: input.nodes.length }) &&
    addsAtMs === undefined &&
    !isAnyComing(record, input);
  return { lost, kept, missing: isSpared ? 0 : missing, ...defined({ addsAtMs }) };
}

function begunOn({ step, canary }: RolloutRecord, input: StagesInput): readonly StageNode[] {
  if (step.kind !== 'canary') return [];
  const names = new Set(canary);
  return evidenceNodes(input).filter(
    (node) => names.has(nameOf(node)) && !isPending(node) && !node.isExcluded,
  );
}

/** When the first loss of now is replaced. */
function nextAddMs(record: RolloutRecord, input: StagesInput): number | undefined {
  const moment = momentOf(record, input);
  const due = lossesDue(record, input).filter((loss) => !isSettled(loss, moment));
  if (due.length === 0 || freeNodes(record, input).length === 0) return undefined;
  return Math.min(...due.map(({ atMs }) => atMs)) + SETTLED_MS;
}

function isAnyComing({ losses }: RolloutRecord, { nodes }: StagesInput): boolean {
  const added = addedNodes(losses);
  return nodes.some((node) => added.has(nameOf(node)) && isPending(node));
}

export function withLosses(record: RolloutRecord, input: StagesInput): RolloutRecord {
  const { step, canary, losses: known = [], trial } = record;
  if (step.kind !== 'canary' || !input.isViewFresh) return record;
  const seen = begunOn(record, input).map((each) => ({
    name: nameOf(each),
    stratum: stratumOf(each.node),
    isLost: !each.node.isReady,
  }));
  const { nowMs } = input;
  const losses = noteLosses(known, { seen, canary, failures: trial.failures, nowMs });
  return losses.length === 0 ? record : { ...record, losses };
}

/** The canary with nodes in the place of those that are lost; the same record where none is to be added, or can be. */
export function withReplacements(record: RolloutRecord, input: StagesInput): RolloutRecord {
  const { breach, orders, step, losses = [], canary } = record;
  const isHeld = input.policy.isPaused || orders.paused !== undefined || orders.undo !== undefined;
  if (step.kind !== 'canary' || breach !== undefined || isHeld || !input.isViewFresh) return record;
  const moment = momentOf(record, input);
  const due = lossesDue(record, input).filter((loss) => isSettled(loss, moment));
  const added = due.length === 0 ? [] : chooseMore(record, input, due.length);
  if (added.length === 0) return record;
  const places = new Map(due.map(({ node }, index) => [node, added[index]]));
  return {
    ...record,
    canary: [...canary, ...added],
    losses: losses.map((loss) => ({
      ...loss,
      ...defined({ added: loss.added ?? places.get(loss.node) }),
    })),
  };
}

function chooseMore(record: RolloutRecord, input: StagesInput, count: number): readonly NodeName[] {
  const free = freeNodes(record, input);
  const lost = begunOn(record, input).filter(({ node }) => !node.isReady);
  const struck = new Set(lost.map(({ node }) => stratumOf(node)));
  const elsewhere = free.filter(({ node }) => !struck.has(stratumOf(node)));
  const names = new Set(record.canary);
  const present = evidenceNodes(input).filter((node) => names.has(nameOf(node)));
  return chooseSpread(input, {
    able: [...present, ...(elsewhere.length === 0 ? free : elsewhere)],
    count: present.length + count,
    before: present.map(nameOf),
  }).filter((name) => !names.has(name));
}

/**
 * Losses in whose place a node is to go, now or once they are settled: a canary doubles at most. For one that was made wider than
 * the policy says, on nodes that a halted revision left broken, no node stands in while enough others are left.
 */
function lossesDue(record: RolloutRecord, input: StagesInput): readonly CanaryLoss[] {
  const { losses = [] } = record;
  const wanted = wantedOf(record, input);
  const mostAdded = Math.min(wanted, CANARY_NODES_MAX - wanted);
  const due = lossesToReplace(losses, { ...momentOf(record, input), mostAdded });
  const lost = begunOn(record, input).filter(({ node }) => !node.isReady);
  const left = canaryOfNow(record, input).length - lost.length;
  return due.slice(0, Math.max(0, wanted - left));
}

function wantedOf({ canary, losses, baseNodes }: RolloutRecord, { policy }: StagesInput): number {
  const chosen = canary.length - addedNodes(losses).size;
  if (policy.canary.kind === 'selector') return chosen;
  return Math.min(chosen, nodesRoundedUp(policy.canary.share, baseNodes));
}

function freeNodes(
  { canary }: RolloutRecord,
  { nodes, policy }: StagesInput,
): readonly StageNode[] {
  const names = new Set(canary);
  const selector =
    policy.canary.kind === 'selector' ? compileSelector(policy.canary.selector) : undefined;
  return nodes.filter(
    (each) =>
      isUpAndOpen(each) &&
      !names.has(nameOf(each)) &&
      selector?.matches(each.node.labels) !== false,
  );
}

/** When it is, and when a breach was overruled last. */
export function momentOf({ orders }: RolloutRecord, { nowMs }: StagesInput): LossMoment {
  return { nowMs, ...defined({ resumedAtMs: orders.resumed?.atMs }) };
}
