/**
 * `npm run bench -- watcher [paged] [streamed] [--json]`: memory and CPU of the watcher of a large cluster in which
 * nothing happens: 1,000 nodes, 10,000 pods of ten DaemonSets, and BENCH_OTHERS pods that it has no use for.
 *
 * Its bundle, with the flags and the environment of its image (infra/watcher/Dockerfile), against a scripted API server,
 * sending over TLS to the local queue, which is emptied. Asked as in a pod: probes every 10 and 20 s, metrics every 30 s.
 * First a quiet window, in which each node's status comes every five minutes; then one in which a node's label changes
 * each second that half of the DaemonSets select by, so that placement is asked. Memory is VmHWM and VmRSS of /proc, CPU
 * user plus system time. Bounded: every wait has a deadline, everything is stopped at the end. Exits 1 when a goal is
 * missed..
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleWatcher } from '../../scripts/build/watcher-bundle.ts';
import { startReaper } from '../../scripts/lib/reaper.ts';
import { pollUntil } from '../conformance/control-plane/poll.ts';
import { readCpuSeconds } from '../conformance/control-plane/process-usage.ts';
import { repositoryPath } from '../conformance/scenarios/repository.ts';
import { openEventsQueue, type EventsQueue } from '../conformance/watcher-memory/events-queue.ts';
import { readShippedCommand } from '../conformance/watcher-memory/shipped-command.ts';
import { startWatcherProcess } from '../conformance/watcher-memory/watcher-process.ts';
import type { WatcherProcess } from '../conformance/watcher-memory/watcher-process.ts';
import { mountWatcher } from '../support/watcher-mount.ts';
import { describeLargeCluster } from './support/large-cluster.ts';
import { serveLargeCluster } from './support/large-cluster-server.ts';
import type { LargeClusterServer, ListWay } from './support/large-cluster-server.ts';
import { say } from './support/say.ts';
import { renderRows } from './support/statistics.ts';

const NODES_COUNT = Number(process.env['BENCH_NODES'] ?? 1000);
const DAEMON_SETS_COUNT = Number(process.env['BENCH_DAEMONSETS'] ?? 10);
const OTHERS_COUNT = Number(process.env['BENCH_OTHERS'] ?? 0);
const WINDOW_MS = Number(process.env['BENCH_IDLE_SECONDS'] ?? 60) * 1000;
const CALM_MS = Number(process.env['BENCH_CALM_SECONDS'] ?? 15) * 1000;
/** Flags of the watcher's Node beside those of its image, e.g. `--heapsnapshot-signal=SIGUSR2`. */
const MORE_FLAGS = (process.env['BENCH_WATCHER_FLAGS'] ?? '').split(' ').filter(Boolean);
const GOAL_MIB = 90;
const GOAL_PERCENT = 1;
const STATUS_EVERY_MS = 300_000;
const CHANGE_EVERY_MS = 1_000;
const DEADLINE_MS = 300_000;
const MIB = 2 ** 20;
/** As infra/watcher/deployment.yaml has them, and as a Prometheus asks. */
const ASKED: readonly (readonly [path: string, everyMs: number])[] = [
  ['/livez', 20_000],
  ['/readyz', 10_000],
  ['/metrics', 30_000],
];

interface Figures {
  readonly lists: ListWay;
  readonly peakMib: number;
  readonly settledMib: number;
  readonly fileMib: number;
  readonly startCpuSeconds: number;
  readonly idlePercent: number;
  readonly idleMessages: number;
  readonly msPerChange: number;
  readonly messagesPerChange: number;
}

interface Scene {
  readonly server: LargeClusterServer;
  readonly queue: EventsQueue;
  readonly watcher: WatcherProcess;
}

async function main(words: readonly string[]): Promise<void> {
  const known: readonly ListWay[] = ['paged', 'streamed'];
  const asked = known.filter((way) => words.includes(way));
  const all: Figures[] = [];
  for (const way of asked.length === 0 ? known : asked) all.push(await measure(way));
  report(all, words.includes('--json'));
}

