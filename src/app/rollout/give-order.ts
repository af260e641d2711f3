/**
 * An operator's order to the nodes of one cluster, or the confirmation of a removal that is held
 * (app/orders).
 *
 * The memo goes with the edit, else the run that the hint starts would find nothing new and skip.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { confirmRemoval } from '../../core/removal-guard/confirm-removal.ts';
import { loggedText, withEntries } from '../../core/log/append-log.ts';
import { hintFor } from '../../core/model/hint.ts';
import { formatKey, type DaemonSetKey } from '../../core/model/identifiers.ts';
import type { OrderEntry } from '../../core/model/log-entry.ts';
import type { OrderNote, RolloutRecord } from '../../core/model/rollout-record.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import { toldObject } from '../../core/model/view-items.ts';
import { awaitedApproval, needsApproval } from '../../core/rollout/approval.ts';
import { gateOf } from '../../core/rollout/recorded-gate.ts';
import { wayBackOf } from '../../core/rollout/good-releases.ts';
import { orderNote, type OrderResult, type RolloutOrder } from '../../core/rollout/orders.ts';
import { applyOrder } from '../../core/stages/apply-order.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { StateStore } from '../../ports/stores/view-store.ts';
import { describeHold, type HoldingFleet } from '../fleet/rollout/holding-fleet.ts';
import { findRollout, type FindSources, type FoundRollout } from './find-rollout.ts';
import { giveTo, keepOrder } from '../orders/keep-order.ts';
import type { OrderAsk, OrderHome, OrderOutcome, Seen } from '../orders/keep-order.ts';
import { refuse, subjectOf, type RolloutRefusal } from './refusals.ts';

interface OrderDependencies extends FindSources {
  readonly view: FindSources['view'] & Pick<StateStore, 'writeState'>;
  readonly hints: Pick<HintQueue, 'sendHints'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Pick<Random, 'uniqueId'>;
}

/** Who orders what. */
export interface OrderRequest {
  readonly key: DaemonSetKey;
  readonly by: string;
  readonly ask: OrderAsk | { readonly kind: 'confirm' };
  /** Also where a fleet holds it (`--yes`). */
  readonly isSure?: boolean;
  /** How a person goes back, where Rollcall may not; undefined: it is not known. */
  readonly undoCommand?: (found: FoundRollout) => Promise<string | undefined>;
}

type NodesHome = OrderHome<FoundRollout, DaemonSetState, RolloutRefusal>;

/** Gives the order. Rejects when a table or the queue fails; repeating it is harmless. */
export async function giveOrder(
  { key, by, ask, isSure = false, undoCommand }: OrderRequest,
  dependencies: OrderDependencies,
): Promise<OrderOutcome<RolloutRefusal>> {
  const nowMs = dependencies.clock.nowMs();
  const note = orderNote(by, nowMs);
  const home = homeOf(key, { nowMs, isSure }, dependencies);
  if (ask.kind === 'confirm') return confirm(home, note);
  if (ask.kind !== 'undo') return giveTo(home, ask, note);
  const finish: NodesHome['finish'] = async (found, outcome) => {
    await home.finish(found, outcome);
    return isForPerson(found) ? leaveToPerson(key, await undoCommand?.(found)) : outcome;
  };
  return giveTo({ ...home, finish }, ask, note);
}

function leaveToPerson(key: DaemonSetKey, command: string | undefined): RolloutRefusal {
  return refuse('no-right', key, command === undefined ? undefined : `Go back with: ${command}`);
}

/** In takeover nodes can be given another revision than the template's; elsewhere the template is a person's. */
function isForPerson({ stored }: FoundRollout): boolean {
  return stored.registration.mode !== 'takeover';
}

function homeOf(
  key: DaemonSetKey,
  asked: { readonly nowMs: number; readonly isSure: boolean },
  dependencies: OrderDependencies,
): NodesHome {
  const { view, hints, random } = dependencies;
  return {
    subject: subjectOf(key),
    find: () => findRollout(key, dependencies),
    see: (found, ask) => see(found, ask, asked),
    apply: (found, order, note) => {
      const isByTemplate = order.kind === 'undo' && isForPerson(found);
      return edit(found, isByTemplate ? { ...order, via: 'template' } : order, note);
    },
    write: async ({ stored }, state) => {
      const { memo: _void, ...rest } = state;
      return (await view.writeState(stored.ref, rest)) === 'written';
    },
    finish: async ({ stored }, outcome) => {
      const hint = hintFor(stored.registration, key, 'manual');
      await hints.sendHints([hint], `manual/${random.uniqueId()}/`);
      return outcome;
    },
  };
}

