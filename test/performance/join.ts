/**
 * `npm run bench -- join`: a node joins a cluster of 1,000 nodes with 10 DaemonSets. How long from
 * *eligible* (its last start-up taint is gone) until all ten pods are created, and at what cost; Rollcall
 * and the built-in controller (default and lifted limits) in the same run, on the same control plane.
 *
 * Times are those of an independent watch. CPU is user plus system time of the controller's process: the
 * controller-manager, or the engine with watcher, handlers, and its local queues and tables together; of each
 * join from its node's creation until three seconds were quiet, so that the looks two seconds after its pods are its
 * own, in hundredths of a second, and apart from that of the nodes' removal at the end. How it falls while V8
 * compiles is printed, warm-up included.
 * Bounded: joins are counted, every wait has a deadline, everything is stopped at the end.
 */
import { createApiClient } from '../conformance/control-plane/api.ts';
import type { ApiClient } from '../conformance/control-plane/api.ts';
import { startControlPlane } from '../conformance/control-plane/control-plane.ts';
import type { ControlPlane } from '../conformance/control-plane/control-plane.ts';
import {
  createNodes,
  deleteNodes,
  fakeNode,
  plainNodes,
} from '../conformance/control-plane/nodes.ts';
import { countEligibleNodes, startObserver } from '../conformance/control-plane/observer.ts';
import type { Observer } from '../conformance/control-plane/observer.ts';
import { testDaemonSet, daemonSetPath } from '../conformance/scenarios/daemon-set.ts';
import { applyFiles } from '../conformance/scenarios/manifests.ts';
import { repositoryPath } from '../conformance/scenarios/repository.ts';
import { readCpuSeconds } from '../conformance/control-plane/process-usage.ts';
import { startEngineProcess } from './support/engine-process.ts';
import { percentile, renderRows } from './support/statistics.ts';

const NODES_COUNT = Number(process.env['BENCH_NODES'] ?? 1000);
const DAEMON_SETS_COUNT = Number(process.env['BENCH_DAEMONSETS'] ?? 10);
const JOINS_COUNT = Number(process.env['BENCH_JOINS'] ?? 20);
/** Who is measured, in this order: `npm run bench -- join rollcall` measures one of them. */
const WHO = (
  process.argv.length > 2 ? process.argv.slice(2) : ['rollcall', 'lifted', 'default']
).map(parseWho);
/** Counters of the engine that are shown per join. */
const COUNTED = [
  'messages',
  'sends',
  'hinted',
  'skipped',
  'settled',
  'acted',
  'deferred',
  'timers',
  'invocations',
  'reads',
  'writes',
  'kubernetes',
];
/** Before it is measured: V8 compiles what a join runs for the first ten. */
const WARM_JOINS_COUNT = Number(process.env['BENCH_WARM_JOINS'] ?? 10);
/** Joins are so far apart that nothing of one comes into the next. */
const APART_MS = Number(process.env['BENCH_APART_MS'] ?? 3000);
const DEADLINE_MS = 300_000;

interface Join {
  readonly firstPodMs: number;
  readonly allPodsMs: number;
  readonly cpuSeconds: number;
}

interface Row {
  readonly who: string;
  readonly joins: readonly Join[];
  readonly notes: string;
}

interface Bench {
  readonly controlPlane: ControlPlane;
  readonly admin: ApiClient;
  readonly observer: Observer;
}

function parseWho(text: string): 'rollcall' | 'lifted' | 'default' {
  if (text === 'rollcall' || text === 'lifted' || text === 'default') return text;
  throw new Error(
    `who is ${text}? rollcall, lifted and default (the built-in controller’s limits)`,
  );
}

async function main(): Promise<void> {
  say('starting a control plane …');
  const controlPlane = await startControlPlane({ name: 'bench-join', limits: 'lifted' });
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  const observer = await startObserver(controlPlane.connectionOf('observer'));
  const bench = { controlPlane, admin, observer };
  const rows: Row[] = [];
  try {
    await prepare(bench);
    for (const who of WHO) {
      // The next one starts like the first: without DaemonSets.
      if (rows.length > 0) await deleteDaemonSets(bench);
      const row = await (who === 'rollcall' ? measureRollcall(bench) : measureBuiltIn(bench, who));
      rows.push(row);
      say(cellsOf(row).join('  '));
    }
  } finally {
    await observer.stop();
    admin.close();
    await controlPlane.stop();
  }
  print(rows);
}

