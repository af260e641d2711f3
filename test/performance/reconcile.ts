/**
 * `npm run bench -- reconcile`: CPU of one reconcile of a settled DaemonSet of which one pod has changed, and how long
 * an answer of `rollcall why` takes, by nodes.
 *
 * The very run of a function over the very adapters; the emulated table has a process of its own, the API server is a
 * simulated one here, which is asked for the DaemonSet and its status alone. *Warm* is a process that made the run before,
 * *cold* one that remembers nothing of the cluster, its code compiled all the same, as is that of *why*. Bounded: rounds
 * are counted. Leaves with 1 when a goal of issue 16 or 43 is missed that these sizes can tell.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createDocumentClient } from '../../src/adapters/aws/document-client.ts';
import { createDynamoFreezeStore } from '../../src/adapters/dynamodb/single-item-stores.ts';
import { createDynamoRegistryStore } from '../../src/adapters/dynamodb/registry-store.ts';
import { createPolicyReader } from '../../src/adapters/policy/policy-reader.ts';
import { createDynamoViewStore } from '../../src/adapters/dynamodb/view-store.ts';
import { defaultReconcileOptions } from '../../src/app/reconcile/process/dependencies.ts';
import type { ReconcileDependencies } from '../../src/app/reconcile/process/dependencies.ts';
import { createProcessCache } from '../../src/app/reconcile/process/process-cache.ts';
import { explainRollout } from '../../src/app/why/explain.ts';
import { findRollout } from '../../src/app/rollout/find-rollout.ts';
import { groupReasons } from '../../src/core/status/reason-groups.ts';
import { reconcileKey } from '../../src/app/reconcile/reconcile-key.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createKeyTable } from '../support/create-key-table.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../support/memory-metrics.ts';
import { RecordingHintQueue } from '../support/recording-hint-queue.ts';
import { SimulatedConnector } from '../support/simulated-connector.ts';
import { LargeView } from './support/large-view.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const NODES = (process.env['BENCH_NODES'] ?? '100,1000,5000,15000').split(',').map(Number);
const ROUNDS = 25;
const SETTLING_MAX = 10;
const RUN_MS = 60_000;
/** Issue 16: CPU milliseconds at 5,000 nodes; over a wider range, growth below that of the nodes. Issue 43: of 95 % of answers. */
const GOALS = { nodes: 5_000, warmMs: 15, coldMs: 25, whyMs: 150 } as const;
const GOAL_MISSED = 1;
const EMULATED = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
};

const table = fork(new URL('./support/table-child.ts', import.meta.url).pathname, [], {
  execArgv: [],
});
const [endpoint] = (await once(table, 'message')) as [string];
const client = createDocumentClient({ ...EMULATED, endpoint });
for (const name of ['view', 'registry']) await createKeyTable(client, name);

const clock = createSystemClock();
const random = createSystemRandom();
const view = createDynamoViewStore({ client, random, tableName: 'view' });
const registry = createDynamoRegistryStore({ client, random, tableName: 'registry' });
const freezes = createDynamoFreezeStore({ client, random, tableName: 'registry' });
const connector = new SimulatedConnector();
const policies = createPolicyReader();

function dependenciesWith(cache: ReconcileDependencies['cache']): ReconcileDependencies {
  const [log, metrics, queue] = [new MemoryLog(), new MemoryMetrics(), new RecordingHintQueue()];
  const options = { ...defaultReconcileOptions, release: 'bench' };
  const stores = { registry, freezes, view };
  return { ...stores, connector, queue, clock, random, log, metrics, options, cache, policies };
}

async function run(large: LargeView, dependencies: ReconcileDependencies): Promise<string> {
  const deadlineMs = clock.monotonicMs() + RUN_MS;
  const result = await reconcileKey(large.hint, { deadlineMs }, dependencies);
  await large.follow();
  return result.kind === 'deferred' ? `${result.kind}: ${result.code}` : result.kind;
}

/** CPU milliseconds of one run after one pod has changed. */
async function cpuMsOf(
  large: LargeView,
  dependencies: ReconcileDependencies,
  turn: number,
): Promise<number> {
  await large.change(turn);
  const deadlineMs = clock.monotonicMs() + RUN_MS;
  const before = process.cpuUsage();
  const result = await reconcileKey(large.hint, { deadlineMs }, dependencies);
  const { user, system } = process.cpuUsage(before);
  if (result.kind !== 'acted' || !result.counts.isStatusWritten) {
    throw new Error(`the run should have written a status: ${JSON.stringify(result)}`);
  }
  await large.follow();
  return (user + system) / 1_000;
}

