/**
 * `npm run bench -- create`: a DaemonSet is created in a cluster of 1,000 nodes. How long until all its
 * pods are created, and until all are Ready; Rollcall and the built-in controller with default and with
 * lifted limits, in the same run, on the same control plane.
 *
 * Bounded: every wait has a deadline, and everything is stopped at the end.
 */
import { observerNowMs, type Observer } from '../conformance/control-plane/observer.ts';
import {
  countPods,
  createDaemonSet,
  DEADLINE_MS,
  deleteDaemonSet,
  settle,
} from './support/bench-cluster.ts';
import type { BenchCluster } from './support/bench-cluster.ts';
import { holdContest, NODES_COUNT, type Timing } from './support/contest.ts';

const NAME = 'agent';

async function run(cluster: BenchCluster): Promise<Timing> {
  const { observer } = cluster;
  const fromEvent = observer.events.length;
  const beganAtMs = observerNowMs();
  const uid = await createDaemonSet(cluster, NAME);
  await observer.waitUntil((it) => countPods(it, uid, ({ isReady }) => isReady) >= NODES_COUNT, {
    deadlineMs: DEADLINE_MS,
    description: 'all pods ready',
  });
  const { firstMs, createdMs, readyMs } = readTimes(observer, { uid, fromEvent });
  return {
    totalMs: createdMs - beganAtMs,
    parts: { 'first pod, ms': firstMs - beganAtMs, 'all Ready, ms': readyMs - beganAtMs },
  };
}

function readTimes(
  observer: Observer,
  of: { readonly uid: string; readonly fromEvent: number },
): { readonly firstMs: number; readonly createdMs: number; readonly readyMs: number } {
  const createdAtMs: number[] = [];
  let readyMs = 0;
  for (const { type, atMs, record } of observer.events.slice(of.fromEvent)) {
    if (record.kind !== 'Pod' || record.daemonSetUid !== of.uid) continue;
    if (type === 'ADDED') createdAtMs.push(atMs);
    if (record.isReady) readyMs = atMs;
  }
  return { firstMs: Math.min(...createdAtMs), createdMs: Math.max(...createdAtMs), readyMs };
}

await holdContest('create', {
  what: 'all pods created',
  podsCount: NODES_COUNT,
  prepare: settle,
  run,
  settle: async (cluster) => {
    await settle(cluster);
    await deleteDaemonSet(cluster, NAME);
  },
  clear: settle,
});
