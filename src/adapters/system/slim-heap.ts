/**
 * Gives back to the system what a burst of work left of the heap, once the engine is quiet.
 *
 * V8 keeps the pages of its busiest moment while little is allocated after it: with 10,000 pods just made, 240 MiB were held
 * for the 51 that lived. A whole collection takes a tenth of a second in which no caller waits: no invocation
 * began since the look before, and none runs. Only what grew since the last collection is a reason for the next, so a
 * quiet engine collects once. Nothing depends on it.
 */
import { Session } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';

/** How often it is looked whether the engine is quiet, milliseconds. */
const LOOK_EVERY_MS = 10_000;
/** Less is not worth a collection; V8's own young generation grows and shrinks by a third of it. */
const GROWN_BYTES_MIN = 96 * 1024 * 1024;

export interface Heap {
  /** All that it holds of the system's memory, free pages included. */
  readonly heldBytes: () => number;
  /** Collects everything, and lets go of free pages; resolves when it is over. Rejects where that cannot be asked for. */
  readonly collect: () => Promise<void>;
}

export interface SlimHeapOptions {
  readonly heap: Heap;
  readonly clock: Pick<Clock, 'after'>;
  /** Invocations that began since the start, and that run now. */
  readonly counts: { readonly started: number; readonly running: number };
  readonly log: Pick<Log, 'debug'>;
}

/** Keeps the heap of a quiet engine slim until it is told to stop. */
export function keepHeapSlim({ heap, clock, counts, log }: SlimHeapOptions): () => void {
  let seen = counts.started;
  let keptBytes = 0;
  let isStopped = false;
  const look = async (): Promise<void> => {
    const isQuiet = counts.running === 0 && counts.started === seen;
    seen = counts.started;
    if (isQuiet && heap.heldBytes() - keptBytes >= GROWN_BYTES_MIN) {
      await heap.collect().catch((error: unknown) => {
        log.debug('the heap could not be collected', { detail: String(error) });
      });
      // Memory that a collection does not give back is no reason for the next one.
      keptBytes = heap.heldBytes();
    }
    if (!isStopped) cancel = clock.after(LOOK_EVERY_MS, () => void look());
  };
  let cancel = clock.after(LOOK_EVERY_MS, () => void look());
  return () => {
    isStopped = true;
    cancel();
  };
}

/** The heap of this process. */
export const processHeap: Heap = {
  heldBytes: () => getHeapStatistics().total_heap_size,
  collect: () => {
    // The one way to a collection that needs no flag of the process. A session within the process opens no port.
    const session = new Session();
    session.connect();
    const collected = new Promise<void>((resolve, reject) => {
      session.post('HeapProfiler.collectGarbage', (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
    return collected.finally(() => {
      session.disconnect();
    });
  },
};
