/**
 * Gives an operator's order to a rollout, of nodes or of clusters: find, choose once, write by compare-and-set, wake.
 *
 * The order names what was seen at the first look (core/rollout/orders.ts), and is applied to whatever is found when
 * others were faster. Whoever acts meanwhile loses its write, and has sent nothing by then. Waking is for an order that
 * stood already, too: whoever gave it may have died in between. What loses all tries has changed nothing.
 */
import { defined } from '@rollcall/base/defined.ts';
import { describeHalt } from '../../core/rollout/gate-words.ts';
import type { OrderNote } from '../../core/model/rollout-record.ts';
import type { OrderResult, OrderStands, RolloutOrder } from '../../core/rollout/orders.ts';
import { refuseOrder } from './order-refusals.ts';
import type { OrderRefusal, OrderSubject } from './order-refusals.ts';

/** Beside runs and steps that write once or twice a second, and other operators. */
export const ORDER_WRITES_MAX = 12;

/** What somebody asks for. */
export type OrderAsk =
  | { readonly kind: 'pause' | 'undo' }
  /** `overrules`: a halt too, and why. */
  | { readonly kind: 'resume'; readonly overrules?: string }
  /** Absent: the step that waits. */
  | { readonly kind: 'approve'; readonly stepIndex?: number };

/** What the first look shows. */
export interface Seen {
  readonly kind: 'seen';
  readonly release: string;
  readonly breach: Parameters<typeof describeHalt>[0] | undefined;
  readonly orders: {
    readonly approved?: { readonly stepIndex: number };
    readonly undo?: OrderNote;
  };
  /** The release that an undo leads to. */
  readonly back: string | undefined;
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
  readonly wake: (found: Found) => Promise<void>;
}

/** What came of it. */
export type OrderOutcome<Refused> =
  { readonly kind: 'given' } | OrderStands | Refused | OrderRefusal;

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

/** Writes what an edit makes of what is found, and wakes. */
export async function keepOrder<
  Found extends { readonly kind: 'found' },
  Stored,
  Refused extends Refusing,
>(
  { subject, find, write, wake }: Omit<OrderHome<Found, Stored, Refused>, 'see' | 'apply'>,
  first: Found,
  edit: (found: Found) => OrderResult<Stored>,
): Promise<OrderOutcome<Refused>> {
  let found: Found | Refused = first;
  for (let tries = 0; tries < ORDER_WRITES_MAX; tries += 1) {
    if (found.kind === 'refused') return found;
    const edited = edit(found);
    if (edited.kind === 'refused') return refuseOrder(edited.code, subject);
    if (edited.kind === 'unchanged' || (await write(found, edited.record))) {
      await wake(found);
      return edited.kind === 'unchanged' ? edited : { kind: 'given' };
    }
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
      return refuseOrder(seen.hasProven ? 'runs-proven' : 'nothing-proven', subject);
  }
}

function chooseResume(
  { release, breach }: Seen,
  why: string | undefined,
  subject: OrderSubject,
): RolloutOrder | OrderRefusal {
  if (breach === undefined || why !== undefined) {
    return { kind: 'resume', release, ...defined({ breachAtMs: breach?.atMs, why }) };
  }
  const command = `${subject.command('resume')} --why '…' --yes`;
  const remedy = `${describeHalt(breach)}. If that is known: ${command}`;
  return refuseOrder('overrules', subject, remedy);
}

/**
 * Who asks for approval without a step means the one that waits: its soak is over, so two people who approve one after
 * the other never approve two steps. Approving ahead of the soak is possible by naming the step.
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
