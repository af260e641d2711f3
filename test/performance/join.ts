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
 *
 * Then a busy hour: a node each second, none waits for the one before, and each kubelet writes its Node five times more in
 * its first seconds, as real ones do. CPU there is that of the whole phase, divided by its joins.
 * Bounded: joins are counted, every wait has a deadline, everything is stopped at the end.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../conformance/control-plane/api.ts';
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
/** Of the busy hour: a node each so often, so many of them. */
const BUSY_EVERY_MS = 1000;
const BUSY_JOINS_COUNT = Number(process.env['BENCH_BUSY_JOINS'] ?? 30);
/** When a kubelet writes its Node again: labels of a cloud's controller, images, volumes, pressure, the first heartbeat. */
const KUBELET_WRITES_MS = [100, 300, 1000, 2000, 4000];
const DEADLINE_MS = 300_000;

interface Join {
  readonly firstPodMs: number;
  readonly allPodsMs: number;
  readonly cpuSeconds: number;
}

interface Row {
  readonly who: string;
  readonly pace: 'apart' | 'busy';
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
      const measured = who === 'rollcall' ? measureRollcall(bench) : measureBuiltIn(bench, who);
      for (const row of await measured) {
        rows.push(row);
        say(cellsOf(row).join('  '));
      }
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

async function measureRollcall(bench: Bench): Promise<Row[]> {
  say('starting the engine …');
  const engine = await startEngineProcess(bench.controlPlane);
  try {
    const readCpu = (): number => readCpuSeconds(engine.pid);
    await createDaemonSets(bench);
    await warmUp(bench, readCpu);
    return await measureBoth(bench, {
      who: 'rollcall',
      readCpu,
      readCounts: async () => (await engine.usage()).requests,
    });
  } finally {
    await engine.stop();
  }
}

async function measureBuiltIn(bench: Bench, limits: 'default' | 'lifted'): Promise<Row[]> {
  say(`built-in controller, ${limits} limits …`);
  const { controlPlane } = bench;
  await controlPlane.setControllerManagerLimits('lifted');
  await controlPlane.setDaemonSetController('on');
  await createDaemonSets(bench);
  await controlPlane.setControllerManagerLimits(limits);
  const readCpu = (): number => controlPlane.cpuSeconds('controllerManager');
  await warmUp(bench, readCpu);
  const rows = await measureBoth(bench, {
    who: `built-in, ${limits}`,
    readCpu,
    readCounts: () => Promise.resolve({}),
  });
  await controlPlane.setControllerManagerLimits('lifted');
  await controlPlane.setDaemonSetController('off');
  return rows;
}

interface Measured {
  readonly who: string;
  readonly readCpu: () => number;
  /** Counters of an engine; none of the built-in controller. */
  readonly readCounts: () => Promise<Readonly<Record<string, number>>>;
}

async function measureBoth(bench: Bench, measured: Measured): Promise<Row[]> {
  const { who, readCpu, readCounts } = measured;
  const rows: Row[] = [];
  for (const pace of ['apart', 'busy'] as const) {
    const before = await readCounts();
    const prefix = `${who.replaceAll(/\W+/g, '-')}-${pace}`;
    const joins = await (pace === 'apart'
      ? joinSome(bench, { prefix, count: JOINS_COUNT, readCpu })
      : joinEachSecond(bench, { prefix, count: BUSY_JOINS_COUNT, readCpu }));
    rows.push({ who, pace, joins, notes: countsOf(before, await readCounts(), joins.length) });
  }
  return rows;
}

type Counts = Readonly<Record<string, number>>;

/** Counters per join, those of each request to the log. */
function countsOf(before: Counts, after: Counts, joinsCount: number): string {
  if (Object.keys(after).length === 0) return 'whole controller-manager';
  const perJoin = (key: string): string =>
    (((after[key] ?? 0) - (before[key] ?? 0)) / joinsCount).toFixed(1);
  for (const key of Object.keys(after).filter((each) => /^(api|item) /.test(each))) {
    say(`${perJoin(key).padStart(8)}  ${key}`);
  }
  return COUNTED.map((key) => `${key} ${perJoin(key)}`).join(', ');
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
  await removeNodes(bench, { names, readCpu });
  return joins;
}

/** A node each second, whatever became of the one before, and kubelets that write their Node again and again. */
async function joinEachSecond(
  bench: Bench,
  wanted: { readonly prefix: string; readonly count: number; readonly readCpu: () => number },
): Promise<Join[]> {
  const { prefix, count, readCpu } = wanted;
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`);
  const fromSeconds = readCpu();
  const fromEvent = bench.observer.events.length;
  const kubelets = names.map(async (name, index) => {
    await delay(index * BUSY_EVERY_MS);
    await createNodes(bench.admin, [fakeNode({ name })]);
    await writeAsKubelet(bench.admin, name);
  });
  await Promise.all(kubelets);
  await bench.observer.waitUntil(
    (it) => names.every((name) => countReadyOn(it, name) === DAEMON_SETS_COUNT),
    { deadlineMs: DEADLINE_MS, description: 'all pods of the busy hour ready' },
  );
  await bench.observer.waitUntilQuiet({ quietMs: APART_MS, deadlineMs: DEADLINE_MS });
  const cpuSeconds = (readCpu() - fromSeconds) / count;
  const joins = names.map((name) => ({
    ...readTimes(bench.observer, name, fromEvent),
    cpuSeconds,
  }));
  await removeNodes(bench, { names, readCpu });
  return joins;
}

async function writeAsKubelet(admin: ApiClient, name: string): Promise<void> {
  let passedMs = 0;
  for (const atMs of KUBELET_WRITES_MS) {
    await delay(atMs - passedMs);
    passedMs = atMs;
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const pressure = { type: 'MemoryPressure', status: 'False', lastHeartbeatTime: now };
    await admin.request({
      method: 'PATCH',
      path: `/api/v1/nodes/${name}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: {
        status: {
          conditions: [{ ...pressure, lastTransitionTime: now, reason: `After${String(atMs)}` }],
          images: [{ names: [`registry.example/agent:${String(atMs)}`], sizeBytes: atMs }],
        },
      },
    });
  }
}

