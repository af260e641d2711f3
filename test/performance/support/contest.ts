/**
 * Runs one measurement for each contender, some of them several times, and prints medians and ratios.
 *
 * The built-in controller with its default limits is measured once: its client limits decide its times,
 * nothing else, and they are long. The others have a run before the first one that counts, each: the very first on a control plane takes
 * an API server that has just begun a third more, whoever it is that asks. Contenders run one after the other on the same control plane, in
 * the same run: ratios hold also on a machine whose speed differs. One whose speed changes from minute to minute favours whoever comes
 * first, or last: so each time stands beside the CPU of those who do the same work for every contender, and so do ratios.
 */
import { observerNowMs } from '../../conformance/control-plane/observer.ts';
import { startBenchCluster, type BenchCluster } from './bench-cluster.ts';
import { say } from './say.ts';
import { percentile, renderRows } from './statistics.ts';
import { countBy, readAuditRecords } from '../../conformance/control-plane/audit.ts';
import type { AuditRecord } from '../../conformance/control-plane/audit.ts';
import { userNameOf } from '../../conformance/control-plane/identities.ts';
import { startEngineProcess } from './engine-process.ts';

/** In the order in which they are measured. */
const CONTENDERS = ['rollcall', 'lifted', 'default'] as const;

/** Rollcall, or the limits of the built-in controller. */
type Contender = (typeof CONTENDERS)[number];

/** What a contender has used since it began. */
interface Usage {
  readonly cpuSeconds: number;
  /** Counters of the engine; none for the built-in controller. */
  readonly counters: Readonly<Record<string, number>>;
}

interface RunningContender {
  readonly usage: () => Promise<Usage>;
  /** Its requests that arrived since then, watches and leases left out. */
  readonly requestsSince: (sinceMs: number) => Promise<readonly AuditRecord[]>;
  readonly stop: () => Promise<void>;
}

/** Reads the names on a command line; all of them when there is none. */
function parseContenders(names: readonly string[]): readonly Contender[] {
  if (names.length === 0) return CONTENDERS;
  return names.map((name) => {
    const found = CONTENDERS.find((contender) => contender === name);
    if (found !== undefined) return found;
    throw new Error(`who is ${name}? One of ${CONTENDERS.join(', ')}`);
  });
}

/** Starts one; the former must have been stopped. */
async function startContender(who: Contender, cluster: BenchCluster): Promise<RunningContender> {
  return who === 'rollcall' ? startRollcall(cluster) : startBuiltIn(who, cluster);
}

async function startRollcall({ controlPlane }: BenchCluster): Promise<RunningContender> {
  const engine = await startEngineProcess(controlPlane);
  const users = new Set([userNameOf('watcher'), userNameOf('functions')]);
  return {
    usage: async () => {
      const { cpuSeconds, requests } = await engine.usage();
      return { cpuSeconds, counters: requests };
    },
    requestsSince: (sinceMs) => readRequests(controlPlane.auditLogPath, { sinceMs, users }),
    stop: engine.stop,
  };
}

async function startBuiltIn(
  limits: Exclude<Contender, 'rollcall'>,
  { controlPlane }: BenchCluster,
): Promise<RunningContender> {
  await controlPlane.setControllerManagerLimits(limits);
  await controlPlane.setDaemonSetController('on');
  const users = new Set(['system:serviceaccount:kube-system:daemon-set-controller']);
  return {
    usage: () =>
      Promise.resolve({ cpuSeconds: controlPlane.cpuSeconds('controllerManager'), counters: {} }),
    requestsSince: (sinceMs) => readRequests(controlPlane.auditLogPath, { sinceMs, users }),
    stop: async () => {
      await controlPlane.setControllerManagerLimits('lifted');
      await controlPlane.setDaemonSetController('off');
    },
  };
}

function readRequests(
  path: string,
  of: { readonly sinceMs: number; readonly users: ReadonlySet<string> },
): Promise<readonly AuditRecord[]> {
  return readAuditRecords(path, {
    sinceMs: of.sinceMs,
    where: ({ user, verb, resource }) =>
      of.users.has(user) && verb !== 'watch' && resource !== 'leases',
  });
}

