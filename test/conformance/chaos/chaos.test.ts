/**
 * A short run of process-level chaos (run.ts plays ten minutes of it): every fault once, under churn.
 *
 * Replay: ROLLCALL_SEED=<seed> npm run test:conformance -- test/conformance/chaos/chaos.test.ts
 * L1's minute is one of a quiet machine (test/support/machine-pace.ts); ROLLCALL_SETTLE_SECONDS gives more of them.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { seedOfRun } from '../scenarios/seeded.ts';
import { runChaos } from './chaos.ts';
import { FAULT_KINDS } from './plan.ts';
import { failuresOf, summarize } from './report.ts';

const SEED = seedOfRun(20261121);
const MINUTES = 2;
const SETTLE_MS_MAX = Number(process.env['ROLLCALL_SETTLE_SECONDS'] ?? '60') * 1000;

it(
  `keeps S1, S2, S3, S4, S5, S7 under killed, frozen and cut-off processes, compaction, a restore of etcd, ` +
    `a deleted Lease and a second watcher, then settles and stays quiet (L1, L5, M1, row 15, row 71, row 72, row 78; ` +
    `seed ${String(SEED)})`,
  { timeout: 1_700_000 },
  async (context) => {
    const result = await runChaos({
      seed: SEED,
      minutes: MINUTES,
      kinds: FAULT_KINDS,
      nodesCount: 24,
      settleMsMax: SETTLE_MS_MAX,
      keepLogs: false,
      say: (line) => {
        context.diagnostic(line);
      },
    });
    assert.deepEqual(failuresOf(result), [], summarize(result));
  },
);
