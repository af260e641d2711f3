/**
 * What is frozen for the stack, in memory, with the compare-and-set semantics of the port.
 *
 * One suite (freeze-store-suite.ts) holds it and the DynamoDB adapter to the same answers.
 */
import {
  parseFreeze,
  parseStopNote,
  parseStops,
} from '../../src/adapters/dynamodb/registration-schema.ts';
import type { StopNote, StopSpan } from '../../src/core/status/outages.ts';
import { NO_FREEZE, type Freeze } from '../../src/core/may-act/freeze.ts';
import type { FreezeStore } from '../../src/ports/stores/freeze-store.ts';
import { aroundCall, type StoreCall, type StoreHooks } from './store-hooks.ts';

/** A store in memory. */
export class MemoryFreezeStore implements FreezeStore {
  hooks: StoreHooks = {};
  readonly calls: StoreCall[] = [];
  #freeze: Freeze = NO_FREEZE;
  #stop: StopNote | undefined;
  #stops: readonly StopSpan[] = [];

  readFreeze(): Promise<Freeze> {
    const call = { operation: 'readFreeze', target: 'FREEZE', isWrite: false };
    return aroundCall(this, call, () => structuredClone(this.#freeze));
  }

  async writeFreeze(freeze: Freeze): Promise<'written' | 'lost'> {
    const next = parseFreeze({ ...freeze, version: freeze.version + 1 });
    if (next === undefined) throw new Error('would be no freeze');
    const call = { operation: 'writeFreeze', target: 'FREEZE', isWrite: true };
    return aroundCall(this, call, () => {
      if (this.#freeze.version !== freeze.version) return 'lost';
      this.#freeze = structuredClone(next);
      return 'written';
    });
  }

  readStop(): Promise<StopNote | undefined> {
    const call = { operation: 'readStop', target: 'STOP', isWrite: false };
    return aroundCall(this, call, () => structuredClone(this.#stop));
  }

  async writeStop(note: StopNote | undefined): Promise<void> {
    const next = note && parseStopNote(note);
    if (note !== undefined && next === undefined) throw new Error('would be no note');
    const call = { operation: 'writeStop', target: 'STOP', isWrite: true };
    await aroundCall(this, call, () => {
      this.#stop = structuredClone(next);
    });
  }

  readStops(): Promise<readonly StopSpan[]> {
    const call = { operation: 'readStops', target: 'STOPS', isWrite: false };
    return aroundCall(this, call, () => structuredClone(this.#stops));
  }

  async writeStops(stops: readonly StopSpan[]): Promise<void> {
    const next = parseStops(stops);
    if (next === undefined) throw new Error('would be no stops');
    const call = { operation: 'writeStops', target: 'STOPS', isWrite: true };
    await aroundCall(this, call, () => {
      this.#stops = structuredClone(next);
    });
  }

  /** Puts a freeze in place whatever was there: how a test sets its scene. */
  seed(freeze: Omit<Freeze, 'version'>): void {
    this.#freeze = { ...freeze, version: this.#freeze.version + 1 };
  }

  /** As it stands, past all hooks. */
  peek(): Freeze {
    return this.#freeze;
  }
}