/** Requests by what they were for, the most frequent first. */
function describeRequests(requests: readonly AuditRecord[]): string {
  const counts = countBy(requests, ({ verb, resource, subresource, code }) =>
    [
      `${verb} ${resource}`,
      subresource === '' ? '' : `/${subresource}`,
      code < 400 ? '' : ` (${String(code)})`,
    ].join(''),
  );
  return [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([what, count]) => `${what} ${String(count)}`)
    .join(', ');
}

/** What one run of a measurement took. */
export interface Timing {
  /** The time that ratios are made of. */
  readonly totalMs: number;
  /** More figures in a fixed order, e.g. when all pods were created. */
  readonly parts: Readonly<Record<string, number>>;
}

/** One run: what is timed, around which the contest measures. */
export interface Measurement {
  /** What `totalMs` means, as a heading. */
  readonly what: string;
  /** Pods that one run makes. */
  readonly podsCount: number;
  /** Brings the cluster to where a run begins; the contender is at work. */
  readonly prepare: (cluster: BenchCluster) => Promise<void>;
  readonly run: (cluster: BenchCluster) => Promise<Timing>;
  /** Takes everything away again, after the last run of a contender. */
  readonly clear: (cluster: BenchCluster) => Promise<void>;
  /** After each run, before the next one's `prepare`. */
  readonly settle: (cluster: BenchCluster) => Promise<void>;
}

interface Run extends Timing {
  /** CPU of etcd, scheduler and kubelets: the same work whoever asks for it, so it tells how fast the machine was. */
  readonly sharedCpuMs: number;
  readonly cpuSeconds: number;
  readonly requestsCount: number;
  readonly statusUpdatesCount: number;
}

interface Result {
  readonly who: Contender;
  readonly runs: readonly Run[];
}

const REPEATS: Readonly<Record<Contender, number>> = {
  rollcall: Number(process.env['BENCH_REPEATS'] ?? 3),
  lifted: Number(process.env['BENCH_REPEATS'] ?? 3),
  default: 1,
};
/** Runs of a contender that do not count. */
const WARM_UPS: Readonly<Record<Contender, number>> = { rollcall: 1, lifted: 1, default: 0 };
/** Nodes of the cluster. */
export const NODES_COUNT = Number(process.env['BENCH_NODES'] ?? 1000);

/** Measures the contenders that the command line names, or all three, and prints. */
export async function holdContest(name: string, measurement: Measurement): Promise<void> {
  const contenders = parseContenders(process.argv.slice(2));
  const cluster = await startBenchCluster(`bench-${name}`, NODES_COUNT);
  const results: Result[] = [];
  try {
    for (const who of contenders) {
      say(`${who} …`);
      results.push({ who, runs: await measureContender(who, cluster, measurement) });
    }
  } finally {
    await cluster.stop();
  }
  print(results, measurement);
}

async function measureContender(
  who: Contender,
  cluster: BenchCluster,
  measurement: Measurement,
): Promise<readonly Run[]> {
  const contender = await startContender(who, cluster);
  const runs: Run[] = [];
  try {
    for (let repeat = -WARM_UPS[who]; repeat < REPEATS[who]; repeat += 1) {
      await measurement.prepare(cluster);
      if (repeat < 0) say('  not counted:');
      const run = await measureRun(contender, cluster, measurement);
      if (repeat >= 0) runs.push(run);
      await measurement.settle(cluster);
    }
    await measurement.clear(cluster);
  } finally {
    await contender.stop();
  }
  return runs;
}

async function measureRun(
  contender: RunningContender,
  cluster: BenchCluster,
  measurement: Measurement,
): Promise<Run> {
  const sinceMs = observerNowMs();
  const before = await contender.usage();
  const othersBefore = readOthers(cluster);
  const timing = await measurement.run(cluster);
  const after = await contender.usage();
  const others = subtract(readOthers(cluster), othersBefore);
  const requests = await contender.requestsSince(sinceMs);
  const run = {
    ...timing,
    sharedCpuMs: SHARED.reduce((sum, component) => sum + (others[component] ?? 0), 0),
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    requestsCount: requests.length,
    statusUpdatesCount: requests.filter(({ subresource }) => subresource === 'status').length,
  };
  say(`  ${seconds(run.totalMs)} s, CPU ${run.cpuSeconds.toFixed(1)} s; ${describe(timing.parts)}`);
  say(`  CPU ms of others: ${describe(others)}`);
  say(`  ${describeRequests(requests)}`);
  const counted = describe(subtract(after.counters, before.counters));
  if (counted !== '') say(`  ${counted}`);
  return run;
}