/** Milliseconds in which what `rollcall why` tells of it is read and made, by a process that remembers nothing of it. */
async function whyMsOf(large: LargeView): Promise<number> {
  const beganMs = clock.monotonicMs();
  const holderOf = (): Promise<undefined> => Promise.resolve(undefined);
  const sources = { registry, freezes, view, policies, holderOf };
  const found = await findRollout(large.hint.key, sources);
  if (found.kind === 'refused') throw new Error(found.message);
  const explaining = { cache: createProcessCache(), options: defaultReconcileOptions };
  const asked = { ...explaining, view, policies, nowMs: clock.nowMs() };
  const explained = await explainRollout(found.stored, asked);
  if (explained === undefined) throw new Error('nothing could be told');
  const groups = groupReasons(explained.plan.verdicts());
  const endedMs = clock.monotonicMs();
  if (groups.length === 0) throw new Error('a pod that is not ready has a reason');
  return endedMs - beganMs;
}

async function settled(nodes: number): Promise<LargeView> {
  const large = new LargeView(nodes, view, clock);
  await registry.writeCluster(large.registration, 0);
  connector.clusters.set(large.registration.id, large.cluster);
  const dependencies = dependenciesWith(createProcessCache());
  await large.begin();
  await run(large, dependencies);
  await large.fill();
  let outcome = '';
  for (let round = 0; round < SETTLING_MAX; round += 1) {
    outcome = await run(large, dependencies);
    if (outcome === 'skipped') return large;
  }
  throw new Error(`it did not settle: ${outcome}`);
}

/** Medians at one size. */
interface Measured {
  readonly nodes: number;
  readonly warmMs: number;
  readonly coldMs: number;
  readonly whyMs: number;
}

async function measure(nodes: number): Promise<Measured> {
  const large = await settled(nodes);
  const dependencies = dependenciesWith(createProcessCache());
  const warm: number[] = [];
  const cold: number[] = [];
  // The first rounds compile.
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    warm.push(await cpuMsOf(large, dependencies, 2 * round));
    cold.push(await cpuMsOf(large, dependenciesWith(createProcessCache()), 2 * round + 1));
  }
  const why: number[] = [];
  // Beside pods that turned ready again, of those that changed an odd number of times.
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    await large.change(round);
    why.push(await whyMsOf(large));
    await large.follow();
  }
  const half = (times: readonly number[]): number => percentile(times.slice(ROUNDS), 50);
  const whyMs = percentile(why.slice(ROUNDS), 95);
  const measured = { nodes, warmMs: half(warm), coldMs: half(cold), whyMs };
  const [, warmText, coldText, whyText] = rowOf(measured);
  say(`  ${String(nodes)} nodes: warm ${warmText} ms, cold ${coldText} ms, why ${whyText} ms`);
  return measured;
}

function rowOf(measured: Measured): readonly [string, string, string, string] {
  const { nodes, warmMs, coldMs, whyMs } = measured;
  return [String(nodes), warmMs.toFixed(1), coldMs.toFixed(1), whyMs.toFixed(1)];
}

/** Which goals were missed, in words. */
function missedBy(measured: readonly Measured[]): readonly string[] {
  const large = measured.find(({ nodes }) => nodes === GOALS.nodes);
  const [first, last] = [measured[0], measured.at(-1)];
  const isSteep =
    first !== undefined &&
    last !== undefined &&
    last.nodes > first.nodes &&
    last.warmMs / first.warmMs >= last.nodes / first.nodes;
  const tooLong = (['warm', 'cold', 'why'] as const).filter(
    (what) => (large?.[`${what}Ms`] ?? 0) > GOALS[`${what}Ms`],
  );
  return [
    ...tooLong.map((what) => `${what} above ${String(GOALS[`${what}Ms`])} ms`),
    ...(isSteep ? ['the cost of a pod that changed grows as the nodes do'] : []),
  ];
}

try {
  const measured: Measured[] = [];
  for (const nodes of NODES) measured.push(await measure(nodes));
  const heading = ['nodes', 'warm, CPU ms', 'cold, CPU ms', 'why, ms, p95'];
  process.stdout.write(`${renderRows([heading, ...measured.map(rowOf)])}\n`);
  for (const missed of missedBy(measured)) {
    say(`rollcall: ${missed}`);
    process.exitCode = GOAL_MISSED;
  }
} finally {
  client.destroy();
  table.disconnect();
}