async function prepare({ admin, observer }: Bench): Promise<void> {
  await applyFiles(admin, [
    repositoryPath('infra/watcher/rbac.yaml'),
    repositoryPath('infra/functions/rbac.yaml'),
  ]);
  say(`creating ${String(NODES_COUNT)} nodes …`);
  await createNodes(admin, plainNodes(NODES_COUNT));
  await observer.waitUntil((it) => countEligibleNodes(it) === NODES_COUNT, {
    deadlineMs: DEADLINE_MS,
  });
}

async function measureRollcall(bench: Bench): Promise<Row> {
  say('starting the engine …');
  const engine = await startEngineProcess(bench.controlPlane);
  try {
    const readCpu = (): number => readCpuSeconds(engine.pid);
    await createDaemonSets(bench);
    await warmUp(bench, readCpu);
    const before = await engine.usage();
    const joins = await joinSome(bench, { prefix: 'rollcall', count: JOINS_COUNT, readCpu });
    const after = await engine.usage();
    const perJoin = (key: string): string =>
      (((after.requests[key] ?? 0) - (before.requests[key] ?? 0)) / JOINS_COUNT).toFixed(1);
    for (const key of Object.keys(after.requests).filter((each) => /^(api|item) /.test(each))) {
      say(`${perJoin(key).padStart(8)}  ${key}`);
    }
    return {
      who: 'rollcall',
      joins,
      notes: COUNTED.map((key) => `${key} ${perJoin(key)}`).join(', '),
    };
  } finally {
    await engine.stop();
  }
}

async function measureBuiltIn(bench: Bench, limits: 'default' | 'lifted'): Promise<Row> {
  say(`built-in controller, ${limits} limits …`);
  const { controlPlane } = bench;
  await controlPlane.setControllerManagerLimits('lifted');
  await controlPlane.setDaemonSetController('on');
  await createDaemonSets(bench);
  await controlPlane.setControllerManagerLimits(limits);
  const readCpu = (): number => controlPlane.cpuSeconds('controllerManager');
  await warmUp(bench, readCpu);
  const joins = await joinSome(bench, { prefix: `builtin-${limits}`, count: JOINS_COUNT, readCpu });
  await controlPlane.setControllerManagerLimits('lifted');
  await controlPlane.setDaemonSetController('off');
  return { who: `built-in, ${limits}`, joins, notes: 'whole controller-manager' };
}

async function warmUp(bench: Bench, readCpu: () => number): Promise<void> {
  const joins = await joinSome(bench, { prefix: 'warm', count: WARM_JOINS_COUNT, readCpu });
  say(`CPU of joins before it is measured: ${describeCpu(joins)}`);
}

async function createDaemonSets({ admin, observer }: Bench): Promise<void> {
  for (let index = 0; index < DAEMON_SETS_COUNT; index += 1) {
    await admin.post(daemonSetPath({}), testDaemonSet({ name: nameOf(index) }));
  }
  const wanted = DAEMON_SETS_COUNT * observer.nodes.size;
  await observer.waitUntil((it) => it.pods.size >= wanted && allReady(it), {
    deadlineMs: DEADLINE_MS,
    description: `${String(wanted)} pods ready`,
  });
  await observer.waitUntilQuiet({ quietMs: 3000, deadlineMs: DEADLINE_MS });
}

function allReady(observer: Observer): boolean {
  for (const pod of observer.pods.values()) if (!pod.isReady) return false;
  return true;
}

async function deleteDaemonSets({ admin, observer }: Bench): Promise<void> {
  for (let index = 0; index < DAEMON_SETS_COUNT; index += 1) {
    await admin.delete(daemonSetPath({ name: nameOf(index) }));
  }
  await observer.waitUntil((it) => it.pods.size === 0, {
    deadlineMs: DEADLINE_MS,
    description: 'no pods',
  });
}