/** Whose work is the same whichever controller makes the pods. */
const SHARED = ['etcd', 'scheduler', 'kwok'] as const;

/** CPU of everybody else who shares the machine in a run, in milliseconds. */
function readOthers({ controlPlane }: BenchCluster): Figures {
  const figures: Record<string, number> = {};
  for (const component of [
    'etcd',
    'apiServer',
    'scheduler',
    'kwok',
    'controllerManager',
  ] as const) {
    figures[component] = controlPlane.cpuSeconds(component) * 1000;
  }
  const { user, system } = process.cpuUsage();
  figures['this'] = (user + system) / 1000;
  return figures;
}

type Figures = Readonly<Record<string, number>>;

/** What has grown, by how much. */
function subtract(after: Figures, before: Figures): Figures {
  const grown = Object.entries(after)
    .map(([key, value]) => [key, value - (before[key] ?? 0)] as const)
    .filter(([, count]) => count > 0);
  return Object.fromEntries(grown);
}

function describe(figures: Figures): string {
  return Object.entries(figures)
    .map(([key, value]) => `${key} ${String(Math.round(value))}`)
    .join(', ');
}

function print(results: readonly Result[], { what, podsCount }: Measurement): void {
  const [first] = results;
  const parts = Object.keys(first?.runs[0]?.parts ?? {});
  const headings = ['controller', 'runs', `${what}, s`, ...parts, 'pods/s'];
  const costs = ['requests/pod', 'CPU s', 'status updates', `s / CPU s of ${SHARED.join(', ')}`];
  const rows = results.map(({ who, runs }) => {
    const median = (figure: (run: Run) => number): number => percentile(runs.map(figure), 50);
    const totalMs = median((run) => run.totalMs);
    return [
      who === 'rollcall' ? 'Rollcall' : `built-in, ${who} limits`,
      String(runs.length),
      `${seconds(totalMs)} (${runs.map((run) => seconds(run.totalMs)).join(', ')})`,
      ...parts.map((part) => String(Math.round(median((run) => run.parts[part] ?? Number.NaN)))),
      (podsCount / (totalMs / 1000)).toFixed(0),
      (median((run) => run.requestsCount) / podsCount).toFixed(2),
      median((run) => run.cpuSeconds).toFixed(1),
      String(median((run) => run.statusUpdatesCount)),
      median(relative).toFixed(3),
    ];
  });
  const title = `${String(NODES_COUNT)} nodes, medians`;
  process.stdout.write(`${title}\n${renderRows([[...headings, ...costs], ...rows])}\n`);
  process.stdout.write(`${describeRatios(results)}\n`);
}

/** A run's time for each second of the work that is the same for all. */
function relative({ totalMs, sharedCpuMs }: Run): number {
  return totalMs / sharedCpuMs;
}

/** How much faster than the built-in controller, with each of its limits: by all runs of each contender, in time and in relative time. */
function describeRatios(results: readonly Result[]): string {
  const ratio = (who: Contender, figure: (run: Run) => number): number | undefined => {
    const medianOf = (of: Contender): number | undefined => {
      const runs = results.flatMap((result) => (result.who === of ? result.runs : []));
      return runs.length === 0 ? undefined : percentile(runs.map(figure), 50);
    };
    const [own, other] = [medianOf('rollcall'), medianOf(who)];
    return own === undefined || other === undefined ? undefined : other / own;
  };
  const texts = (['default', 'lifted'] as const).flatMap((who) => {
    const fast = ratio(who, ({ totalMs }) => totalMs);
    const atOneSpeed = ratio(who, relative);
    if (fast === undefined || atOneSpeed === undefined) return [];
    return `${fast.toFixed(2)}× as fast as ${who} limits (${atOneSpeed.toFixed(2)}× on a machine of one speed)`;
  });
  return texts.length === 0 ? 'nothing to compare: no ratios' : texts.join(', ');
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(2);
}
