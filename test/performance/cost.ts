/**
 * `npm run bench -- cost [--json]`: what a cluster costs in AWS, from counted operations and list prices.
 *
 * One local cluster under the embedded engine, the very handlers that are deployed. Each kind of change is made a few
 * times, and what it made this process ask of SQS and DynamoDB and invoke is counted when all is quiet again. The months
 * are then arithmetic (support/cost-model.ts). Counts are of this code; durations of Lambda are assumed, not measured.
 * Bounded: changes are counted, every wait has a deadline.
 */
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Transport } from '../../src/adapters/kubernetes/transport/transport.ts';
import { applyManifests } from '../../src/engine/apply-manifests.ts';
import { startEngine } from '../../src/engine/engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { startClusterThread } from '@rollcall/local-cluster/cluster/cluster-thread.ts';
import { DEFAULT_CAPACITY } from '@rollcall/local-cluster/machines/machine-annotations.ts';
import type { MachineSpec } from '@rollcall/local-cluster/machines/machine.ts';
import {
  engineClusterOf,
  LOCAL_PROBE_WAIT_MS,
  RBAC_MANIFESTS,
} from '../../src/engine/local-fleet.ts';
import { openTransport } from '../../src/engine/reach-cluster.ts';
import { createActivityLog } from '../conformance/scenarios/activity-log.ts';
import { daemonSetPath, testDaemonSet } from '../conformance/scenarios/daemon-set.ts';
import { AwsMeter } from './support/aws-meter.ts';
import { EVENT_KINDS, monthTable } from './support/cost-model.ts';
import type { EventKind, EventUse } from './support/cost-model.ts';
import { countQuietDay } from './support/quiet-day.ts';
import { say } from './support/say.ts';
import { renderRows } from './support/statistics.ts';

const NODES_COUNT = 10;
const DAEMON_SETS_COUNT = 10;
const REPEATS = 3;
const QUIET_MS = 3_000;
const DEADLINE_MS = 120_000;
const POLL_MS = 250;

const clock = createSystemClock();
const meter = new AwsMeter();

interface Stage {
  readonly transport: Transport;
  readonly engine: Engine;
}

type Totals = EventUse & { readonly emptyReceives: number };

function totals({ engine }: Stage): Totals {
  return { ...meter.read(), invocations: engine.aws.counts.started };
}

/** Waits until nothing but idle polling happened for a while. */
async function quiet(stage: Stage): Promise<void> {
  const untilMs = clock.monotonicMs() + DEADLINE_MS;
  let last = '';
  let sinceMs = clock.monotonicMs();
  for (;;) {
    const { sqsRequests, readUnits, invocations } = totals(stage);
    const now = JSON.stringify([sqsRequests, readUnits, invocations]);
    if (now !== last) {
      last = now;
      sinceMs = clock.monotonicMs();
    }
    if (clock.monotonicMs() - sinceMs >= QUIET_MS) return;
    if (clock.monotonicMs() > untilMs) throw new Error('it never became quiet');
    await clock.sleep(POLL_MS);
  }
}

async function send(
  transport: Transport,
  request: {
    readonly method: 'POST' | 'PATCH' | 'DELETE' | 'GET';
    readonly path: string;
    readonly body?: object;
  },
): Promise<unknown> {
  const { method, path, body } = request;
  const answer = await transport.send({
    method,
    path,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
  });
  if (answer.kind === 'answered' && answer.status < 300) return answer.body;
  throw new Error(`${method} ${path}: ${JSON.stringify(answer).slice(0, 300)}`);
}

