/**
 * The cgroups of a node's pods, as bookkeeping: kubepods, below it one level per QoS class, below that one per pod
 * (spec node-agent 4e). Guaranteed pods stand directly under kubepods. Names and log lines are the real ones.
 *
 * A pod keeps the cgroup that it was given first, until it is destroyed. Nothing is limited or accounted: cpu shares
 * are computed for the log alone. Nothing outlives the agent; after a restart cgroups are made again as pods are
 * synced.
 */
import type { Log } from '@rollcall/base/ports/log.ts';
import { podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import { podRequests, qosClassOf } from '../shared/pod-resources.ts';

/** The cgroups of one node. */
export interface Cgroups {
  /** The pod's cgroup, made if it is not there: the parent of its sandbox. */
  readonly ensure: (pod: PodObject) => string;
  readonly destroy: (podUid: string) => void;
  readonly podUids: () => readonly string[];
}

const SHARES_MIN = 2;
const SHARES_PER_CPU = 1024n;
const NANOS = 1_000_000_000n;

/** Starts with the QoS levels only. */
export function createCgroups(log: Log): Cgroups {
  const byPod = new Map<string, string>();
  return {
    ensure: (pod) => {
      const uid = uidOf(pod);
      const known = byPod.get(uid);
      if (known !== undefined) return known;
      const cgroup = cgroupOf(pod);
      byPod.set(uid, cgroup);
      log.debug('cgroup', { pod: podName(pod), cgroup, cpuShares: cpuShares(pod) });
      return cgroup;
    },
    destroy: (uid) => {
      byPod.delete(uid);
    },
    podUids: () => [...byPod.keys()],
  };
}

function cgroupOf(pod: PodObject): string {
  const qosClass = pod.status?.qosClass ?? qosClassOf(pod.spec);
  const level = qosClass === 'Guaranteed' ? '' : `${qosClass.toLowerCase()}/`;
  return `/kubepods/${level}pod${uidOf(pod)}`;
}

function cpuShares({ spec }: PodObject): number {
  const cpu = podRequests(spec).get('cpu') ?? 0n;
  return Math.max(SHARES_MIN, Number((cpu * SHARES_PER_CPU) / NANOS));
}
