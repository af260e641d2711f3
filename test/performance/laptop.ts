/**
 * `npm run bench -- laptop`: 1,000 nodes × 6 DaemonSets in one process, from nothing to all pods Ready.
 *
 * What `npm start` does, at the size of a large cluster: a local cluster in its thread, the engine beside it, DaemonSets
 * applied at once. Times are those of DaemonSet status as the API server shows it; memory is the peak of the whole
 * process, both threads, as the kernel counts it. Bounded: everything has a deadline and is stopped at the end. Exits 1
 * when a bound is missed.
 */
import { readFileSync } from 'node:fs';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Transport } from '../../src/adapters/kubernetes/transport/transport.ts';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { applyManifests } from '../../src/engine/apply-manifests.ts';
import { startEngine } from '../../src/engine/engine.ts';
import { startClusterThread } from '@rollcall/local-cluster/cluster/cluster-thread.ts';
import { DEFAULT_CAPACITY, type MachineSpec } from '@rollcall/local-cluster/machines/machine.ts';
import {
  engineClusterOf,
  LOCAL_PROBE_WAIT_MS,
  RBAC_MANIFESTS,
} from '../../src/engine/local-fleet.ts';
import { openTransport } from '../../src/engine/reach-cluster.ts';
import { daemonSetPath, testDaemonSet } from '../conformance/scenarios/daemon-set.ts';
import { createActivityLog } from '../conformance/scenarios/activity-log.ts';
import { renderRows } from './support/statistics.ts';

const NODES_COUNT = Number(process.env['BENCH_NODES'] ?? 1000);
const DAEMON_SETS_COUNT = Number(process.env['BENCH_DAEMONSETS'] ?? 6);
const BOUND_S = 60;
const BOUND_GIB = 1.5;
const DEADLINE_MS = 300_000;
const POLL_MS = 250;
const BYTES_PER_GIB = 2 ** 30;
const BYTES_PER_KIB = 1024;

const clock = createSystemClock();

interface Figures {
  readonly bootS: number;
  readonly startS: number;
  readonly createdS: number;
  readonly readyS: number;
  readonly totalS: number;
  readonly cpuS: number;
  readonly peakGib: number;
}

function plainMachines(): MachineSpec[] {
  return Array.from({ length: NODES_COUNT }, (_, index) => ({
    name: `node-${String(index + 1).padStart(4, '0')}`,
    labels: {},
    taints: [],
    capacity: DEFAULT_CAPACITY,
    network: 'preinstalled',
    readiness: 'normal',
  }));
}

async function main(): Promise<void> {
  const activity = createActivityLog();
  const startedAtMs = clock.monotonicMs();
  const secondsSince = (fromMs: number): number => (clock.monotonicMs() - fromMs) / 1000;
  say(`booting ${String(NODES_COUNT)} nodes …`);
  const cluster = await startClusterThread({
    settings: { name: 'laptop', port: 0, machines: plainMachines() },
    log: activity.log,
    onFailure: (error) => {
      say(String(error.stack));
      process.exit(1);
    },
  });
  const managed = engineClusterOf(cluster, 'takeover');
  const transport = openTransport(managed, managed.probe);
  try {
    await applyManifests(transport, RBAC_MANIFESTS);
    await waitUntil('all nodes Ready', async () => (await readyNodes(transport)) === NODES_COUNT);
    const bootS = secondsSince(startedAtMs);
    say(`${String(NODES_COUNT)} nodes Ready after ${bootS.toFixed(1)} s; starting the engine …`);
    const engine = await startEngine({
      clusters: [managed],
      probeWaitMs: LOCAL_PROBE_WAIT_MS,
      log: activity.log,
      metrics: activity.metrics,
    });
    const startS = secondsSince(startedAtMs);
    try {
      const placed = await place(transport);
      const totalS = secondsSince(startedAtMs);
      const { user, system } = process.cpuUsage();
      report({ bootS, startS, ...placed, totalS, cpuS: (user + system) / 1e6, peakGib: peakGib() });
    } finally {
      await engine.stop();
    }
  } finally {
    transport.retire();
    await cluster.stop();
  }
}