/** One change of a kind; `turn` makes it another one each time. */
async function change(kind: EventKind, turn: number, { transport }: Stage): Promise<void> {
  const text = String(turn);
  switch (kind) {
    case 'heartbeat':
      // Moves no decision. An upper bound of a heartbeat: its key is hinted besides.
      await send(transport, {
        method: 'PATCH',
        path: daemonSetPath({ name: 'agent-1' }),
        body: { metadata: { managedFields: null, annotations: { 'bench.test/turn': text } } },
      });
      return;
    case 'node-change':
      await send(transport, {
        method: 'PATCH',
        path: '/api/v1/nodes/node-01',
        body: { metadata: { labels: { 'bench.test/turn': text } } },
      });
      return;
    case 'pod-restart': {
      const list = (await send(transport, {
        method: 'GET',
        path: '/api/v1/namespaces/default/pods',
      })) as {
        readonly items: readonly { readonly metadata: { readonly name: string } }[];
      };
      const name = list.items[turn]?.metadata.name ?? '';
      await send(transport, { method: 'DELETE', path: `/api/v1/namespaces/default/pods/${name}` });
      return;
    }
    case 'rollout':
      await send(transport, {
        method: 'PATCH',
        path: daemonSetPath({ name: 'agent-2' }),
        body: { spec: { template: { metadata: { labels: { turn: text } } } } },
      });
  }
}

async function measure(kind: EventKind, stage: Stage): Promise<EventUse> {
  await quiet(stage);
  const before = totals(stage);
  for (let turn = 1; turn <= REPEATS; turn += 1) {
    await change(kind, turn, stage);
    await quiet(stage);
  }
  const after = totals(stage);
  const each = (field: keyof EventUse): number => (after[field] - before[field]) / REPEATS;
  return {
    sqsRequests: each('sqsRequests'),
    readUnits: each('readUnits'),
    writeUnits: each('writeUnits'),
    invocations: each('invocations'),
  };
}

async function withStage<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result> {
  const activity = createActivityLog();
  const machines = Array.from({ length: NODES_COUNT }, (_, index): MachineSpec => ({
    name: `node-${String(index + 1).padStart(2, '0')}`,
    labels: {},
    taints: [],
    capacity: DEFAULT_CAPACITY,
    network: 'preinstalled',
    readiness: 'normal',
  }));
  const cluster = await startClusterThread({
    settings: { name: 'cost', port: 0, machines },
    log: activity.log,
    onFailure: (error) => {
      throw error;
    },
  });
  const managed = engineClusterOf(cluster, 'takeover');
  const transport = openTransport(managed, managed.probe);
  try {
    await applyManifests(transport, RBAC_MANIFESTS);
    const { log, metrics } = activity;
    const probeWaitMs = LOCAL_PROBE_WAIT_MS;
    const engine = await startEngine({ clusters: [managed], probeWaitMs, log, metrics });
    try {
      return await work({ transport, engine });
    } finally {
      await engine.stop();
    }
  } finally {
    transport.retire();
    await cluster.stop();
  }
}

meter.install();
const uses = await withStage(async (stage) => {
  for (let index = 1; index <= DAEMON_SETS_COUNT; index += 1) {
    const body = testDaemonSet({ name: `agent-${String(index)}` });
    await send(stage.transport, { method: 'POST', path: daemonSetPath({}), body });
  }
  const found = new Map<EventKind, EventUse>();
  for (const kind of EVENT_KINDS) {
    found.set(kind, await measure(kind, stage));
    say(`${kind}: ${JSON.stringify(found.get(kind))}`);
  }
  return found;
});
const quietDay = await countQuietDay();
const months = monthTable(uses, quietDay);
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify({ uses: Object.fromEntries(uses), quietDay, months })}\n`);
} else {
  const header = ['change', 'SQS requests', 'read units', 'write units', 'invocations'];
  const all: readonly (readonly [string, EventUse])[] = [
    ...uses,
    ['a quiet day: resync, each cluster', quietDay.cluster],
    ['a quiet day: resync, the stack', quietDay.stack],
  ];
  const rows = all.map(([kind, use]) => [
    kind,
    ...[use.sqsRequests, use.readUnits, use.writeUnits, use.invocations].map((n) => n.toFixed(1)),
  ]);
  const columns = Object.keys(months[0] ?? {});
  const money = months.map((month) => Object.values(month).map((value) => value.toFixed(2)));
  process.stdout.write(`${renderRows([header, ...rows])}\n\n${renderRows([columns, ...money])}\n`);
}
