/**
 * `npm run bench -- isolation`: three healthy clusters, alone and beside one that floods, hangs or answers garbage (L3,
 * row 61). How long from a change until its effect in the healthy ones, and by which factor that grows.
 *
 * Everything runs in this one process on the local engine, so part of the factor is processor time that Lambda
 * would not share. Bounded: changes are counted, and every wait has a deadline.
 */
import { IsolationStage, type Noise } from '../support/isolation/isolation-stage.ts';
import { percentile, renderRows } from './support/statistics.ts';
import { say } from './support/say.ts';

const CHANGES_COUNT = Number(process.env['BENCH_CHANGES'] ?? 20);
const NOISY_KEYS_COUNT = Number(process.env['BENCH_KEYS'] ?? 60);
const DEADLINE_MS = 300_000;
const NOISES: readonly Noise[] = ['none', 'flood', 'hang', 'garbage'];

say('starting four clusters and the engine …');
const stage = await IsolationStage.open({
  healthy: 3,
  healthyKeys: 3,
  noisyKeys: NOISY_KEYS_COUNT,
  deadlineMs: DEADLINE_MS,
});
const rows: string[][] = [['beside', 'p50', 'p99', 'factor p50', 'factor p99', 'requests']];
try {
  await stage.measure('none', 3);
  let alone = { p50: Number.NaN, p99: Number.NaN };
  for (const noise of NOISES) {
    const before = stage.relay.asked();
    const latencies = await stage.measure(noise, CHANGES_COUNT);
    const here = { p50: percentile(latencies, 50), p99: percentile(latencies, 99) };
    if (noise === 'none') alone = here;
    rows.push([
      noise === 'none' ? 'nothing' : noise,
      here.p50.toFixed(0),
      here.p99.toFixed(0),
      (here.p50 / alone.p50).toFixed(2),
      (here.p99 / alone.p99).toFixed(2),
      String(stage.relay.asked() - before),
    ]);
    say((rows.at(-1) ?? []).join('  '));
  }
} finally {
  await stage.close();
}
const title = `${String(3 * CHANGES_COUNT)} changes in three healthy clusters; the noisy one has ${String(NOISY_KEYS_COUNT)} DaemonSets; milliseconds from a node's creation until it has its pods; requests: of the functions to the noisy cluster`;
process.stdout.write(`${title}\n${renderRows(rows)}\n`);
