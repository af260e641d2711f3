/**
 * `npm run bench -- idle`: what a cluster in which nothing happens costs. 1,000 nodes and ten DaemonSets; a
 * quiet window over the engine with its table as `npm start` reads it, then one over the built-in controller.
 *
 * Simulated: each node's status report, every five minutes, paced evenly. Not simulated: node leases. CPU is user
 * plus system time of the whole process (engine with watcher, handlers, queues and tables; or controller-manager).
 * Bounded: every wait has a deadline, everything is stopped at the end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readRssBytes } from '../conformance/control-plane/process-usage.ts';
import {
  createDaemonSet,
  DEADLINE_MS,
  settle,
  startBenchCluster,
} from './support/bench-cluster.ts';
import type { BenchCluster } from './support/bench-cluster.ts';
import { startEngineProcess } from './support/engine-process.ts';
import { say } from './support/say.ts';
import { renderRows } from './support/statistics.ts';

const NODES_COUNT = Number(process.env['BENCH_NODES'] ?? 1000);
const DAEMON_SETS_COUNT = Number(process.env['BENCH_DAEMONSETS'] ?? 10);
const WINDOW_MS = Number(process.env['BENCH_IDLE_SECONDS'] ?? 90) * 1000;
/** What follows the last pod (a look, a status) is over by then. */
const CALM_MS = Number(process.env['BENCH_CALM_SECONDS'] ?? 30) * 1000;
const STATUS_EVERY_MS = 300_000;
const MIB = 1024 * 1024;

interface Usage {
  readonly cpuSeconds: number;
  readonly requests: Readonly<Record<string, number>>;
}

async function main(): Promise<void> {
  const cluster = await startBenchCluster('bench-idle', NODES_COUNT);
  const rows: string[][] = [['controller', 'CPU, % of a core', 'RSS MiB', 'per minute']];
  try {
    rows.push(await measureRollcall(cluster));
    rows.push(await measureBuiltIn(cluster));
  } finally {
    await cluster.stop();
  }
  process.stdout.write(
    `${String(NODES_COUNT)} nodes, ${String(DAEMON_SETS_COUNT)} DaemonSets, ${String(WINDOW_MS / 1000)} s\n${renderRows(rows)}\n`,
  );
}

async function measureRollcall(cluster: BenchCluster): Promise<string[]> {
  const engine = await startEngineProcess(cluster.controlPlane, { readsTable: true });
  try {
    for (let index = 0; index < DAEMON_SETS_COUNT; index += 1) {
      await createDaemonSet(cluster, `agent-${String(index)}`);
    }
    const wanted = DAEMON_SETS_COUNT * NODES_COUNT;
    await cluster.observer.waitUntil(
      ({ pods }) => pods.size >= wanted && [...pods.values()].every(({ isReady }) => isReady),
      { deadlineMs: DEADLINE_MS, description: `${String(wanted)} pods ready` },
    );
    const used = await measureWindow(cluster, engine.usage);
    return ['Rollcall', used.cpu, mib(engine.pid), used.counts];
  } finally {
    await engine.stop();
  }
}

/** The pods are those that Rollcall made: the built-in controller takes them over as they are. */
async function measureBuiltIn(cluster: BenchCluster): Promise<string[]> {
  const { controlPlane } = cluster;
  await controlPlane.setDaemonSetController('on');
  const usage = (): Promise<Usage> =>
    Promise.resolve({ cpuSeconds: controlPlane.cpuSeconds('controllerManager'), requests: {} });
  const used = await measureWindow(cluster, usage);
  return ['built-in', used.cpu, '-', 'whole controller-manager'];
}

async function measureWindow(
  cluster: BenchCluster,
  usage: () => Promise<Usage>,
): Promise<{ readonly cpu: string; readonly counts: string }> {
  await settle(cluster);
  say('waiting until it is calm …');
  await reportStatuses(cluster, CALM_MS);
  const before = await usage();
  const startedAtMs = performance.now();
  say('measuring …');
  await reportStatuses(cluster, WINDOW_MS);
  const after = await usage();
  const seconds = (performance.now() - startedAtMs) / 1000;
  const counts = Object.keys(after.requests)
    .map((key) => [key, (after.requests[key] ?? 0) - (before.requests[key] ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .map(([key, count]) => `${key} ${((count * 60) / seconds).toFixed(1)}`);
  return {
    cpu: (((after.cpuSeconds - before.cpuSeconds) / seconds) * 100).toFixed(2),
    counts: counts.join(', '),
  };
}

/** Patches one node's heartbeat after the other, as often as so many kubelets do, for so long. */
async function reportStatuses({ admin, observer }: BenchCluster, forMs: number): Promise<void> {
  const names = [...observer.nodes.values()].map(({ name }) => name);
  const everyMs = STATUS_EVERY_MS / names.length;
  const startedAtMs = performance.now();
  for (let count = 0; count * everyMs < forMs; count += 1) {
    await sleep(Math.max(0, startedAtMs + count * everyMs - performance.now()));
    const name = names[count % names.length] ?? '';
    const lastHeartbeatTime = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const answer = await admin.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${name}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: [{ type: 'Ready', lastHeartbeatTime }] } },
    });
    if (answer.status >= 400) throw new Error(`status of ${name}: ${String(answer.status)}`);
  }
  await sleep(Math.max(0, startedAtMs + forMs - performance.now()));
}

function mib(pid: number): string {
  return (readRssBytes(pid) / MIB).toFixed(0);
}

await main();
