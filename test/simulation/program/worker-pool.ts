/**
 * Threads that play seeds. A thread that dies or that says nothing for too long has broken its seed: hanging is a
 * failure, not a reason to wait.
 */
import { Worker } from 'node:worker_threads';
import type { SeedOrder, SeedReport } from './seed-report.ts';

/** Real time after which a seed counts as hung; hundreds of times what one takes. */
const SEED_MS_MAX = 180_000;

/** Kept from one list of orders to the next: a thread takes longer to load the code than to play a seed. */
export class SeedThreads {
  readonly #workers: (Worker | undefined)[];

  constructor(count: number) {
    this.#workers = Array.from({ length: count });
  }

  /** Plays all orders; `onReport` hears of each, in the order in which they end. */
  async play(
    orders: readonly SeedOrder[],
    onReport: (report: SeedReport) => Promise<void>,
  ): Promise<void> {
    const waiting = [...orders].reverse();
    const work = async (at: number): Promise<void> => {
      for (let order = waiting.pop(); order !== undefined; order = waiting.pop()) {
        const worker = (this.#workers[at] ??= new Worker(
          new URL('./seeds-child.ts', import.meta.url),
        ));
        const { report, isLost } = await playOne(worker, order);
        if (isLost) await this.#end(at);
        await onReport(report);
      }
    };
    await Promise.all([...this.#workers.keys()].map(work));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers.keys()].map((at) => this.#end(at)));
  }

  async #end(at: number): Promise<void> {
    await this.#workers[at]?.terminate();
    this.#workers[at] = undefined;
  }
}

function playOne(
  worker: Worker,
  order: SeedOrder,
): Promise<{ readonly report: SeedReport; readonly isLost: boolean }> {
  return new Promise((resolve) => {
    const lose = (why: string): void => {
      finish({ report: lostReport(order, why), isLost: true });
    };
    const timer = setTimeout(() => {
      lose(`no answer after ${SEED_MS_MAX / 1000} s`);
    }, SEED_MS_MAX);
    const onError = (error: Error): void => {
      lose(error.stack ?? error.message);
    };
    const onMessage = (report: SeedReport): void => {
      finish({ report, isLost: false });
    };
    const finish = (end: { report: SeedReport; isLost: boolean }): void => {
      clearTimeout(timer);
      worker.off('error', onError).off('message', onMessage);
      resolve(end);
    };
    worker.on('error', onError).on('message', onMessage);
    worker.postMessage(order);
  });
}

function lostReport({ seed, profile, stepsCount }: SeedOrder, why: string): SeedReport {
  const again = `npm run sim -- --seed ${seed} --profile ${profile} --steps ${stepsCount}`;
  return {
    seed,
    profile,
    hash: '',
    virtualMs: 0,
    realMs: 0,
    judged: 0,
    happened: {},
    broken: { rule: 'bug', text: `seed ${seed} of profile ${profile}: ${why}\nagain: ${again}` },
  };
}
