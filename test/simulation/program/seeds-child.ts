/** A thread that plays the seeds it is told, one after the other. */
import { parentPort } from 'node:worker_threads';
import { describeBroken } from '../../support/simulation/describe-broken.ts';
import type { PlayResult } from '../../support/simulation/play-plan.ts';
import { runSeed } from '../../support/simulation/run-seed.ts';
import { reportOf, type SeedOrder, type SeedReport } from './seed-report.ts';

async function play(order: SeedOrder): Promise<SeedReport> {
  const { seed, profile, stepsCount: steps } = order;
  const startedMs = performance.now();
  const result = await runSeed({ seed, profile, steps });
  const again = order.isTwice ? await runSeed({ seed, profile, steps }) : result;
  const report = reportOf(result, performance.now() - startedMs);
  const broken = brokenOf(result, again);
  return {
    ...report,
    ...(order.isTracing ? { trace: result.trace } : {}),
    ...(broken === undefined ? {} : { broken }),
  };
}

function brokenOf(result: PlayResult, again: PlayResult): SeedReport['broken'] {
  if (result.kind === 'broken') return { rule: result.rule, text: describeBroken(result) };
  if (again.hash === result.hash) return undefined;
  const index = result.trace.findIndex((line, at) => line !== again.trace[at]);
  const lines = [result, again].map(({ trace }) => trace[index] ?? 'the end');
  const text = `seed ${result.plan.seed}: two plays differ at line ${index}\n  ${lines.join('\n  ')}`;
  return { rule: 'M2', text };
}

parentPort?.on('message', (order: SeedOrder) => {
  void play(order).then((report) => {
    parentPort?.postMessage(report);
  });
});
