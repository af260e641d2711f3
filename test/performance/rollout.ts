/**
 * `npm run bench -- rollout`: the template of a DaemonSet on 1,000 nodes is edited, maxUnavailable is
 * 10 %. How long until every node has a new pod that is Ready; Rollcall and the built-in controller
 * with default and with lifted limits, in the same run, on the same control plane.
 *
 * Also shown: the fewest ready pods that the watch ever saw (the budget allows a tenth less than all).
 * Bounded: every wait has a deadline, and everything is stopped at the end.
 */
import { observerNowMs } from '../conformance/control-plane/observer.ts';
import type { ObservedEvent, Observer } from '../conformance/control-plane/observer.ts';
import { daemonSetPath } from '../conformance/scenarios/daemon-set.ts';
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
const REVISION_LABEL = 'rollcall.test/bench-revision';
let revision = 0;
let uid: string | undefined;

/** All pods there and Ready, and nothing going on. */
async function prepare(cluster: BenchCluster): Promise<void> {
  if (uid !== undefined) return;
  const created = await createDaemonSet(cluster, NAME);
  uid = created;
  await cluster.observer.waitUntil(
    (it) => countPods(it, created, ({ isReady }) => isReady) >= NODES_COUNT,
    { deadlineMs: DEADLINE_MS, description: 'all pods ready before the rollout' },
  );
  await settle(cluster);
}

async function run(cluster: BenchCluster): Promise<Timing> {
  const { admin, observer } = cluster;
  const daemonSetUid = uid ?? '';
  revision += 1;
  const wanted = String(revision);
  const fromEvent = observer.events.length;
  const beganAtMs = observerNowMs();
  await admin.patch(daemonSetPath({ name: NAME }), {
    spec: { template: { metadata: { labels: { [REVISION_LABEL]: wanted } } } },
  });
  const isNew = (it: Observer): number =>
    countPods(it, daemonSetUid, (pod) => pod.isReady && pod.labels[REVISION_LABEL] === wanted);
  await observer.waitUntil((it) => isNew(it) >= NODES_COUNT, {
    deadlineMs: DEADLINE_MS,
    description: 'all pods new and ready',
  });
  const events = observer.events.slice(fromEvent);
  return {
    totalMs: lastReadyAtMs(events, wanted) - beganAtMs,
    parts: {
      'first deletion, ms': firstDeletionAtMs(events) - beganAtMs,
      'fewest Ready': fewestReady(events),
    },
  };
}

function lastReadyAtMs(events: readonly ObservedEvent[], wanted: string): number {
  const readyAtMs = new Map<string, number>();
  for (const { atMs, record } of events) {
    if (record.kind !== 'Pod' || !record.isReady || record.labels[REVISION_LABEL] !== wanted) {
      continue;
    }
    if (!readyAtMs.has(record.uid)) readyAtMs.set(record.uid, atMs);
  }
  return Math.max(...readyAtMs.values());
}

function firstDeletionAtMs(events: readonly ObservedEvent[]): number {
  const first = events.find(({ record }) => record.kind === 'Pod' && record.isDeleting);
  return first?.atMs ?? Number.NaN;
}

/** Of all moments, the fewest nodes whose pod was Ready and not on its way out. */
function fewestReady(events: readonly ObservedEvent[]): number {
  const isServing = new Map<string, boolean>();
  let serving = NODES_COUNT;
  let fewest = serving;
  for (const { type, record } of events) {
    if (record.kind !== 'Pod') continue;
    // A pod that is first heard of now is either new, or was serving when the rollout began.
    const was = isServing.get(record.uid) ?? type !== 'ADDED';
    const is = type !== 'DELETED' && record.isReady && !record.isDeleting;
    isServing.set(record.uid, is);
    serving += Number(is) - Number(was);
    fewest = Math.min(fewest, serving);
  }
  return fewest;
}

await holdContest('rollout', {
  what: 'all new pods Ready',
  podsCount: NODES_COUNT,
  prepare,
  run,
  settle,
  clear: async (cluster) => {
    await deleteDaemonSet(cluster, NAME);
    uid = undefined;
  },
});
