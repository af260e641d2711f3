/**
 * `npm run bench -- memory`: what a local cluster and its engine hold after each of ten rollouts of a large template.
 *
 * What `npm start` does, with both in one thread, so that one collection tells what lives: 8 nodes, one DaemonSet of 1.4 MB,
 * its image set again and again. Bounded: everything has a deadline and is stopped at the end. Exits 1 when more than
 * the bound lives after the last rollout than after the fifth.
 */
import { setFlagsFromString, writeHeapSnapshot } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { isJsonObject, jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { DEFAULT_CAPACITY, type MachineSpec } from '@rollcall/local-cluster/machines/machine.ts';
import type { Transport } from '../../src/adapters/kubernetes/transport/transport.ts';
import { applyManifests } from '../../src/engine/apply-manifests.ts';
import { startEngine } from '../../src/engine/engine.ts';
import {
  engineClusterOf,
  LOCAL_PROBE_WAIT_MS,
  RBAC_MANIFESTS,
} from '../../src/engine/local-fleet.ts';
import { openTransport } from '../../src/engine/reach-cluster.ts';
import { createActivityLog } from '../conformance/scenarios/activity-log.ts';
import { daemonSetPath } from '../conformance/scenarios/daemon-set.ts';
import { say } from './support/say.ts';
import { renderRows } from './support/statistics.ts';

const NODES_COUNT = Number(process.env['BENCH_NODES'] ?? 8);
const ROLLOUTS_COUNT = Number(process.env['BENCH_ROLLOUTS'] ?? 10);
const TEMPLATE_BYTES = Number(process.env['BENCH_TEMPLATE_BYTES'] ?? 1_400_000);
/** A file prefix: a heap snapshot is written beside it at the end. */
const SNAPSHOT = process.env['BENCH_SNAPSHOT'];
const COMPARED = 5;
const GROWTH_MIB_MAX = 40;
const DEADLINE_MS = 300_000;
const POLL_MS = 250;
const VALUE_BYTES = 1000;
const BYTES_PER_MIB = 2 ** 20;
const NAME = 'large';

const clock = createSystemClock();
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function main(): Promise<void> {
  const { log, metrics } = createActivityLog();
  const machines = machinesOf(NODES_COUNT);
  const random = createSystemRandom();
  const cluster = await startLocalCluster({
    name: 'memory',
    port: 0,
    machines,
    clock,
    random,
    log,
  });
  const managed = engineClusterOf(cluster, 'takeover');
  const transport = openTransport(managed, managed.probe);
  try {
    await applyManifests(transport, RBAC_MANIFESTS);
    const engine = await startEngine({
      clusters: [managed],
      probeWaitMs: LOCAL_PROBE_WAIT_MS,
      log,
      metrics,
    });
    try {
      report(await rollOut(transport));
    } finally {
      await engine.stop();
    }
  } finally {
    transport.retire();
    await cluster.stop();
  }
}

function machinesOf(count: number): readonly MachineSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${String(index + 1)}`,
    labels: {},
    taints: [],
    capacity: DEFAULT_CAPACITY,
    network: 'preinstalled',
    readiness: 'normal',
  }));
}

/** What lives after the first release and after each rollout, in MiB. */
async function rollOut(transport: Transport): Promise<readonly number[]> {
  const lives: number[] = [];
  await send(transport, { method: 'POST', path: daemonSetPath({}), body: largeDaemonSet() });
  for (let release = 1; release <= ROLLOUTS_COUNT + 1; release += 1) {
    if (release > 1) await setImage(transport, release);
    await waitUntil(`release ${String(release)} available`, () => isDone(transport));
    collect();
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    const liveMib = (heapUsed + arrayBuffers) / BYTES_PER_MIB;
    say(
      `rollout ${String(release - 1)}: ${liveMib.toFixed(0)} MiB live, ${mib(rss)} MiB of memory`,
    );
    lives.push(liveMib);
  }
  if (SNAPSHOT !== undefined) say(writeHeapSnapshot(`${SNAPSHOT}.heapsnapshot`));
  return lives;
}

function largeDaemonSet(): JsonObject {
  const env = Array.from({ length: Math.floor(TEMPLATE_BYTES / VALUE_BYTES) }, (_, index) => ({
    name: `VALUE_${String(index)}`,
    value: String(index % 10).repeat(VALUE_BYTES - 40),
  }));
  const labels = { app: NAME };
  const containers = [{ name: 'agent', image: imageOf(1), env }];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: NAME, namespace: 'default' },
    spec: {
      // Ten are kept by default: each of the first ten rollouts would add one.
      revisionHistoryLimit: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

async function setImage(transport: Transport, release: number): Promise<void> {
  const containers = [{ name: 'agent', image: imageOf(release) }];
  await send(transport, {
    method: 'PATCH',
    path: daemonSetPath({ name: NAME }),
    contentType: 'application/strategic-merge-patch+json',
    body: { spec: { template: { spec: { containers } } } },
  });
}

function imageOf(release: number): string {
  return `registry.example/agent:${String(release)}`;
}

async function isDone(transport: Transport): Promise<boolean> {
  const answer = await transport.send({ method: 'GET', path: daemonSetPath({ name: NAME }) });
  const body: Json | undefined = answer.kind === 'answered' ? answer.body : undefined;
  if (!isJsonObject(body) || !isJsonObject(body['status'])) return false;
  const { observedGeneration, updatedNumberScheduled, numberAvailable } = body['status'];
  const isSeen = observedGeneration === jsonMember(body['metadata'], 'generation');
  return isSeen && updatedNumberScheduled === NODES_COUNT && numberAvailable === NODES_COUNT;
}

async function send(
  transport: Transport,
  request: {
    readonly method: 'POST' | 'PATCH';
    readonly path: string;
    readonly contentType?: string;
    readonly body: JsonObject;
  },
): Promise<void> {
  const answer = await transport.send({ ...request, body: JSON.stringify(request.body) });
  if (answer.kind === 'answered' && answer.status < 300) return;
  throw new Error(`${request.method} ${request.path}: ${JSON.stringify(answer).slice(0, 500)}`);
}

async function waitUntil(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const untilMs = clock.monotonicMs() + DEADLINE_MS;
  while (!(await isReached())) {
    if (clock.monotonicMs() > untilMs) throw new Error(`not reached in time: ${what}`);
    await clock.sleep(POLL_MS);
  }
}

function report(lives: readonly number[]): void {
  const [atStart = 0] = lives;
  const compared = lives[Math.min(COMPARED, lives.length - 1)] ?? 0;
  const last = lives.at(-1) ?? 0;
  say(
    renderRows([
      ['live after', 'MiB', 'bound'],
      ['the first release', atStart.toFixed(0), ''],
      [`rollout ${String(COMPARED)}`, compared.toFixed(0), ''],
      [
        `rollout ${String(ROLLOUTS_COUNT)}`,
        last.toFixed(0),
        (compared + GROWTH_MIB_MAX).toFixed(0),
      ],
    ]),
  );
  if (last > compared + GROWTH_MIB_MAX) process.exitCode = 1;
}

function mib(bytes: number): string {
  return (bytes / BYTES_PER_MIB).toFixed(0);
}

await main();