/** Applies the DaemonSets; seconds until every pod is there, and until every pod is ready. */
async function place(transport: Transport): Promise<Pick<Figures, 'createdS' | 'readyS'>> {
  const fromMs = clock.monotonicMs();
  for (let index = 0; index < DAEMON_SETS_COUNT; index += 1) {
    const daemonSet = testDaemonSet({ name: `agent-${String(index + 1)}` });
    const body = JSON.stringify(daemonSet);
    const answer = await transport.send({ method: 'POST', path: daemonSetPath({}), body });
    if (answer.kind !== 'answered' || answer.status >= 300) {
      throw new Error(`creating a DaemonSet: ${JSON.stringify(answer)}`);
    }
  }
  const podsWanted = NODES_COUNT * DAEMON_SETS_COUNT;
  let createdS = 0;
  await waitUntil('all pods ready', async () => {
    const status = await statusTotals(transport);
    const elapsedS = (clock.monotonicMs() - fromMs) / 1000;
    if (createdS === 0 && status.current === podsWanted) createdS = elapsedS;
    say(`${elapsedS.toFixed(1)} s  pods ${String(status.current)}  ready ${String(status.ready)}`);
    return status.ready === podsWanted;
  });
  return { createdS, readyS: (clock.monotonicMs() - fromMs) / 1000 };
}

async function readyNodes(transport: Transport): Promise<number> {
  const items = await itemsAt(transport, '/api/v1/nodes');
  return items.filter((node) => !JSON.stringify(node['spec'] ?? {}).includes('not-ready')).length;
}

async function statusTotals(
  transport: Transport,
): Promise<{ readonly current: number; readonly ready: number }> {
  const items = await itemsAt(transport, daemonSetPath({}));
  const total = (field: string): number =>
    items.reduce((sum, { status }) => {
      const value: Json | undefined = isJsonObject(status) ? status[field] : undefined;
      return sum + (typeof value === 'number' ? value : 0);
    }, 0);
  return { current: total('currentNumberScheduled'), ready: total('numberReady') };
}

async function itemsAt(transport: Transport, path: string): Promise<readonly JsonObject[]> {
  const answer = await transport.send({ method: 'GET', path });
  const body = answer.kind === 'answered' ? answer.body : undefined;
  const items = isJsonObject(body) ? body['items'] : undefined;
  return Array.isArray(items) ? items.filter(isJsonObject) : [];
}

async function waitUntil(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const untilMs = clock.monotonicMs() + DEADLINE_MS;
  while (!(await isReached())) {
    if (clock.monotonicMs() > untilMs) throw new Error(`not reached in time: ${what}`);
    await clock.sleep(POLL_MS);
  }
}

function peakGib(): number {
  const match = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  return (Number(match?.[1] ?? 0) * BYTES_PER_KIB) / BYTES_PER_GIB;
}

function report(figures: Figures): void {
  const { bootS, startS, createdS, readyS, totalS, cpuS, peakGib: peak } = figures;
  say(
    renderRows([
      ['what', 'figure', 'bound'],
      ['nodes Ready after', `${bootS.toFixed(1)} s`, ''],
      ['engine up after', `${startS.toFixed(1)} s`, ''],
      ['all pods created, from apply', `${createdS.toFixed(1)} s`, ''],
      ['all pods Ready, from apply', `${readyS.toFixed(1)} s`, ''],
      ['all of it', `${totalS.toFixed(1)} s`, `${String(BOUND_S)} s`],
      ['CPU', `${cpuS.toFixed(1)} s`, ''],
      ['peak memory', `${peak.toFixed(2)} GiB`, `${String(BOUND_GIB)} GiB`],
    ]),
  );
  if (totalS > BOUND_S || peak > BOUND_GIB) process.exitCode = 1;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

await main();
