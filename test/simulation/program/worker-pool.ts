/**
 * Threads that play seeds. A thread that dies or that says nothing for too long has broken its seed: hanging is a
 * failure, not a reason to wait.
 */
import { Worker } from 'node:worker_threads';
import type { SeedOrder, SeedReport } from './seed-report.ts';

/** Real time after which a seed counts as hung; hundreds of times what one takes. */
const SEED_MS_MAX = 180_000;

/** Plays all orders on `count` threads; `onReport` hears of each, in the order in which they end. */
export async function playOnThreads(
  orders: readonly SeedOrder[],
  options: { readonly count: number; readonly onReport: (report: SeedReport) => Promise<void> },
): Promise<void> {
  const waiting = [...orders].reverse();
  const thread = async (): Promise<void> => {
    let worker: Worker | undefined;
    for (let order = waiting.pop(); order !== undefined; order = waiting.pop()) {
      worker ??= new Worker(new URL('./seeds-child.ts', import.meta.url));
      const report = await playOne(worker, order);
      if (report.isLost) worker = void worker.terminate();
      await options.onReport(report.report);
    }
    await worker?.terminate();
  };
  await Promise.all(Array.from({ length: options.count }, thread));
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
