/**
 * Faults at one numbered passage of a recorded run.
 *
 * kill: the process is gone there and then (faults row 1). late: it stands still there and goes on when
 * everything has settled without it; overtaken: … and when the cluster has just moved on (rows 21, 30);
 * nap: it goes on after 25 seconds, amid the others. slow: that call takes until 300 ms before the
 * function's time-out (row 29). lost, refused: the call of a table or queue rejects, after or without
 * having been applied (rows 10, 32, 33).
 */
import assert from 'node:assert/strict';
import { TIMEOUTS_MS } from '../simulation/function-host.ts';
import type { World } from '../simulation/world.ts';
import { PassageLog, type NumberedPassage } from './passages.ts';
import { DeadPlanError, type Fault, type InstalledFault } from './trial.ts';

export type Order = 'kill' | 'late' | 'overtaken' | 'nap' | 'slow' | 'lost' | 'refused';

/** A fault at a passage; `text` is what the reference did there. */
export interface PassagePlan {
  readonly order: Order;
  readonly index: number;
  readonly text: string;
}

const NAP_MS = 25_000;
const LEFT_MS = 300;
/** Requests that change pods and revisions: none may begin once the deadline passed (row 29). */
const EFFECTS = /access\.execute .*(create-pod|delete-pod|patch |create-revision|delete-revision)/;

/** True if the order means anything at a passage. */
export function suits(order: Order, passage: NumberedPassage): boolean {
  const isTable = passage.port !== 'access' && passage.port !== 'connector';
  if (order === 'lost') return isTable && passage.moment === 'after' && changes(passage);
  if (order === 'refused') return isTable && passage.moment === 'before';
  if (order === 'slow') return passage.port !== 'connector';
  return true;
}

/** The fault of a plan. */
export function passageFault(plan: PassagePlan): Fault {
  return (world) => new PassageFault(world, plan);
}

/** True of calls that write. */
function changes({ operation }: NumberedPassage): boolean {
  return /^(write|remove|raise|send|record|execute|request|append|put)/.test(operation);
}

class PassageFault implements InstalledFault {
  readonly #world: World;
  readonly #plan: PassagePlan;
  readonly #log: PassageLog;
  readonly #startedMs = new Map<number, number>();
  #fired: NumberedPassage | undefined;
  #slowUntilMs = 0;

  constructor(world: World, plan: PassagePlan) {
    this.#world = world;
    this.#plan = plan;
    this.#log = new PassageLog(world, (passage) => this.#rule(passage));
  }

  fired(): string | undefined {
    return this.#fired?.text;
  }

  release(): void {
    this.#log.stop();
    for (const gate of this.#world.host.frozen.splice(0)) gate.thaw();
  }

  #rule(passage: NumberedPassage): 'kill' | 'freeze' | Promise<void> | undefined {
    const { order, index, text } = this.#plan;
    const { invocation } = passage;
    const nowMs = this.#world.clock.monotonicMs();
    if (!this.#startedMs.has(invocation)) this.#startedMs.set(invocation, nowMs);
    if (order === 'slow' && this.#fired?.invocation === invocation) this.#checkAfterwards(passage);
    if (passage.index !== index) return undefined;
    this.#fired = passage;
    if (passage.text !== text) throw new DeadPlanError(`planned ${text}, came ${passage.text}`);
    this.#world.note(`fault ${order} at ${text}`);
    return this.#happen(passage, nowMs - (this.#startedMs.get(invocation) ?? nowMs));
  }

  #happen(passage: NumberedPassage, ranMs: number): 'kill' | 'freeze' | Promise<void> | undefined {
    const { clock, host } = this.#world;
    switch (this.#plan.order) {
      case 'kill':
        return 'kill';
      case 'late':
      case 'overtaken':
        return 'freeze';
      case 'nap':
        clock.after(NAP_MS, () => host.frozen.shift()?.thaw());
        return 'freeze';
      case 'slow':
        this.#slowUntilMs = clock.monotonicMs() + TIMEOUTS_MS[passage.name] - ranMs - LEFT_MS;
        return clock.sleep(this.#slowUntilMs - clock.monotonicMs());
      case 'lost':
      case 'refused':
        throw new Error(`injected: ${this.#plan.order} at ${passage.text}`);
    }
  }

  /** What begins after the call that took so long must begin nothing on the API server. */
  #checkAfterwards({ moment, text, deadlineMs = 0 }: NumberedPassage): void {
    const nowMs = this.#world.clock.monotonicMs();
    if (moment === 'after' || nowMs < this.#slowUntilMs || !EFFECTS.test(text)) return;
    assert.ok(deadlineMs <= nowMs, `row 29: past the deadline: ${text}`);
  }
}
