/**
 * What coverage really was in a simulated cluster, written without the core: node-milliseconds by day, of which the scene says what nobody
 * could know.
 *
 * A node is to have a pod by the oracle's placement; it is served by a pod of the DaemonSet that is Ready and not being deleted.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeOf, type SimulatedCluster } from './simulated-cluster.ts';
import { controllerUid } from './simulated-objects.ts';
import { placementOf } from './simulation/oracle.ts';

const DAY_MS = 86_400_000;

/** Nodes of a DaemonSet at one moment. */
export interface TrueNodes {
  readonly eligible: number;
  readonly served: number;
  /** Nodes with a serving pod, whether they are to have one or not. */
  readonly serving: number;
}

/** Counts them. */
export function trueNodes(
  cluster: Pick<SimulatedCluster, 'list'>,
  set: KubernetesObject,
  isApproved: (pod: KubernetesObject) => boolean = () => true,
): TrueNodes {
  const serving = new Set(
    cluster
      .list('pods')
      .filter((pod) => controllerUid(pod) === set.metadata.uid && isServing(pod))
      .filter(isApproved)
      .map((pod) => nodeOf(pod)),
  );
  const eligible = cluster.list('nodes').filter((node) => placementOf(set, node) === 'run');
  const served = eligible.filter(({ metadata }) => serving.has(metadata.name)).length;
  return { eligible: eligible.length, served, serving: serving.size };
}

function isServing({ metadata, ...pod }: KubernetesObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isReady && metadata.deletionTimestamp === undefined;
}

/** Node-milliseconds of a day: served, not served, unknown. */
export type TrueDay = [served: number, unserved: number, unknown: number];

/** Adds them up by day. */
export class TrueCoverage {
  readonly days = new Map<number, TrueDay>();

  /** These nodes held from then on for so long. */
  add(fromMs: number, lengthMs: number, of: TrueNodes & { readonly isKnown: boolean }): void {
    const day = Math.floor(fromMs / DAY_MS);
    const untilMidnightMs = (day + 1) * DAY_MS - fromMs;
    const partMs = Math.min(lengthMs, untilMidnightMs);
    const sums = this.days.get(day) ?? [0, 0, 0];
    if (of.isKnown) {
      sums[0] += of.served * partMs;
      sums[1] += (of.eligible - of.served) * partMs;
    } else sums[2] += of.eligible * partMs;
    this.days.set(day, sums);
    if (partMs < lengthMs) this.add(fromMs + partMs, lengthMs - partMs, of);
  }
}
