/**
 * Gives an operator's order to a rollout, of nodes or of clusters: find, choose once, write by
 * compare-and-set, finish.
 *
 * The order names what was seen at the first look (core/rollout/orders.ts), and is applied to
 * whatever is found when others were faster. Whoever acts meanwhile loses its write, and has sent
 * nothing by then. An order that stood already is finished, too: whoever gave it may have died in
 * between. What loses all tries has changed nothing.
 */
import { describeHalt, type HaltNote } from '../../core/rollout/gate-words.ts';
import type { OrderNote } from '../../core/model/rollout-record.ts';
import { resumeOf } from '../../core/rollout/orders.ts';
import type { OrderResult, OrderStands, Ordered, RolloutOrder } from '../../core/rollout/orders.ts';
import { refuseOrder, type OrderRefusal, type OrderSubject } from './order-refusals.ts';

/** Beside runs and steps that write once or twice a second, and other operators. */
export const ORDER_WRITES_MAX = 12;

/** An operator's request. */
export type OrderAsk =
  | { readonly kind: 'pause' | 'undo' }
  /** `overrules`: a halt too, and why. */
  | { readonly kind: 'resume'; readonly overrules?: string }
  /** Absent: the step that waits. */
  | { readonly kind: 'approve'; readonly stepIndex?: number };

/** What the first look shows. */
export interface Seen extends Pick<Ordered<OrderNote, OrderNote>, 'release' | 'orders' | 'back'> {
  readonly kind: 'seen';
  readonly breach: HaltNote | undefined;
  /** False: no release is known to be good. */
  readonly hasProven: boolean;
  /** The step that waits for approval now. */
  readonly waiting: number | undefined;
  /** The newest that opened. */
  readonly openStep: number;
  /** True where this step opens by approval alone. */
  readonly isAsked: (stepIndex: number) => boolean;
  /** What to do where nothing waits, where more is known than to look again. */
  readonly remedy?: string;
}

/** Where an order is given. */
export interface OrderHome<Found extends { readonly kind: 'found' }, Stored, Refused> {
  readonly subject: OrderSubject;
  readonly find: () => Promise<Found | Refused>;
  /** What an order other than a pause is chosen by. */
  readonly see: (found: Found, ask: OrderAsk) => Seen | Refused | RolloutOrder;
  readonly apply: (found: Found, order: RolloutOrder, note: OrderNote) => OrderResult<Stored>;
  /** By compare-and-set; false: others were faster. */
  readonly write: (found: Found, stored: Stored) => Promise<boolean>;
  /** Has what acts look at once, where something has to; and may leave the rest of an order to a person. */
  readonly finish: (found: Found, outcome: OrderGiven) => Promise<OrderGiven | Refused>;
}

/** It stands: from now on, or already. */
export type OrderGiven = { readonly kind: 'given' } | OrderStands;

/** What came of it. */
export type OrderOutcome<Refused> = OrderGiven | Refused | OrderRefusal;

type Refusing = { readonly kind: 'refused' };

/** Gives the order. Rejects when a table or the queue fails; repeating it is harmless. */
export async function giveTo<
  Found extends { readonly kind: 'found' },
  Stored,
  Refused extends Refusing,
>(
  home: OrderHome<Found, Stored, Refused>,
  ask: OrderAsk,
  note: OrderNote,
): Promise<OrderOutcome<Refused>> {
  const first = await home.find();
  if (first.kind === 'refused') return first;
  const seen = home.see(first, ask);
  const order = seen.kind === 'seen' ? chooseOrder(seen, ask, home.subject) : seen;
  if (order.kind === 'refused') return order;
  return keepOrder<Found, Stored, Refused>(home, first, (found) => home.apply(found, order, note));
}

/** Writes what an edit makes of what is found, and finishes. */
export async function keepOrder<
  Found extends { readonly kind: 'found' },
  Stored,
  Refused extends Refusing,
>(
  { subject, find, write, finish }: Omit<OrderHome<Found, Stored, Refused>, 'see' | 'apply'>,
  first: Found,
  edit: (found: Found) => OrderResult<Stored>,
): Promise<OrderOutcome<Refused>> {
  let found: Found | Refused = first;
  for (let tries = 0; tries < ORDER_WRITES_MAX; tries += 1) {
    if (found.kind === 'refused') return found;
    const edited = edit(found);
    if (edited.kind === 'refused') return refuseOrder(edited.code, subject);
    if (edited.kind === 'unchanged') return finish(found, edited);
    if (await write(found, edited.record)) return finish(found, { kind: 'given' });
    found = await find();
  }
  return refuseOrder('busy', subject);
}

function chooseOrder(
  seen: Seen,
  ask: OrderAsk,
  subject: OrderSubject,
): RolloutOrder | OrderRefusal {
  const { release, back } = seen;
  switch (ask.kind) {
    case 'pause':
      return { kind: 'pause' };
    case 'resume':
      return chooseResume(seen, ask.overrules, subject);
    case 'approve': {
      const chosen = chooseStep(seen, ask.stepIndex);
      if (typeof chosen === 'number') return { kind: 'approve', release, stepIndex: chosen };
      const isBlind = chosen === 'halted' || ask.stepIndex !== undefined;
      return refuseOrder(chosen, subject, isBlind ? undefined : seen.remedy);
    }
    case 'undo':
      if (back !== undefined) return { kind: 'undo', release, to: back };
      return refuseOrder(seen.hasProven ? 'runs-good' : 'nothing-good', subject);
  }
}

function chooseResume(
  seen: Seen,
  why: string | undefined,
  subject: OrderSubject,
): RolloutOrder | OrderRefusal {
  const { breach } = seen;
  if (breach === undefined || why !== undefined) return resumeOf(seen, why);
  const command = `${subject.command('resume')} --why '…' --yes`;
  const remedy = `${describeHalt(breach)}. If that is known: ${command}`;
  return refuseOrder('overrules', subject, remedy);
}

/**
 * Who asks for approval without a step means the one that waits: its soak is over, so two people
 * who approve one after the other never approve two steps. Approving ahead of the soak is possible
 * by naming the step.
 */
function chooseStep(
  { waiting, orders, openStep, breach, isAsked }: Seen,
  asked: number | undefined,
): number | 'halted' | 'nothing-waits' {
  if (asked !== undefined) return isAsked(asked) ? asked : 'nothing-waits';
  if (waiting !== undefined) return waiting;
  if (breach !== undefined || orders.undo !== undefined) return 'halted';
  const { approved } = orders;
  // Approved, and not opened yet: the other one of two operators was a moment faster.
  if (approved !== undefined && approved.stepIndex > openStep) return approved.stepIndex;
  return 'nothing-waits';
}
