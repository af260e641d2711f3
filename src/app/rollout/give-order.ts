/**
 * Carries out an operator's order: an edit of the state by compare-and-set, then a hint.
 *
 * A run in flight loses its write, and has sent nothing by then (issue 17: a halt halts within one batch). The memo goes
 * with the edit, else the run that the hint starts would find nothing new and skip. The hint is sent also where the order
 * stood already: whoever gave it may have died in between, and one look too many is harmless. A bound on the tries; what
 * loses them all has changed nothing.
 */
import { hintFor } from '../../core/model/hint.ts';
import { confirmShrink } from '../../core/interlock/confirm-shrink.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { OrderNote } from '../../core/model/rollout-record.ts';
import type { DaemonSetState } from '../../core/model/state.ts';
import { applyOrder } from '../../core/stages/order-nodes.ts';
import { orderNote } from '../../core/rollout/orders.ts';
import type { RolloutOrder } from '../../core/rollout/orders.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { HintQueue } from '../../ports/queues/queue.ts';
import type { StateStore } from '../../ports/stores/view-store.ts';
import { chooseOrder } from './choose-order.ts';
import type { OrderAsk } from './choose-order.ts';
import { findRollout } from './find-rollout.ts';
import type { FindSources, FoundRollout } from './find-rollout.ts';
import { refuse } from './refusals.ts';
import type { RolloutRefusal } from './refusals.ts';

/** Beside a run that writes once or twice a second. */
export const STATE_WRITES_MAX = 12;

/** What giving an order needs. */
export interface OrderDependencies extends FindSources {
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
}

/** What came of it. */
export type OrderOutcome =
  | { readonly kind: 'given' }
  /** It stood so already, by that note where it has one. */
  | { readonly kind: 'unchanged'; readonly since?: OrderNote }
  | RolloutRefusal;

/** What an edit makes of a state. */
export type StateEdit =
  | { readonly kind: 'changed'; readonly state: DaemonSetState }
  | Exclude<OrderOutcome, { readonly kind: 'given' }>;

/** Gives the order. Rejects when a table or the queue fails; repeating it is harmless. */
export async function giveOrder(
  { key, by, ask, isSure = false }: OrderRequest,
  dependencies: OrderDependencies,
): Promise<OrderOutcome> {
  const nowMs = dependencies.clock.nowMs();
  const note = orderNote(by, nowMs);
  const first = await findRollout(key, dependencies);
  if (first.kind === 'refused') return first;
  if (ask.kind === 'confirm') {
    const token = heldToken(first);
    return changeState(first, (found) => editByConfirmation(found, token, note), dependencies);
  }
  const order = chooseOrder(first, ask, { nowMs, isSure });
  if (order.kind === 'refused') return order;
  const outcome = await changeState(
    first,
    (found) => editByOrder(found, order, note),
    dependencies,
  );
  const isForPerson = order.kind === 'undo' && order.via === 'template';
  if (outcome.kind === 'refused' || ask.kind !== 'undo' || !isForPerson) return outcome;
  const command = await ask.command(first);
  return refuse('no-right', key, command === undefined ? undefined : `Go back with: ${command}`);
}

function editByOrder(
  { key, basis: { state } }: FoundRollout,
  order: RolloutOrder,
  note: OrderNote,
): StateEdit {
  if (state?.rollout === undefined) return refuse('changed', key);
  const result = applyOrder(state.rollout, order, note);
  if (result.kind === 'refused') return refuse(result.code, key);
  if (result.kind === 'unchanged') return result;
  return { kind: 'changed', state: { ...state, rollout: result.record } };
}

/** Of the shrink that the interlock holds; undefined where it holds none, and where it only tells of one. */
function heldToken({ basis }: FoundRollout): string | undefined {
  if (basis.registration.mode !== 'takeover') return undefined;
  return basis.state?.shrink?.held?.token;
}

/** Confirms the shrink that was held at the first look, and no other. */
function editByConfirmation(
  found: FoundRollout,
  token: string | undefined,
  note: OrderNote,
): StateEdit {
  const { key, basis } = found;
  const { state } = basis;
  if (state === undefined || token === undefined) return refuse('nothing-held', key);
  if (heldToken(found) !== token) return refuse('changed', key);
  const given = state.shrink?.order;
  if (given?.token === token) return { kind: 'unchanged', since: given };
  return { kind: 'changed', state: confirmShrink(state, note) };
}

async function changeState(
  first: FoundRollout,
  edit: (found: FoundRollout) => StateEdit,
  dependencies: OrderDependencies,
): Promise<OrderOutcome> {
  let found: FoundRollout | RolloutRefusal = first;
  for (let tries = 0; tries < STATE_WRITES_MAX; tries += 1) {
    if (found.kind === 'refused') return found;
    const edited = edit(found);
    if (edited.kind === 'refused') return edited;
    const isWritten =
      edited.kind === 'unchanged' || (await write(found, edited.state, dependencies));
    if (isWritten) {
      await wake(found, dependencies);
      return edited.kind === 'unchanged' ? edited : { kind: 'given' };
    }
    found = await findRollout(first.key, dependencies);
  }
  return refuse('busy', first.key);
}

async function write(
  { basis }: FoundRollout,
  state: DaemonSetState,
  { view }: OrderDependencies,
): Promise<boolean> {
  const { memo: _void, ...rest } = state;
  return (await view.writeState(basis.ref, rest)) === 'written';
}

/** One look at this DaemonSet. */
async function wake(
  { key, basis }: FoundRollout,
  { hints, random }: OrderDependencies,
): Promise<void> {
  const hint = hintFor(basis.registration, key, 'manual');
  await hints.sendHints([hint], `manual/${random.uniqueId()}/`);
}