function edit(
  { stored: { state } }: FoundRollout,
  order: RolloutOrder,
  note: OrderNote,
): OrderResult<DaemonSetState> {
  if (state?.rollout === undefined) return { kind: 'refused', code: 'changed' };
  const result = applyOrder(state.rollout, order, note);
  if (result.kind !== 'changed') return result;
  const entry = orderEntry(order, note);
  return {
    kind: 'changed',
    record: withEntries({ ...state, rollout: result.record }, [entry]),
  };
}

/** Who ordered what, in the write of the order. */
function orderEntry(order: RolloutOrder, { by, atMs }: OrderNote): OrderEntry {
  const step = order.kind === 'approve' ? order.stepIndex : undefined;
  const why =
    order.kind === 'resume' && order.why !== undefined ? loggedText(order.why) : undefined;
  return { kind: 'order', order: order.kind, atMs, by, ...defined({ step, why }) };
}

function see(
  found: FoundRollout,
  ask: OrderAsk,
  { nowMs, isSure }: { readonly nowMs: number; readonly isSure: boolean },
): Seen | RolloutRefusal | RolloutOrder {
  const { key, stored, policy, fleet } = found;
  if (stored.registration.mode === 'observe') return refuse('observed', key);
  // Of an object without even an outline the policy is not known, and its record stands all the same.
  const hasNone = policy.kind === 'none' && toldObject(stored.daemonSet) !== null;
  if (hasNone) return refuse('no-policy', key);
  const record = stored.state?.rollout;
  if (record === undefined) return refuse('no-rollout', key);
  if (ask.kind === 'pause') return { kind: 'pause' };
  if (fleet?.isPartial === true && !isSure) return refuseHeld(key, fleet);
  if (ask.kind === 'resume' && isHeldByPolicyAlone(found, record)) {
    return refuse('paused-by-policy', key);
  }
  return seenOf(found, record, nowMs);
}

/** What is opened, lifted or taken back there is the fleet's to say. */
function refuseHeld(key: DaemonSetKey, fleet: HoldingFleet): RolloutRefusal {
  const message = `The rollout of ${formatKey(key)} is ${describeHold(fleet)}. Nothing was changed.`;
  const remedy = `Give the order there: ${fleet.command}. To give it in this cluster all the same: --yes`;
  return { ...refuse('held-by-fleet', key, remedy), message };
}

function isHeldByPolicyAlone({ policy }: FoundRollout, { breach, orders }: RolloutRecord): boolean {
  const isHeld = breach !== undefined || orders.paused !== undefined || orders.undo !== undefined;
  return !isHeld && policy.kind === 'policy' && policy.policy.isPaused;
}

function seenOf({ key, policy }: FoundRollout, record: RolloutRecord, nowMs: number): Seen {
  const { hash, breach, orders, proven, step } = record;
  const approval = policy.kind === 'policy' ? policy.policy.approval : undefined;
  const gate = gateOf({ record, policy, nowMs });
  const next = approval && awaitedApproval(record, approval);
  const { cluster, namespace, name } = key;
  const remedy =
    next === undefined
      ? undefined
      : `Step ${String(next)} will need it after its soak. To approve it ahead: rollcall rollout approve ${cluster} ${namespace}/${name} --step ${String(next)}`;
  return {
    kind: 'seen',
    release: hash,
    breach,
    orders,
    back: wayBackOf(record)?.hash,
    hasProven: proven !== undefined,
    waiting: gate.kind === 'approval' ? gate.stepIndex : undefined,
    openStep: step.index,
    isAsked: (stepIndex) => approval !== undefined && needsApproval(approval, stepIndex),
    ...defined({ remedy }),
  };
}

/** Confirms the mass removal that was held at the first look, and no other. */
async function confirm(home: NodesHome, note: OrderNote): Promise<OrderOutcome<RolloutRefusal>> {
  const first = await home.find();
  if (first.kind === 'refused') return first;
  const token = heldToken(first);
  if (token === undefined) return refuse('nothing-held', first.key);
  return keepOrder<FoundRollout, DaemonSetState, RolloutRefusal>(home, first, (found) => {
    const { state } = found.stored;
    if (state === undefined || heldToken(found) !== token) {
      return { kind: 'refused', code: 'changed' };
    }
    const given = state.shrink?.order;
    if (given?.token === token) return { kind: 'unchanged', since: given };
    const entry = { kind: 'order', order: 'confirm', ...note } as const;
    return { kind: 'changed', record: withEntries(confirmRemoval(state, note), [entry]) };
  });
}

/** Of the mass removal that the removal guard holds; undefined where it holds none, and where it only tells of one. */
function heldToken({ stored }: FoundRollout): string | undefined {
  if (stored.registration.mode !== 'takeover') return undefined;
  return stored.state?.shrink?.held?.token;
}