async function removeNodes(
  bench: Bench,
  { names, readCpu }: { readonly names: readonly string[]; readonly readCpu: () => number },
): Promise<void> {
  const beforeSeconds = readCpu();
  await deleteNodes(bench.admin, names);
  await bench.observer.waitUntil(
    (it) =>
      [...it.pods.values()].every((pod) => pod.node === undefined || !names.includes(pod.node)),
    { deadlineMs: DEADLINE_MS, description: 'pods of the removed nodes collected' },
  );
  const cpuSeconds = (readCpu() - beforeSeconds) / names.length;
  say(`CPU of each node's removal: ${cpuSeconds.toFixed(3)} s`);
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
    'joins',
    'first p50',
    'p95',
    'all p50',
    'p95',
    'CPU s p50',
    'mean',
    'per join',
  ];
  const title = `${String(JOINS_COUNT)} joins apart, ${String(BUSY_JOINS_COUNT)} one a second, ${String(NODES_COUNT)} nodes, ${String(DAEMON_SETS_COUNT)} DaemonSets; milliseconds from eligible to pods created`;
  process.stdout.write(`${title}\n${renderRows([headings, ...rows.map(cellsOf)])}\n`);
  for (const { who, joins } of rows.filter(({ pace }) => pace === 'apart')) {
    process.stdout.write(`CPU seconds of each join, ${who}: ${describeCpu(joins)}\n`);
  }
}

function cellsOf({ who, pace, joins, notes }: Row): string[] {
  const all = joins.map((one) => one.allPodsMs);
  const first = joins.map((one) => one.firstPodMs);
  const cpu = joins.map((one) => one.cpuSeconds);
  return [
    who,
    pace === 'apart' ? 'apart' : 'one a second',
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