async function measure(way: ListWay): Promise<Figures> {
  const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-bench-watcher-'));
  const reaper = startReaper({ temporaryDirectory: directory });
  // The reaper takes the directory away, too.
  const stops: (() => Promise<void> | void)[] = [reaper.close];
  try {
    const bundle = path.join(directory, 'watcher.mjs');
    await bundleWatcher(repositoryPath(''), bundle);
    const size = { nodes: NODES_COUNT, daemonSets: DAEMON_SETS_COUNT, otherPods: OTHERS_COUNT };
    const server = await serveLargeCluster(describeLargeCluster(size), way);
    stops.push(server.close);
    const queue = await openEventsQueue(directory);
    stops.push(queue.close);
    const mount = mountWatcher(server);
    stops.push(() => {
      mount.remove();
    });
    const shipped = readShippedCommand();
    const watcher = startWatcherProcess({
      name: 'watcher',
      bundle,
      command: { ...shipped, nodeFlags: [...shipped.nodeFlags, ...MORE_FLAGS] },
      environment: {
        ...queue.environment,
        ...mount.settings,
        ROLLCALL_CLUSTER: 'bench',
        ROLLCALL_PROBE_ADDRESS: '127.0.0.1:0',
      },
      logPath: path.join(directory, 'watcher.log'),
      reaper,
    });
    stops.push(() => watcher.stop());
    return await measureScene(way, { server, queue, watcher });
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

async function measureScene(way: ListWay, scene: Scene): Promise<Figures> {
  const { server, queue, watcher } = scene;
  const awaitThat = (description: string, isSo: () => boolean): Promise<true> =>
    pollUntil({ deadlineMs: DEADLINE_MS, description }, () => {
      watcher.assertRunning();
      return isSo() ? true : undefined;
    });
  say(`${way}: waiting until the snapshot is closed …`);
  await awaitThat('the snapshot is closed', () => hasManifest(queue));
  const startCpuSeconds = cpuSeconds(watcher);
  if (server.lists.streamed > 0 !== (way === 'streamed')) throw new Error('listed another way');
  const probing = startProbing(watcher);
  try {
    await reportStatuses(server, CALM_MS, 'nothing');
    say(`${way}: measuring for ${String(WINDOW_MS / 1000)} s while nothing changes …`);
    const idleFrom = queue.messages.length;
    const idle = await cpuWithin(watcher, () => reportStatuses(server, WINDOW_MS, 'nothing'));
    const idleMessages = queue.messages.length - idleFrom;
    const { residentBytes, fileBytes } = watcher.memory();
    say(`${way}: measuring while a label changes each second …`);
    const from = queue.messages.length;
    const changed = await cpuWithin(watcher, () => reportStatuses(server, WINDOW_MS, 'labels'));
    const count = Math.ceil(WINDOW_MS / CHANGE_EVERY_MS);
    await awaitThat('every change was told', () => nodeDeltas(queue, from).length >= count);
    return {
      lists: way,
      peakMib: watcher.memory().peakBytes / MIB,
      settledMib: residentBytes / MIB,
      fileMib: fileBytes / MIB,
      startCpuSeconds,
      idlePercent: idle.percent,
      idleMessages,
      msPerChange: ((changed.seconds - idle.seconds) * 1000) / count,
      messagesPerChange: (queue.messages.length - from) / count,
    };
  } finally {
    await probing.stop();
  }
}

/** Every kubelet reports once in five minutes, and where it is told so, one node after the other is relabelled each second. */
async function reportStatuses(
  server: LargeClusterServer,
  forMs: number,
  beside: 'nothing' | 'labels',
): Promise<void> {
  const everyMs = STATUS_EVERY_MS / NODES_COUNT;
  const startedAtMs = performance.now();
  let reports = 0;
  let changes = 0;
  for (;;) {
    const changeAtMs = beside === 'labels' ? changes * CHANGE_EVERY_MS : Number.POSITIVE_INFINITY;
    const nextMs = Math.min(reports * everyMs, changeAtMs);
    if (nextMs >= forMs) break;
    await sleep(Math.max(0, startedAtMs + nextMs - performance.now()));
    if (changeAtMs === nextMs) server.turnRing(changes++ % NODES_COUNT);
    else server.heartbeat(reports++ % NODES_COUNT);
  }
  await sleep(Math.max(0, startedAtMs + forMs - performance.now()));
}

function startProbing(watcher: WatcherProcess): { readonly stop: () => Promise<void> } {
  const port = watcher.logLines().find(({ message }) => message === 'serves probes and metrics')?.[
    'port'
  ];
  if (typeof port !== 'number') throw new Error('the watcher serves no probes');
  const running = new Set<Promise<void>>();
  const ask = async (asked: string): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${String(port)}${asked}`);
    const text = await answer.text();
    if (!answer.ok) say(`${asked}: ${String(answer.status)} ${text}`);
  };
  const timers = ASKED.map(([asked, everyMs]) =>
    setInterval(() => {
      const one = ask(asked)
        .catch((error: unknown) => {
          say(`${asked}: ${String(error)}`);
        })
        .finally(() => running.delete(one));
      running.add(one);
    }, everyMs),
  );
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}

async function cpuWithin(
  watcher: WatcherProcess,
  play: () => Promise<void>,
): Promise<{ readonly seconds: number; readonly percent: number }> {
  const before = cpuSeconds(watcher);
  const startedAtMs = performance.now();
  await play();
  const seconds = cpuSeconds(watcher) - before;
  return { seconds, percent: (seconds * 100_000) / (performance.now() - startedAtMs) };
}

function cpuSeconds(watcher: WatcherProcess): number {
  watcher.assertRunning();
  return readCpuSeconds(watcher.pid() ?? 0);
}

function hasManifest({ messages }: EventsQueue): boolean {
  return messages.some(({ body }) => body.kind === 'manifest');
}

function nodeDeltas({ messages }: EventsQueue, from: number): readonly string[] {
  const deltas = messages
    .slice(from)
    .flatMap(({ body }) => (body.kind === 'changes' ? body.deltas : []));
  return deltas.filter(({ of }) => of === 'Node').map(({ name }) => name);
}

function report(all: readonly Figures[], isJson: boolean): void {
  const row = (what: string, goal: string, figure: (of: Figures) => string): readonly string[] => [
    what,
    ...all.map(figure),
    goal,
  ];
  const mib = (value: number): string => `${value.toFixed(1)} MiB`;
  const table = renderRows([
    row('lists', 'goal', ({ lists }) => lists),
    row('peak memory', `${String(GOAL_MIB)} MiB`, ({ peakMib }) => mib(peakMib)),
    row('settled memory', '', ({ settledMib }) => mib(settledMib)),
    row('of it Node itself, its file', '', ({ fileMib }) => mib(fileMib)),
    row('CPU to the closed snapshot', '', (of) => `${of.startCpuSeconds.toFixed(2)} s`),
    row('CPU while nothing changes', `${String(GOAL_PERCENT)} % of a core`, (of) => {
      return `${of.idlePercent.toFixed(2)} %`;
    }),
    row('messages meanwhile', '', ({ idleMessages }) => String(idleMessages)),
    row('CPU of a label that changes', '', ({ msPerChange }) => `${msPerChange.toFixed(1)} ms`),
    row('messages of it', '', (of) => of.messagesPerChange.toFixed(2)),
  ]);
  const size = { nodes: NODES_COUNT, daemonSets: DAEMON_SETS_COUNT, otherPods: OTHERS_COUNT };
  if (isJson) process.stdout.write(`${JSON.stringify({ ...size, results: all })}\n`);
  else process.stdout.write(`${JSON.stringify(size)}, ${String(WINDOW_MS / 1000)} s\n${table}\n`);
  const isMissed = all.some(
    ({ peakMib, idlePercent }) => peakMib > GOAL_MIB || idlePercent > GOAL_PERCENT,
  );
  if (isMissed) process.exitCode = 1;
}

await main(process.argv.slice(2));
