/**
 * From what an operator asks for to an order that names what was seen (core/rollout/orders.ts): once, by the first look.
 *
 * Who asks for approval without a step means the one that waits: its soak is over, so two people who approve one after
 * the other never approve two steps. Approving ahead of the soak is possible by naming the next step.
 */
import { toldObject } from '../../core/model/view-items.ts';
import { defined } from '@rollcall/base/defined.ts';
import { describeHalt } from '../../core/rollout/gate-words.ts';
import { gateOf } from '../../core/rollout/gate.ts';
import { awaitedApproval, needsApproval } from '../../core/rollout/approval.ts';
import type { RolloutRecord } from '../../core/model/rollout-record.ts';
import { wayBackOf } from '../../core/rollout/good-releases.ts';
import type { RolloutOrder } from '../../core/rollout/orders.ts';
import { formatKey } from '../../core/model/identifiers.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import { describeHold } from '../fleet/rollout/holding-fleet.ts';
import type { HoldingFleet } from '../fleet/rollout/holding-fleet.ts';
import type { FoundRollout } from './find-rollout.ts';
import { refuse } from './refusals.ts';
import type { RolloutRefusal } from './refusals.ts';

/** What somebody asks for. */
export type OrderAsk =
  | { readonly kind: 'pause' }
  /** `overrules`: a halt too, and why. */
  | { readonly kind: 'resume'; readonly overrules?: string }
  /** Absent: the step that waits. */
  | { readonly kind: 'approve'; readonly stepIndex?: number }
  /** `command`: how a person goes back, where Rollcall may not. */
  | { readonly kind: 'undo'; readonly command: UndoCommand };

/** The command for what was found; undefined: it is not known. */
export type UndoCommand = (found: FoundRollout) => Promise<string | undefined>;

/** The order, or why there is none. */
export function chooseOrder(
  found: FoundRollout,
  ask: OrderAsk,
  { nowMs, isSure }: { readonly nowMs: number; readonly isSure: boolean },
): RolloutOrder | RolloutRefusal {
  const { key, basis, policy, fleet } = found;
  if (basis.registration.mode === 'observe') return refuse('observed', key);
  // Of an object without even an outline the policy is not known, and its record stands all the same.
  const hasNone = policy.kind === 'none' && toldObject(basis.daemonSet) !== null;
  if (hasNone) return refuse('no-policy', key);
  const record = basis.state?.rollout;
  if (record === undefined) return refuse('no-rollout', key);
  if (ask.kind === 'pause') return { kind: 'pause' };
  if (fleet?.isPartial === true && !isSure) return refuseHeld(key, fleet);
  if (ask.kind === 'resume') return chooseResume(found, record, ask.overrules);
  if (ask.kind === 'undo') return chooseUndo(found, record);
  return chooseApproval(found, record, { stepIndex: ask.stepIndex, nowMs });
}

/** What is opened, lifted or taken back there is the fleet's to say. */
function refuseHeld(key: DaemonSetKey, fleet: HoldingFleet): RolloutRefusal {
  const message = `The rollout of ${formatKey(key)} is ${describeHold(fleet)}. Nothing was changed.`;
  const remedy = `Give the order there: ${fleet.command}. To give it in this cluster all the same: --yes`;
  return { ...refuse('held-by-fleet', key, remedy), message };
}

function chooseResume(
  { key, policy }: FoundRollout,
  { hash, breach, orders }: RolloutRecord,
  why: string | undefined,
): RolloutOrder | RolloutRefusal {
  const isHeld = breach !== undefined || orders.paused !== undefined || orders.undo !== undefined;
  const isOfPolicy = policy.kind === 'policy' && policy.policy.isPaused;
  if (!isHeld && isOfPolicy) return refuse('paused-by-policy', key);
  if (breach !== undefined && why === undefined) {
    const { cluster, namespace, name } = key;
    const command = `rollcall rollout resume ${cluster} ${namespace}/${name} --why '…' --yes`;
    return refuse('overrules', key, `${describeHalt(breach)}. If that is known: ${command}`);
  }
  return { kind: 'resume', release: hash, ...defined({ breachAtMs: breach?.atMs, why }) };
}

/** In takeover nodes can be given another revision than the template's; elsewhere the template is a person's. */
function chooseUndo(
  { key, basis }: FoundRollout,
  record: RolloutRecord,
): RolloutOrder | RolloutRefusal {
  const { hash, proven } = record;
  const back = wayBackOf(record);
  if (back === undefined) {
    return refuse(proven === undefined ? 'nothing-proven' : 'runs-proven', key);
  }
  const undo = { kind: 'undo', release: hash, to: back.hash } as const;
  return basis.registration.mode === 'takeover' ? undo : { ...undo, via: 'template' };
}

function chooseApproval(
  { key, policy }: FoundRollout,
  record: RolloutRecord,
  asked: { readonly stepIndex: number | undefined; readonly nowMs: number },
): RolloutOrder | RolloutRefusal {
  const { hash, orders } = record;
  const { stepIndex, nowMs } = asked;
  if (stepIndex !== undefined) {
    const isAsked = policy.kind === 'policy' && needsApproval(policy.policy.approval, stepIndex);
    return isAsked ? { kind: 'approve', release: hash, stepIndex } : refuse('nothing-waits', key);
  }
  const gate = gateOf({ record, policy, nowMs });
  if (gate.kind === 'approval')
    return { kind: 'approve', release: hash, stepIndex: gate.stepIndex };
  if (gate.kind === 'breach' || gate.kind === 'returning') return refuse('halted', key);
  // Approved, and not opened yet: the other one of two operators was a moment faster.
  const isApproved = orders.approved !== undefined && orders.approved.stepIndex > record.step.index;
  if (isApproved) return { kind: 'approve', release: hash, stepIndex: orders.approved.stepIndex };
  const next =
    policy.kind === 'policy' ? awaitedApproval(record, policy.policy.approval) : undefined;
  if (next === undefined) return refuse('nothing-waits', key);
  const { cluster, namespace, name } = key;
  const remedy = `Step ${String(next)} will need it after its soak. To approve it ahead: rollcall rollout approve ${cluster} ${namespace}/${name} --step ${String(next)}`;
  return refuse('nothing-waits', key, remedy);
}
