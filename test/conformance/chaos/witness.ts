/**
 * The independent witness of a run: one observer for each history of etcd, straight at the API server.
 *
 * A restore ends a history: what follows contradicts what was seen, so the observer before it is stopped
 * first and another one starts when the API server is ready again. What each saw is judged at the end
 * (judge.ts); two pods on one node are seen at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiConnection } from '../control-plane/api.ts';
import { startObserver, type ObservedEvent, type Observer } from '../control-plane/observer.ts';
import type { DoublePlacement } from '../control-plane/double-placement.ts';

export interface History {
  readonly fromMs: number;
  readonly toMs: number;
  readonly events: readonly ObservedEvent[];
  readonly doublePlacements: readonly DoublePlacement[];
  /** Lists after the first: something may have been missed before each. */
  readonly relistCount: number;
}

export interface Witness {
  readonly beginHistory: () => Promise<void>;
  readonly endHistory: () => Promise<void>;
  /** Histories that have ended. */
  readonly histories: readonly History[];
}

const KINDS = 3;
const ATTEMPTS_MAX = 240;
const RETRY_MS = 250;

/** Makes a witness; it sees nothing before `beginHistory`. */
export function createWitness(connection: ApiConnection): Witness {
  const histories: History[] = [];
  let observer: Observer | undefined;
  let fromMs = 0;
  return {
    histories,
    beginHistory: async () => {
      if (observer !== undefined) throw new Error('a history is being observed already');
      fromMs = Date.now();
      observer = await observeStubbornly(connection);
    },
    endHistory: async () => {
      if (observer === undefined) throw new Error('no history is being observed');
      const ended = observer;
      observer = undefined;
      await ended.stop();
      histories.push({
        fromMs,
        toMs: Date.now(),
        events: ended.events,
        doublePlacements: ended.violations,
        relistCount: ended.counts().lists - KINDS,
      });
    },
  };
}

/** An API server that has just started refuses everyone until it has read its roles. */
async function observeStubbornly(connection: ApiConnection): Promise<Observer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startObserver(connection);
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
      await delay(RETRY_MS);
    }
  }
}
