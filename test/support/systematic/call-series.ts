/**
 * Series of calls that pass no gate: requests at the API server, live reads, and what watchers send.
 *
 * Each call of a series is numbered in a world, and a plan steps in at one of them, as with passages.
 * lost: applied, and its answer never comes (faults row 10). dropped: never applied, and the sender knows.
 * unknown: never applied, and the sender does not know. stuck: unknown, and applied 15 s later (rows 78,
 * 86). conflict: refused by a precondition (row 11). unavailable: a read that fails (row 9). killed: the
 * watcher dies there, and another one starts a second later (row 72).
 */
import type { Effect } from '../../../src/core/model/effects.ts';
import type { SendOutcome } from '../../../src/ports/queues/queue.ts';
import type { Intervention } from '../simulated-hooks.ts';
import { theWatcher } from '../simulation/look.ts';
import type { World } from '../simulation/world.ts';
import { DeadPlanError, type Fault } from './trial.ts';

export type CallOrder =
  'lost' | 'dropped' | 'unknown' | 'stuck' | 'conflict' | 'unavailable' | 'killed';

/** Decides on the call that is about to happen; `text` says what it is. */
type Decide = (text: string) => CallOrder | undefined;

export interface CallSeries {
  readonly name: string;
  /** What can happen at a call of this text. */
  readonly ordersFor: (text: string) => readonly CallOrder[];
  readonly install: (world: World, decide: Decide) => void;
}

const STUCK_MS = 15_000;
const RESTART_MS = 1000;

function interventionFor(world: World, order: CallOrder): Intervention {
  const message = `injected ${order}`;
  switch (order) {
    case 'lost':
      return { kind: 'lose-answer' };
    case 'stuck':
      world.clock.after(STUCK_MS, () => {
        world.api.releaseStuck();
      });
      return { kind: 'stuck' };
    case 'unknown':
      return { kind: 'answer', outcome: { kind: 'ambiguous', message } };
    case 'conflict':
      return { kind: 'answer', outcome: { kind: 'conflict', message } };
    default:
      return { kind: 'answer', outcome: { kind: 'unsent', message } };
  }
}

/** The name of what an effect is sent for: Events are told apart by chance alone. */
export function effectText({ kind, name }: Effect): string {
  return kind === 'create-event' || kind === 'patch-event' ? kind : `${kind} ${name}`;
}

const effects: CallSeries = {
  name: 'effects',
  ordersFor: (text) =>
    text.startsWith('create') || text === 'patch-event'
      ? ['lost', 'dropped', 'unknown', 'stuck']
      : ['lost', 'dropped', 'unknown', 'stuck', 'conflict'],
  install: (world, decide) => {
    world.site.intervene = (effect) => {
      const order = decide(effectText(effect));
      return order === undefined ? undefined : interventionFor(world, order);
    };
  },
};

const reads: CallSeries = {
  name: 'reads',
  ordersFor: () => ['unavailable'],
  install: (world, decide) => {
    world.site.answer = (what, name) =>
      decide(`${what} ${name}`) === undefined
        ? undefined
        : { kind: 'unavailable', message: 'injected', isRefused: false };
  },
};

const SENDS: Partial<
  Record<CallOrder, { readonly outcome: SendOutcome['kind']; readonly applied: boolean }>
> = {
  lost: { outcome: 'ambiguous', applied: true },
  unknown: { outcome: 'ambiguous', applied: false },
  dropped: { outcome: 'unsent', applied: false },
};

const sends: CallSeries = {
  name: 'sends',
  ordersFor: () => ['lost', 'unknown', 'dropped', 'killed'],
  install: (world, decide) => {
    world.queues.faults.sendEvent = (message) => {
      const order = decide(`send ${message.body.kind} ${message.seq}`);
      if (order === undefined) return undefined;
      if (order === 'killed') restartWatcher(world);
      const { outcome, applied } = SENDS[order] ?? { outcome: 'ambiguous', applied: true };
      return { outcome: { kind: outcome, message: 'injected' } as SendOutcome, applied };
    };
  },
};

const leases: CallSeries = {
  name: 'leases',
  ordersFor: () => ['lost'],
  install: (world, decide) => {
    theWatcher(world).faults.losesLeaseAnswer = () => decide('write lease') !== undefined;
  },
};

function restartWatcher(world: World): void {
  const dying = theWatcher(world);
  world.stopWatcher(dying);
  world.clock.after(RESTART_MS, () => {
    world.startWatcher();
  });
}

/** Every series. */
export const CALL_SERIES: readonly CallSeries[] = [effects, reads, sends, leases];

export interface CallPlan {
  readonly series: CallSeries;
  readonly order: CallOrder;
  /** Counts from 1. */
  readonly index: number;
  readonly text: string;
}

/** The calls of a series, in their order, written into `texts` as a world makes them. */
export function recordCalls(series: CallSeries, texts: string[]): Fault {
  return (world) => {
    series.install(world, (text) => {
      texts.push(text);
      return undefined;
    });
    return { fired: () => 'nothing' };
  };
}

/** The fault of a plan. */
export function callFault({ series, order, index, text: planned }: CallPlan): Fault {
  return (world) => {
    let count = 0;
    let fired: string | undefined;
    series.install(world, (text) => {
      count += 1;
      if (count !== index) return undefined;
      fired = text;
      if (text !== planned) throw new DeadPlanError(`planned ${planned}, came ${text}`);
      world.note(`fault ${order} at ${text}`);
      return order;
    });
    return { fired: () => fired };
  };
}