/** Lets nodes join one after the other, each followed by quiet; then removes them again. */
async function joinSome(
  bench: Bench,
  wanted: { readonly prefix: string; readonly count: number; readonly readCpu: () => number },
): Promise<Join[]> {
  const { prefix, count, readCpu } = wanted;
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`);
  const joins: Join[] = [];
  for (const name of names) {
    const fromSeconds = readCpu();
    const fromEvent = bench.observer.events.length;
    await createNodes(bench.admin, [fakeNode({ name })]);
    await bench.observer.waitUntil((it) => countReadyOn(it, name) === DAEMON_SETS_COUNT, {
      deadlineMs: DEADLINE_MS,
      description: `${String(DAEMON_SETS_COUNT)} ready pods on ${name}`,
    });
    await bench.observer.waitUntilQuiet({ quietMs: APART_MS, deadlineMs: DEADLINE_MS });
    const cpuSeconds = readCpu() - fromSeconds;
    joins.push({ ...readTimes(bench.observer, name, fromEvent), cpuSeconds });
  }
  const beforeSeconds = readCpu();
  await deleteNodes(bench.admin, names);
  await bench.observer.waitUntil(
    (it) =>
      [...it.pods.values()].every((pod) => pod.node === undefined || !names.includes(pod.node)),
    { deadlineMs: DEADLINE_MS, description: 'pods of the removed nodes collected' },
  );
  say(`CPU of each node's removal: ${((readCpu() - beforeSeconds) / count).toFixed(3)} s`);
  return joins;
}

function describeCpu(joins: readonly Join[]): string {
  return joins.map(({ cpuSeconds }) => cpuSeconds.toFixed(2)).join(' ');
}

function countReadyOn(observer: Observer, node: string): number {
  let count = 0;
  for (const pod of observer.pods.values()) if (pod.node === node && pod.isReady) count += 1;
  return count;
}

function readTimes(observer: Observer, node: string, fromEvent: number): Omit<Join, 'cpuSeconds'> {
  let eligibleAtMs = Number.NaN;
  const createdAtMs: number[] = [];
  for (const { type, atMs, record } of observer.events.slice(fromEvent)) {
    if (record.kind === 'Node' && record.name === node && record.taintKeys.length === 0) {
      if (Number.isNaN(eligibleAtMs)) eligibleAtMs = atMs;
    }
    if (record.kind === 'Pod' && record.node === node && type === 'ADDED') createdAtMs.push(atMs);
  }
  return {
    firstPodMs: Math.min(...createdAtMs) - eligibleAtMs,
    allPodsMs: Math.max(...createdAtMs) - eligibleAtMs,
  };
}

function nameOf(index: number): string {
  return `agent-${String(index)}`;
}

function print(rows: readonly Row[]): void {
  const headings = [
    'controller',
    'first p50',
    'p95',
    'all p50',
    'p95',
    'CPU s p50',
    'mean',
    'per join',
  ];
  const title = `${String(JOINS_COUNT)} joins, ${String(NODES_COUNT)} nodes, ${String(DAEMON_SETS_COUNT)} DaemonSets; milliseconds from eligible to pods created`;
  process.stdout.write(`${title}\n${renderRows([headings, ...rows.map(cellsOf)])}\n`);
  for (const { who, joins } of rows) {
    process.stdout.write(`CPU seconds of each join, ${who}: ${describeCpu(joins)}\n`);
  }
}

function cellsOf({ who, joins, notes }: Row): string[] {
  const all = joins.map((one) => one.allPodsMs);
  const first = joins.map((one) => one.firstPodMs);
  const cpu = joins.map((one) => one.cpuSeconds);
  return [
    who,
    percentile(first, 50).toFixed(0),
    percentile(first, 95).toFixed(0),
    percentile(all, 50).toFixed(0),
    percentile(all, 95).toFixed(0),
    percentile(cpu, 50).toFixed(2),
    (cpu.reduce((sum, one) => sum + one, 0) / cpu.length).toFixed(2),
    notes,
  ];
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

await main();
